"""Agent blobs as messages, against bytes written field by field and against the SDK's own reader."""

import base64
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from formats.agentstate import table
from formats.agentstate.decode import MAX_BYTES, MAX_DEPTH, decode
from formats.agentstate.message import Message, unexplained
from formats.agentstate.schema import shape
from formats.agentstate.state import looks_like_state
from formats.agentstate.table import ENUMS, MESSAGES
from formats.errors import FormatError
from formats.protobuf import MAX_FIELDS, Field, Wire, encode
from tests.support import agent_tables

FACTS = Path(__file__).parents[3] / "shared" / "facts" / "agent-blobs-full.json"
ID = bytes(range(200, 232))


def _int(number: int, value: int) -> Field:
    return Field(number, Wire.VARINT, value % 2**64)


def _data(number: int, value: bytes | str | list[Field]) -> Field:
    if isinstance(value, list):
        value = encode(value)
    return Field(number, Wire.LEN, value.encode() if isinstance(value, str) else value)


def _decode(name: str, *fields: Field) -> Message:
    return decode(name, encode(fields))


def test_every_kind_of_field_is_read():
    """Text, references, enums, maps, nested messages and signed numbers come out under their names."""
    state = _decode(
        "ConversationStateStructure",
        _data(1, ID),
        _data(1, ID[::-1]),
        _data(5, [_int(1, 7)]),
        _data(9, "file:///src"),
        _int(10, 3),
        _data(15, [_data(1, "a.py"), _data(2, [_data(1, ID)])]),
        _int(26, 2**63),
        _int(33, 1),
    )
    assert state.many("root_prompt_messages_json", bytes) == (ID, ID[::-1])
    assert state.one("token_details", Message).one("used_tokens", int) == 7
    assert state.many("previous_workspace_uris", str) == ("file:///src",)
    assert state.one("mode", str) == "AGENT_MODE_PLAN"
    assert state.entries("file_states_v2", Message)["a.py"].fields == {"content": ID}
    assert state.one("conversation_started_timestamp_ms", int) == 2**63
    assert state.one("is_root_project_conversation", bool) is True
    assert _decode("ShellOutput", _int(3, -1)).fields == {"exit_code": -1}
    assert list(unexplained(state)) == []


def test_repeated_numbers_are_read_packed_and_single():
    """Both ways to store repeated numbers give one tuple, in order."""
    turn = _decode("AgentConversationTurnStructure", _data(6, b"\x03\x8e\x02"), _int(6, 5), _data(6, b"\x07"))
    assert turn.many("send_message_step_indices", int) == (3, 270, 5, 7)


def test_the_kind_of_a_step_is_the_field_that_is_there():
    """Of a oneof the field that is present is told by name, beside fields that are in none."""
    step = _decode("ToolCall", _data(57, "toolu_1"), _data(1, [_data(3, "List files")]))
    name, call = step.chosen("tool")
    assert (name, call.one("description", str)) == ("shell_tool_call", "List files")
    assert _decode("ToolCall", _data(57, "toolu_1")).chosen("tool") is None


def test_what_no_field_explains_is_kept():
    """Unknown numbers, other wire types and broken nested messages are residue, and the rest is read."""
    strange = [_int(2, 5), _data(999, "new"), _data(10, "mode"), _data(5, b"\xff"), _data(12, [_int(3, 1)])]
    state = _decode("ConversationStateStructure", *strange, _data(19, "main"))
    assert (state.fields, state.residue) == ({"active_branch_name": "main"}, tuple(strange))


def test_residue_inside_is_found_with_its_place():
    """Residue of nested messages is told with the path that leads to it."""
    inner = _int(77, 1)
    message = _decode("UserMessage", _data(3, [_data(1, [inner]), _data(1, [_data(2, "id")])]))
    path = "UserMessage.selected_context/SelectedContext.selected_images/SelectedImage"
    assert list(unexplained(message)) == [(path, inner)]


def test_the_last_value_counts_and_the_others_are_kept():
    """A repeated single field, a second choice of a oneof and an equal key of a map replace what came before."""
    first, second = _data(1, "old"), _data(1, "new")
    assert _decode("ShellCommand", first, second) == Message("ShellCommand", {"command": "new"}, (first,))
    said, called = _data(1, [_data(1, "text")]), _data(3, [_data(1, "thought")])
    step = _decode("ConversationStep", said, called)
    assert (list(step.fields), step.residue) == (["thinking_message"], (said,))
    old, new = _data(24, [_data(1, "a"), _data(2, "1")]), _data(24, [_data(1, "a")])
    state = _decode("ConversationStateStructure", old, new)
    assert (state.fields, state.residue) == ({"subagent_threads": {"a": ""}}, (old,))


