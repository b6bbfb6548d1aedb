"""Agents of the SDK as it records them: agents, runs and the stream of events."""

from collections.abc import Iterator

from .agentstate import AgentState
from .javascript import Json, iso
from .layout import sha256
from .seeded import derived_uuid
from .talk import Conversation, Entry
from .tools import SPELLINGS, arguments, event_value

_USAGE = {
    "inputTokens": 7200,
    "outputTokens": 660,
    "cacheReadTokens": 5760,
    "cacheWriteTokens": 500,
    "totalTokens": 14120,
}


def run_id(entries: list[Entry]) -> str:
    """The id of the run that answers a turn's prompt."""
    return f"run-{derived_uuid('run', entries[0].id)}"


def checkpoint(state: AgentState, turn: int, store_kind: str) -> Json:
    """The reference to the root after the turn with this index."""
    return {"blobId": sha256(state.roots[turn]), "storeKind": store_kind}


def run_values(talk: Conversation, entries: list[Entry], turn: int, *, finished: bool) -> Json:
    """A row of ``runs`` by column name, without its checkpoints; times are text, as in the database."""
    began, ended = iso(entries[0].at_ms), iso(entries[-1].at_ms)
    return {
        "run_id": run_id(entries),
        "request_id": derived_uuid("request", entries[0].id),
        "agent_id": talk.id,
        "turn_number": turn + 1,
        "status": "FINISHED" if finished else "RUNNING",
        "model": talk.model,
        "result": entries[-1].text if finished else None,
        "created_at": began,
        "updated_at": ended,
        "started_at": began,
        "finished_at": ended if finished else None,
    }


def usage() -> Json:
    """What a run cost; the numbers are the same for all, since nothing depends on them."""
    return dict(_USAGE)


def events(talk: Conversation, entries: list[Entry], *, finished: bool) -> Iterator[tuple[int, Json]]:
    """Time and payload of each event of a run: thoughts and answers come in pieces, tool calls twice."""
    run = {"agent_id": talk.id, "run_id": run_id(entries)}
    yield _event(
        talk, run, entries[0], {"type": "request", "request_id": derived_uuid("request", entries[0].id)}
    )
    yield _event(talk, run, entries[0], {"type": "status", "status": "RUNNING"})
    for entry in entries[1:]:
        for message in _messages(talk, entry):
            yield _event(talk, run, entry, message)
    if finished:
        yield _event(talk, run, entries[-1], {"type": "usage", "usage": usage()})
        yield _event(talk, run, entries[-1], {"type": "status", "status": "FINISHED"})


def _event(talk: Conversation, run: Json, entry: Entry, message: Json) -> tuple[int, Json]:
    payload = {"schemaVersion": 1, "type": "sdk_message", "agentId": talk.id, "runId": run["run_id"]}
    return entry.at_ms, {**payload, "message": {"type": message["type"], **run, **message}}


def _messages(talk: Conversation, entry: Entry) -> Iterator[Json]:
    if entry.tool:
        name = SPELLINGS[entry.tool.kind].event
        call: Json = {"type": "tool_call", "call_id": entry.tool.call_id, "name": name}
        call["args"] = arguments(talk, entry.tool)
        yield {**call, "status": "running"}
        yield {
            **call,
            "status": "completed",
            "result": {"status": "success", "value": event_value(talk, entry.tool)},
        }
    elif entry.kind == "thought":
        yield from ({"type": "thinking", "text": piece} for piece in _pieces(entry.text))
        yield {"type": "thinking", "text": "", "thinking_duration_ms": 1500}
    else:
        for piece in _pieces(entry.text):
            yield {
                "type": "assistant",
                "message": {"role": "assistant", "content": [{"type": "text", "text": piece}]},
            }


def _pieces(text: str) -> list[str]:
    return [text[at : at + 40] for at in range(0, len(text), 40)]
