"""How each store spells the five tools, and how it writes a call's arguments and result."""

from typing import Final, NamedTuple

from .javascript import Json, js
from .layout import sha256
from .talk import Conversation, ToolKind, ToolUse
from .wire import chunk, integer, string


class Spelling(NamedTuple):
    """One tool's names.

    Attributes:
        number: ``toolFormerData.tool`` of a bubble.
        bubble: ``toolFormerData.name`` of a bubble.
        event: ``name`` in the SDK's run events.
        model: The name the model knows, in messages and transcripts.
        field: The field of ``agent.v1.ToolCall``.
    """

    number: int
    bubble: str
    event: str
    model: str
    field: int


SPELLINGS: Final[dict[ToolKind, Spelling]] = {
    "read": Spelling(40, "read_file_v2", "read", "Read", 8),
    "edit": Spelling(38, "edit_file_v2", "edit", "StrReplace", 12),
    "shell": Spelling(15, "run_terminal_command_v2", "shell", "Shell", 1),
    "grep": Spelling(41, "ripgrep_raw_search", "grep", "Grep", 5),
    "ls": Spelling(39, "list_dir_v2", "ls", "LS", 13),
}


def arguments(talk: Conversation, tool: ToolUse) -> Json:
    """The arguments in the model's form."""
    if tool.kind == "shell":
        return {"command": tool.argument, "working_directory": talk.cwd}
    path = talk.absolute(tool.path)
    if tool.kind == "grep":
        return {"pattern": tool.argument, "path": path}
    return {"path": path}


def event_value(talk: Conversation, tool: ToolUse) -> Json:
    """The ``value`` of a successful result in the SDK's run events."""
    lines = tool.output.count("\n")
    values: dict[ToolKind, Json] = {
        "read": {"content": tool.output, "totalLines": lines, "fileSize": len(tool.output)},
        "edit": {"linesAdded": 1, "linesRemoved": 1, "diffString": tool.output},
        "shell": {
            "exitCode": 0,
            "signal": "",
            "stdout": tool.output,
            "stderr": "",
            "executionTime": 40 * lines,
        },
        "grep": {
            "workspaceResults": {
                talk.cwd: {"type": "content", "output": {"matches": tool.output.splitlines()}}
            }
        },
        "ls": {
            "directoryTreeRoot": {
                "absPath": talk.absolute(tool.path),
                "childrenFiles": tool.output.split("\n"),
            }
        },
    }
    return values[tool.kind]


def former_data(talk: Conversation, tool: ToolUse) -> Json:
    """``toolFormerData`` of a bubble; arguments and result are JSON inside JSON."""
    spelling = SPELLINGS[tool.kind]
    result = event_value(talk, tool)
    if tool.kind == "edit":
        # The file's text lies in rows of its own, named by its hash.
        result["beforeContentId"], result["afterContentId"] = (
            content_key(tool.before),
            content_key(tool.after),
        )
    return {
        "tool": spelling.number,
        "toolIndex": 0,
        "toolCallId": tool.call_id,
        "name": spelling.bubble,
        "status": "completed",
        "rawArgs": js(arguments(talk, tool)),
        "params": js(arguments(talk, tool)),
        "result": js(result),
        "userDecision": "accepted",
        "additionalData": {},
    }


def content_key(text: str) -> str:
    """The key under which the editor keeps a file's text before or after an edit."""
    return f"composer.content.{sha256(text.encode())}"


def call_message(talk: Conversation, tool: ToolUse, at_ms: int) -> bytes:
    """The call as an ``agent.v1.ToolCall`` message."""
    body = chunk(1, _proto_arguments(talk, tool)) + chunk(2, chunk(1, _proto_success(talk, tool)))
    times = integer(59, at_ms) + integer(60, at_ms + 400)
    return chunk(SPELLINGS[tool.kind].field, body) + string(57, tool.call_id) + times


def _proto_arguments(talk: Conversation, tool: ToolUse) -> bytes:
    if tool.kind == "shell":
        return string(1, tool.argument) + string(2, talk.cwd)
    path = talk.absolute(tool.path)
    if tool.kind == "grep":
        return string(1, tool.argument) + string(2, path)
    return string(1, path)


def _proto_success(talk: Conversation, tool: ToolUse) -> bytes:
    path = talk.absolute(tool.path)
    if tool.kind == "read":
        return (
            string(1, tool.output)
            + integer(4, tool.output.count("\n"))
            + integer(5, len(tool.output))
            + string(7, path)
        )
    if tool.kind == "edit":
        return (
            string(1, path) + integer(3, 1) + integer(4, 1) + string(5, tool.output)
            + string(6, tool.before) + string(7, tool.after)
        )  # fmt: skip
    if tool.kind == "shell":
        return string(1, tool.argument) + string(2, talk.cwd) + integer(3, 0) + string(5, tool.output)
    if tool.kind == "grep":
        files = b"".join(string(1, line.split(":")[0]) for line in tool.output.splitlines())
        found = string(1, talk.cwd) + chunk(2, chunk(2, files))
        return string(1, tool.argument) + string(2, path) + string(3, "files_with_matches") + chunk(4, found)
    names = b"".join(chunk(3, string(1, name)) for name in tool.output.split("\n"))
    return chunk(1, string(1, path) + names + integer(4, 1))
