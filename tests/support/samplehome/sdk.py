"""The SDK's databases: an index of a project's agents, and a blob store for each of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import apsw

from archiver.model import Store

from .agentstate import AgentState, agent_state
from .blobstore import store_meta, write_store
from .database import created
from .javascript import Json, iso, js
from .layout import md5, sha256, slug
from .model import SampleChat
from .sdkevents import checkpoint, events, run_id, run_values, usage
from .talk import Conversation

Layout = Literal["A", "D"]

# The columns that later releases added, where a fresh file of theirs has them.
_ADDED: Final[dict[Layout, dict[str, str]]] = {
    "A": {"request": "", "outcome": ""},
    "D": {"request": "request_id TEXT,", "outcome": "usage_json TEXT, result TEXT,"},
}
_SCHEMA = """
CREATE TABLE agents (agent_id TEXT PRIMARY KEY, workspace_ref TEXT NOT NULL, status TEXT NOT NULL, active_run_id TEXT,
    latest_checkpoint_ref_json TEXT, name TEXT, metadata_json TEXT NOT NULL DEFAULT '{{}}', created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL);
CREATE TABLE runs (run_id TEXT PRIMARY KEY, {request} agent_id TEXT NOT NULL REFERENCES agents(agent_id),
    turn_number INTEGER NOT NULL, status TEXT NOT NULL, model TEXT, model_params_json TEXT,
    start_checkpoint_ref_json TEXT, latest_checkpoint_ref_json TEXT, error_code TEXT, usage_ref TEXT, {outcome}
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, cancelled_at TEXT,
    expired_at TEXT, UNIQUE(agent_id, turn_number));
CREATE TABLE run_events (run_id TEXT NOT NULL, seq INTEGER NOT NULL, offset TEXT NOT NULL, event_type TEXT NOT NULL,
    payload_json TEXT, payload_ref TEXT, idempotency_key TEXT, created_at TEXT NOT NULL, PRIMARY KEY (run_id, seq),
    UNIQUE(run_id, offset));
CREATE UNIQUE INDEX run_events_idempotency_key_idx ON run_events (run_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
"""


def write_sdk(cursor_dir: Path, talks: Sequence[Conversation], layout: Layout) -> list[SampleChat]:
    """The agents of one project.

    Layout A is what releases 1.0.9 to 1.0.11 wrote, here closed properly. Layout D is from 1.0.22 on: the folder
    is named by another hash, the stores do not know their newest root, and everything is still in the ``-wal``,
    because the SDK never closes its databases; its last agent was killed in the middle of its last run.
    """
    cwd = talks[0].cwd
    name = md5(cwd) if layout == "A" else sha256(cwd.encode())
    folder = cursor_dir / "projects" / slug(cwd) / "sdk-agent-store" / name
    schema = _SCHEMA.format(**_ADDED[layout])
    chats = []
    with created(folder / "index.db", schema, wal=True, hot=layout == "D") as connection:
        for talk in talks:
            state = agent_state(talk)
            killed = layout == "D" and talk is talks[-1]
            _put_agent(connection, talk, state, layout, killed=killed)
            path = folder / "agents" / f"agent-{sha256(talk.id.encode())}" / "store.db"
            _write_agent_store(path, talk, state, layout)
            chats.append(SampleChat(talk.id, talk.title, Store.SDK_AGENT, len(talk.entries), path))
    return chats


def _write_agent_store(path: Path, talk: Conversation, state: AgentState, layout: Layout) -> None:
    meta = store_meta(talk, state.root_id if layout == "A" else "", "New Agent")
    if layout == "D":
        meta["blobEncryptionKey"] = sha256(f"FAKE {talk.id}".encode())
    write_store(path, state, meta, hot=layout == "D")


def _put_agent(
    connection: apsw.Connection, talk: Conversation, state: AgentState, layout: Layout, *, killed: bool
) -> None:
    turns = talk.turns()
    kind = "local-sqlite" if layout == "A" else "local-agent-store"
    active = run_id(turns[-1]) if killed else None
    refs = [js(checkpoint(state, turn, kind)) for turn in range(len(turns))]
    metadata = {} if layout == "A" else {"blobEncryptionKey": sha256(f"FAKE index {talk.id}".encode())}
    times = iso(talk.created_ms), iso(talk.updated_ms)
    connection.execute(
        "INSERT INTO agents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            talk.id,
            talk.cwd,
            "RUNNING" if killed else "IDLE",
            active,
            refs[-1],
            talk.title,
            js(metadata),
            *times,
        ),
    )
    for turn, entries in enumerate(turns):
        finished = not killed or turn < len(turns) - 1
        values = run_values(talk, entries, turn, finished=finished)
        values |= {"start_checkpoint_ref_json": refs[turn - 1] if turn else None}
        values |= {"latest_checkpoint_ref_json": refs[turn]}
        _put_run(connection, values, layout)
        _put_events(connection, values["run_id"], list(events(talk, entries, finished=finished)))


def _put_run(connection: apsw.Connection, values: Json, layout: Layout) -> None:
    if layout == "A":
        values = {key: value for key, value in values.items() if key not in ("request_id", "result")}
    elif values["status"] == "FINISHED":
        values["usage_json"] = js(usage())
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO runs ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))


def _put_events(connection: apsw.Connection, run: str, timed: list[tuple[int, Json]]) -> None:
    rows = [
        (run, seq, str(seq), "run_stream_event", js(payload), iso(at_ms))
        for seq, (at_ms, payload) in enumerate(timed, start=1)
    ]
    connection.executemany("INSERT INTO run_events VALUES (?, ?, ?, ?, ?, NULL, NULL, ?)", rows)
