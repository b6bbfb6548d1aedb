"""Makes formats/agentstate/table.py out of the facts about Cursor's message definitions.

    python -m tests.support.agent_tables agent-blobs-full.json > formats/agentstate/table.py

The facts are one JSON object: ``messages`` with the fields by number (``name``, ``type``, ``oneof``) and ``enums`` with
the names by number. Messages that nothing on disk leads to are left out; those without fields are added.
"""

import json
import re
import sys
from pathlib import Path

ROOTS = (
    "ConversationStateStructure",
    "ConversationTurnStructure",
    "UserMessage",
    "ConversationStep",
    "ToolCall",
    "ShellCommand",
    "ShellOutput",
    "TodoItem",
    "ConversationSummary",
    "ConversationSummaryArchive",
    "ConversationPlan",
    "SubagentPersistedState",
    "FileState",
)

# google/protobuf/struct.proto, which the facts name without giving it.
WELL_KNOWN = {
    "google.protobuf.Struct": "1 fields map google.protobuf.Value",
    "google.protobuf.ListValue": "1 values repeated google.protobuf.Value",
    "google.protobuf.Value": "1 null_value enum google.protobuf.NullValue in kind, 2 number_value double in kind, "
    "3 string_value string in kind, 4 bool_value bool in kind, 5 struct_value google.protobuf.Struct in kind, "
    "6 list_value google.protobuf.ListValue in kind",
}
WELL_KNOWN_ENUMS = {"google.protobuf.NullValue": "0 NULL_VALUE"}

HEADER = '''"""The messages of ``agent.v1`` that agent blobs lead to, as one line each (specs/agent-state.md).

A field is ``<number> <name> [repeated|map] [enum] <type> [in <oneof>]``; the keys of maps are strings; names without
a package are of ``agent.v1``. Made by tests/support/agent_tables.py.
"""
'''

_NAME = re.compile(r"\w+(?:\.\w+)+")


def _short(name: str) -> str:
    return name.removeprefix("agent.v1.")


def _field(number: str, field: dict) -> str:
    kind = re.sub(r"map<string,(.*)>", r"map \1", field["type"])
    kind = _NAME.sub(lambda match: _short(match[0]), kind)
    return f"{number} {field['name']} {kind}" + (f" in {field['oneof']}" if "oneof" in field else "")


def _by_number(entries: dict) -> list[tuple[str, object]]:
    return sorted(entries.items(), key=lambda entry: int(entry[0]))


def _lines(facts: dict) -> tuple[dict[str, str], dict[str, str]]:
    messages, enums = dict(WELL_KNOWN), dict(WELL_KNOWN_ENUMS)
    waiting = [f"agent.v1.{root}" for root in ROOTS]
    while waiting:
        name = waiting.pop()
        if _short(name) in messages or _short(name) in enums:
            continue
        if name in facts["enums"]:
            enums[_short(name)] = ", ".join(
                f"{number} {value}" for number, value in _by_number(facts["enums"][name])
            )
            continue
        fields = facts["messages"].get(name, {"fields": {}})["fields"]
        messages[_short(name)] = ", ".join(_field(number, field) for number, field in _by_number(fields))
        waiting += [found for field in fields.values() for found in _NAME.findall(field["type"])]
    return messages, enums


def _literal(name: str, entries: dict[str, str]) -> str:
    lines = "".join(f'    "{key}": "{value}",\n' for key, value in sorted(entries.items()))
    return f"\n{name} = {{\n{lines}}}\n"


def module(facts: dict) -> str:
    """The text of the module."""
    messages, enums = _lines(facts)
    return HEADER + _literal("MESSAGES", messages) + _literal("ENUMS", enums)


if __name__ == "__main__":
    sys.stdout.write(module(json.loads(Path(sys.argv[1]).read_text())))
