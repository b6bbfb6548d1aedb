"""A conversation as the agent's content-addressed blobs: messages in JSON, turns and roots in protobuf.

The command line's stores, the SDK's and newer chats of the editor all keep these. Each prompt gives one root that
names everything before it, and old roots stay, so a store is a history of the chat.
"""

import msgspec

from .javascript import Json, js
from .layout import folder_uri, sha256
from .seeded import derived_uuid
from .talk import Conversation, Entry
from .tools import SPELLINGS, arguments, call_message
from .wire import chunk, integer, string

_SYSTEM = "You are an AI coding assistant. You operate in Cursor. (Invented for the sample.)"


class AgentState(msgspec.Struct, frozen=True):
    """Blobs by the hex SHA-256 of their bytes, and the roots among them, oldest first."""

    blobs: dict[str, bytes]
    roots: tuple[bytes, ...]

    @property
    def root_id(self) -> str:
        """The newest root's id."""
        return sha256(self.roots[-1])


def agent_state(talk: Conversation, before: bytes = b"") -> AgentState:
    """All blobs of ``talk``; ``before`` is a root of this module that it continues."""
    blobs: dict[str, bytes] = {}
    roots = []
    prompts, turns, tail = _parts(before)
    if not before:
        prompts = b"".join(_reference(1, blobs, _json(message)) for message in _context(talk))
        tail = _tail(talk)
    for entries in talk.turns():
        prompts += b"".join(_reference(1, blobs, _json(message)) for message in messages(talk, entries))
        turns += _reference(8, blobs, _turn(talk, entries, blobs))
        roots.append(prompts + turns + tail)
        blobs[sha256(roots[-1])] = roots[-1]
    return AgentState(blobs, tuple(roots))


def messages(talk: Conversation, entries: list[Entry]) -> list[Json]:
    """One turn as the messages that the model sees."""
    out: list[Json] = []
    content: list[Json] = []
    for entry in entries:
        if entry.kind == "prompt":
            out.append({"role": "user", "content": f"<user_query>\n{entry.text}\n</user_query>"})
            continue
        content.append(_part(talk, entry))
        if entry.tool:
            out += [_assistant(content), _tool_result(entry)]
            content = []
    return [*out, _assistant(content)] if content else out


def _part(talk: Conversation, entry: Entry) -> Json:
    if entry.tool:
        call = {"toolCallId": entry.tool.call_id, "toolName": SPELLINGS[entry.tool.kind].model}
        return {"type": "tool-call", **call, "args": arguments(talk, entry.tool)}
    if entry.kind == "thought":
        return {
            "type": "reasoning",
            "text": entry.text,
            "providerOptions": {"cursor": {"modelName": talk.model}},
            "signature": "c2FtcGxl",
        }
    return {"type": "text", "text": entry.text}


def _assistant(content: list[Json]) -> Json:
    # Cursor writes the same id into every assistant message.
    return {"id": "1", "role": "assistant", "content": content}


def _tool_result(entry: Entry) -> Json:
    assert entry.tool
    names = {"toolName": SPELLINGS[entry.tool.kind].model, "toolCallId": entry.tool.call_id}
    result = {"type": "tool-result", **names, "result": entry.tool.output, "isError": False}
    return {"role": "tool", "id": entry.tool.call_id, "content": [result]}


def _context(talk: Conversation) -> list[Json]:
    about = f"<user_info>\nShell: bash\n\nWorkspace Path: {talk.cwd}\n</user_info>"
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": about}]


def _turn(talk: Conversation, entries: list[Entry], blobs: dict[str, bytes]) -> bytes:
    prompt, *steps = entries
    body = _reference(1, blobs, string(1, prompt.text) + string(2, prompt.id) + integer(4, 1))
    body += b"".join(_reference(2, blobs, _step(talk, entry)) for entry in steps)
    return chunk(1, body + string(3, derived_uuid("request", prompt.id)))


def _step(talk: Conversation, entry: Entry) -> bytes:
    if entry.tool:
        return chunk(2, call_message(talk, entry.tool, entry.at_ms))
    if entry.kind == "thought":
        return chunk(3, string(1, entry.text) + integer(2, 1500) + integer(3, entry.at_ms))
    return chunk(1, string(1, entry.text) + integer(2, entry.at_ms))


def _tail(talk: Conversation) -> bytes:
    started = integer(26, talk.created_ms) + string(27, "Europe/Berlin")
    return string(9, folder_uri(talk.cwd)) + integer(10, 1) + started


def _reference(field: int, blobs: dict[str, bytes], data: bytes) -> bytes:
    blob_id = sha256(data)
    blobs[blob_id] = data
    return chunk(field, bytes.fromhex(blob_id))


def _json(message: Json) -> bytes:
    return js(message).encode()


def _parts(root: bytes) -> tuple[bytes, bytes, bytes]:
    """The references of field 1, those of field 8, and the rest, which is the order they are written in."""
    prompts = _run_length(root, chunk(1, bytes(32))[:2], 0)
    turns = _run_length(root, chunk(8, bytes(32))[:2], prompts)
    return root[:prompts], root[prompts:turns], root[turns:]


def _run_length(root: bytes, tag: bytes, at: int) -> int:
    while root.startswith(tag, at):
        at += len(tag) + 32
    return at