def test_text_that_is_damaged_is_shown_and_kept():
    """A broken byte becomes the replacement character, and the bytes are residue; half a character is just text."""
    broken, half = _data(1, b"caf\xe9!"), _data(1, b"\xed\xa0\xbd")
    assert _decode("ShellCommand", broken) == Message("ShellCommand", {"command": "caf\ufffd!"}, (broken,))
    assert _decode("ShellCommand", half) == Message("ShellCommand", {"command": "\ud83d"})
    assert _decode("ShellCommand", _data(1, "\ufffd")).residue == ()


def test_an_enum_without_a_name_is_a_number():
    """A value that the table cannot name yet stays the number it is, and is no residue."""
    message = _decode("TodoItem", _int(3, 99))
    assert (message.fields, message.residue, message.one("status", str)) == ({"status": 99}, (), None)


def test_misspelt_names_are_no_absent_values():
    """Asking for a field or message that the table does not have is a mistake of the caller."""
    message = _decode("TodoItem", _data(1, "1"))
    with pytest.raises(KeyError):
        message.one("contents", str)
    with pytest.raises(KeyError):
        message.chosen("tool")
    with pytest.raises(KeyError):
        decode("TodoItems", b"")


def test_depth_is_bounded():
    """Messages inside each other are read down to the limit; what lies deeper is residue, and nothing is lost."""
    message: Message | None = decode("ConversationStep", encode([_data(2, _nested(MAX_DEPTH))]))
    depth = 0
    while message is not None and message.fields:
        (message,) = message.fields.values()
        depth += 1
    assert depth == MAX_DEPTH
    assert message is not None
    assert [len(field.value) > 0 for field in message.residue] == [True]


def _nested(levels: int) -> bytes:
    """Tool calls that preview truncated tool calls."""
    data = b""
    for _ in range(levels):
        data = encode([_data(34, [_data(5, data)])])
    return data


def test_size_is_bounded():
    """Too many bytes or fields at the outside are an error; inside, they are residue."""
    with pytest.raises(FormatError, match="length"):
        decode("ToolCall", bytes(MAX_BYTES + 1))
    with pytest.raises(FormatError, match="fields"):
        decode("ShellCommand", b"\x08\x01" * (MAX_FIELDS + 1))
    packed = _data(6, bytes(MAX_FIELDS))
    assert _decode("AgentConversationTurnStructure", packed).residue == (packed,)


def test_states_are_told_from_other_messages():
    """A state refers to turns or prompts by ids; messages whose texts are as long as an id are no states."""
    state = encode([_data(1, ID), _data(8, ID), _int(10, 1)])
    assert looks_like_state(state)
    assert looks_like_state(state + encode([_data(60, "of a later version")]))
    others = [
        [],
        [_int(10, 1)],
        [_data(1, "a" * 32)],
        [_data(1, [_data(1, "a" * 16), _int(2, 10**12), _int(3, 10**12)])],
        [_data(1, ID), _data(2, "id")],
        [_data(1, "a" * 32), _data(3, "b" * 32)],
        [_data(1, ID), _data(8, b"short"), _int(10, 1)],
        [_data(1, ID), _data(8, ID), _data(10, "mode")],
    ]
    assert [looks_like_state(encode(fields)) for fields in others] == [False] * len(others)
    assert not looks_like_state(b'{"role":"user","content":"hi"}')


