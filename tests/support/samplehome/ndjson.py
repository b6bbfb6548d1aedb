"""The SDK's other store: a folder of files with one JSON object a line."""

import base64
from collections.abc import Iterable, Sequence
from pathlib import Path

from archiver.model import Store

from .agentstate import AgentState, agent_state
from .javascript import Json, iso, js
from .layout import sha256
from .model import SampleChat
from .sdkevents import events, run_id, usage
from .seeded import derived_uuid
from .talk import Conversation


def write_ndjson(folder: Path, talks: Sequence[Conversation]) -> list[SampleChat]:
    """All agents of one such store."""
    folder.mkdir(parents=True)
    states = [agent_state(talk) for talk in talks]
    pairs = list(zip(talks, states, strict=True))
    _write(folder / "agents.ndjson", (_agent(talk, state) for talk, state in pairs))
    _write(folder / "runs.ndjson", (run for talk, state in pairs for run in _runs(talk, state)))
    _write(folder / "run_events.ndjson", (event for talk in talks for event in _events(talk)))
    _write(folder / "checkpoints.ndjson", (blob for talk, state in pairs for blob in _blobs(talk, state)))
    return [SampleChat(talk.id, talk.title, Store.SDK_NDJSON, len(talk.entries), folder) for talk in talks]


def _write(path: Path, records: Iterable[Json]) -> None:
    path.write_text("".join(f"{js(record)}\n" for record in records), encoding="utf-8")


def _agent(talk: Conversation, state: AgentState) -> Json:
    return {
        "agentId": talk.id,
        "cwd": talk.cwd,
        "status": "idle",
        "activeRunId": None,
        "name": talk.title,
        "createdAt": talk.created_ms,
        "updatedAt": talk.updated_ms,
        "sdkMetadata": {},
        "latestCheckpoint": _root(state, -1),
    }


def _runs(talk: Conversation, state: AgentState) -> Iterable[Json]:
    for turn, entries in enumerate(talk.turns()):
        yield {
            "runId": run_id(entries),
            "requestId": derived_uuid("request", entries[0].id),
            "agentId": talk.id,
            "turnNumber": turn + 1,
            "status": "finished",
            "model": {"id": talk.model},
            "result": entries[-1].text,
            "error": None,
            "usage": usage(),
            "createdAt": entries[0].at_ms,
            "updatedAt": entries[-1].at_ms,
            "startedAt": entries[0].at_ms,
            "endedAt": entries[-1].at_ms,
            "startCheckpointRef": _root(state, turn - 1) if turn else None,
            "latestCheckpointRef": _root(state, turn),
        }


def _events(talk: Conversation) -> Iterable[Json]:
    for entries in talk.turns():
        for seq, (at_ms, payload) in enumerate(events(talk, entries, finished=True), start=1):
            yield {
                "runId": run_id(entries),
                "seq": seq,
                "offset": str(seq),
                "eventType": "run_stream_event",
                "payload": payload,
                "payloadRef": None,
                "idempotencyKey": None,
                "createdAt": iso(at_ms),
            }


def _blobs(talk: Conversation, state: AgentState) -> Iterable[Json]:
    for blob_id, data in state.blobs.items():
        yield {"agentId": talk.id, "blobId": blob_id, "dataBase64": base64.b64encode(data).decode()}


def _root(state: AgentState, turn: int) -> Json:
    return {"schemaVersion": 1, "rootBlobId": sha256(state.roots[turn])}