def test_the_table_can_be_read_and_is_whole():
    """Every field of the table is understood, and every message and enum that one names is in the table."""
    scalars = {"string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "sint32", "double", "float"}
    for name, text in MESSAGES.items():
        assert len(shape(name).by_number) == len(shape(name).by_name) == len(text.split(", ")) * bool(text)
        assert {
            field.kind for field in shape(name).by_name.values()
        } <= scalars | MESSAGES.keys() | ENUMS.keys()


def test_the_table_is_that_of_the_facts():
    """The table is what its script makes of the facts about the SDK."""
    if not FACTS.exists():
        pytest.skip("the facts about the SDK's messages are not part of the tree")
    made = agent_tables.module(json.loads(FACTS.read_text()))
    assert made == Path(table.__file__).read_text()


def test_real_states_have_no_residue(sdk_sample):
    """Each current state of a real store looks like one, and it and all turns below it are explained to the last field."""
    count = 0
    for blobs, roots in _stores(sdk_sample):
        for root in roots.values():
            assert looks_like_state(blobs[root])
            assert [found for message in _tree(blobs, root) for found in unexplained(message)] == []
            count += 1
    assert count > 0


def test_real_states_are_told_from_all_other_blobs(sdk_sample):
    """What looks like a state in a real store is referred to by no other blob, and is no JSON, turn, step or file."""
    for blobs, roots in _stores(sdk_sample):
        states = {blob_id for blob_id, data in blobs.items() if looks_like_state(data)}
        everything = b"".join(blobs.values())
        assert states >= set(roots.values())
        assert [state for state in states if bytes.fromhex(state) in everything] == []
        assert all(decode("ConversationStateStructure", blobs[state]).one("mode", str) for state in states)


def test_real_states_say_what_the_sdk_reads(sdk_sample):
    """States, user messages and steps, put as JSON, are those that the SDK's own reader prints."""
    oracle = sdk_sample / "oracle.json"
    if not oracle.exists():
        pytest.skip("the SDK's reader was not asked about this sample")
    expected = {agent["record"]["agentId"]: agent for agent in json.loads(oracle.read_text())["agents"]}
    compared = 0
    for blobs, roots in _stores(sdk_sample):
        for agent in roots.keys() & expected.keys():
            state = decode("ConversationStateStructure", blobs[roots[agent]])
            assert _as_json(state) == expected[agent]["rootState"]
            assert [_turn(blobs, turn) for turn in state.many("turns", bytes)] == [
                _messages(turn) for turn in expected[agent]["conversation"]["turns"]
            ]
            compared += 1
    assert compared > 0


def _stores(sample: Path) -> Iterator[tuple[dict[str, bytes], dict[str, str]]]:
    """The blobs of each workspace by hex id, and the current state of each agent."""
    for index in (sample / "home").rglob("index.db"):
        rows = (
            "SELECT agent_id, latest_checkpoint_ref_json FROM agents WHERE latest_checkpoint_ref_json NOTNULL"
        )
        blobs: dict[str, bytes] = {}
        for store in index.parent.rglob("store.db"):
            blobs.update(_rows(store, "SELECT id, data FROM blobs"))
        yield blobs, {agent: json.loads(reference)["blobId"] for agent, reference in _rows(index, rows)}
    for checkpoints in (sample / "home").rglob("checkpoints.ndjson"):
        lines = [json.loads(line) for line in checkpoints.read_text().splitlines()]
        agents = map(json.loads, (checkpoints.parent / "agents.ndjson").read_text().splitlines())
        latest = {agent["agentId"]: agent.get("latestCheckpoint") for agent in agents}
        roots = {agent: reference["rootBlobId"] for agent, reference in latest.items() if reference}
        yield {line["blobId"]: base64.b64decode(line["dataBase64"]) for line in lines}, roots


def _rows(database: Path, query: str) -> list[tuple]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _tree(blobs: dict[str, bytes], root: str) -> Iterator[Message]:
    """A state with its turns, their messages, its todos, summaries and plan."""
    state = decode("ConversationStateStructure", blobs[root])
    yield state
    leaves = {"todos": "TodoItem", "summary_archives": "ConversationSummaryArchive"}
    singles = {"summary": "ConversationSummary", "plan": "ConversationPlan"}
    yield from (
        decode(kind, blobs[one.hex()]) for name, kind in leaves.items() for one in state.many(name, bytes)
    )
    yield from (
        decode(kind, blobs[state.one(name, bytes).hex()])
        for name, kind in singles.items()
        if state.one(name, bytes)
    )
    for turn in state.many("turns", bytes):
        message = decode("ConversationTurnStructure", blobs[turn.hex()])
        yield message
        yield from (found for _, found in _leaves(blobs, message))


LEAVES = {
    "user_message": "UserMessage",
    "steps": "ConversationStep",
    "shell_command": "ShellCommand",
    "shell_output": "ShellOutput",
}


def _leaves(blobs: dict[str, bytes], turn: Message) -> Iterator[tuple[str, Message]]:
    _, inside = turn.chosen("turn")
    for name, kind in LEAVES.items():
        value = inside.fields.get(name, ())
        for one in value if isinstance(value, tuple) else (value,):
            yield name, decode(kind, blobs[one.hex()])


def _turn(blobs: dict[str, bytes], turn: bytes) -> list[tuple[str, object]]:
    message = decode("ConversationTurnStructure", blobs[turn.hex()])
    return [(_camel(name), _as_json(found)) for name, found in _leaves(blobs, message)]


def _messages(turn: dict) -> list[tuple[str, object]]:
    """The messages of a turn as the oracle has it, in the order of ``LEAVES``."""
    (inside,) = turn.values()
    names = [_camel(name) for name in LEAVES]
    several = {name: value if isinstance(value, list) else [value] for name, value in inside.items()}
    return [(name, one) for name in names for one in several.get(name, ())]


def _camel(name: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), name)


def _as_json(message: Message) -> object:
    """The JSON form of a message that Protocol Buffers define."""
    if message.name == "google.protobuf.Struct":
        return {key: _as_json(value) for key, value in message.entries("fields", Message).items()}
    if message.name == "google.protobuf.ListValue":
        return [_as_json(value) for value in message.many("values", Message)]
    if message.name == "google.protobuf.Value":
        name, value = message.chosen("kind")
        return None if name == "null_value" else _as_json(value) if isinstance(value, Message) else value
    kinds = shape(message.name).by_name
    return {_camel(name): _value(kinds[name].kind, value) for name, value in message.fields.items()}


def _value(kind: str, value: object) -> object:
    if isinstance(value, tuple):
        return [_value(kind, one) for one in value]
    if isinstance(value, dict):
        return {key: _value(kind, one) for key, one in value.items()}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Message):
        return _as_json(value)
    return str(value) if kind in {"int64", "uint64"} else value
