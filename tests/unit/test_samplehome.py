"""The sample home is what the rest of the suite takes for a real one, so it is checked against SQLite and the facts."""

import base64
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from archiver.model import Store
from tests.support.samplehome import (
    DEMO,
    Platform,
    SampleHome,
    archive_chat,
    delete_chat,
    hour_of_work,
    live_for,
    make_global_db,
    make_home,
    plant_canary,
    rename_chat,
    vacuum,
)

RUNS_A = [
    "run_id", "agent_id", "turn_number", "status", "model", "model_params_json", "start_checkpoint_ref_json",
    "latest_checkpoint_ref_json", "error_code", "usage_ref", "created_at", "updated_at", "started_at", "finished_at",
    "cancelled_at", "expired_at",
]  # fmt: skip
RUNS_D = [RUNS_A[0], "request_id", *RUNS_A[1:10], "usage_json", "result", *RUNS_A[10:]]


@pytest.fixture
def home(tmp_path: Path) -> SampleHome:
    """A fresh small home."""
    return make_home(tmp_path / "home")


def is_database(path: Path) -> bool:
    """Whether the file begins as SQLite databases do."""
    return path.is_file() and path.read_bytes().startswith(b"SQLite format 3\0")


def query(path: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows as SQLite gives them, without touching the database: a reader that is not ours and not `apsw`."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        return connection.execute(sql, values).fetchall()


def contents(root: Path) -> dict[str, Any]:
    """The rows of every database and the bytes of every other file, by path."""
    found: dict[str, Any] = {}
    for path in sorted(p for p in root.rglob("*") if not p.name.endswith(("-wal", "-shm"))):
        name = path.relative_to(root).as_posix()
        if is_database(path):
            tables = query(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            found[name] = {table: query(path, f'SELECT * FROM "{table}"') for (table,) in tables}
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def loads(value: str | bytes) -> dict[str, Any]:
    """An object from its JSON, also from JSON inside JSON."""
    document: Any = json.loads(value)
    return dict(json.loads(document) if isinstance(document, str) else document)


def composer_data(home: SampleHome, chat_id: str) -> dict[str, Any]:
    """A chat's own record."""
    ((value,),) = query(
        home.global_db, "SELECT value FROM cursorDiskKV WHERE key = ?", f"composerData:{chat_id}"
    )
    return loads(value)


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A varint's value and where it ends."""
    end = next(end for end in range(at, len(message)) if message[end] < 128) + 1
    return sum((byte & 127) << 7 * place for place, byte in enumerate(message[at:end])), end


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a protobuf message."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        size, at = varint(message, at)
        if tag & 7 == 2:
            yield tag >> 3, message[at : at + size]
            at += size


def count_steps(root: bytes, blobs: dict[str, bytes]) -> int:
    """Prompts and steps below a root, by following its turns."""
    turns = [body for no, turn in fields(root) if no == 8 for _, body in fields(blobs[turn.hex()])]
    references = [blob_id for turn in turns for no, blob_id in fields(turn) if no in (1, 2)]
    assert all(blob_id.hex() in blobs for blob_id in references)
    return len(references)


@pytest.mark.parametrize(
    ("platform", "database", "folder"),
    [
        ("linux", ".config/Cursor/User/globalStorage/state.vscdb", "file:///home/dev/"),
        ("macos", "Library/Application Support/Cursor/User/globalStorage/state.vscdb", "file:///Users/dev/"),
        ("windows", "AppData/Roaming/Cursor/User/globalStorage/state.vscdb", "file:///c%3A/Users/dev/"),
    ],
)
def test_layout(tmp_path: Path, platform: Platform, database: str, folder: str) -> None:
    """Each platform's home has its databases where that platform's Cursor has them, and its own spelling of paths."""
    home = make_home(tmp_path, platform=platform)
    assert home.global_db == tmp_path / database
    marker = json.loads(home.workspaces[0].db.with_name("workspace.json").read_text())
    assert marker["folder"].startswith(folder)


def test_every_store(home: SampleHome) -> None:
    """Every kind of store is there and small, and what the home says it has does exist."""
    assert {chat.store for chat in home.chats} == set(Store) & {
        Store.IDE_GLOBAL,
        Store.IDE_WORKSPACE,
        Store.CLI_CHAT,
        Store.SDK_AGENT,
        Store.SDK_NDJSON,
        Store.TRANSCRIPT,
    }
    assert all(chat.path.exists() and chat.message_count for chat in home.chats + home.lost)
    assert all(path.exists() for path in (home.backup_db, home.corrupted_db, home.search_db, home.ndjson_dir))
    assert sum(path.stat().st_size for path in home.root.rglob("*") if path.is_file()) < 3_000_000


def test_databases_are_sound(home: SampleHome) -> None:
    """SQLite finds no fault in any database, also in those that lie in their WAL."""
    live_for(home, minutes=10, seed=1)
    databases = [path for path in home.root.rglob("*") if is_database(path)]
    assert len(databases) >= 20
    assert {path.name: query(path, "PRAGMA integrity_check") for path in databases} == {
        path.name: [("ok",)] for path in databases
    }


def test_deterministic(tmp_path: Path) -> None:
    """The same arguments give the same rows and files, another seed gives others, even after some life."""
    homes = [make_home(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    for home in homes:
        live_for(home, minutes=10, seed=3)
    first, second, third = (contents(home.root) for home in homes)
    assert first == second
    assert set(first) != set(third)


def test_composer_versions(home: SampleHome) -> None:
    """Chats of all five versions hold their messages where that version does, as many as the home says."""
    versions = set()
    for chat in home.chats:
        if chat.store != Store.IDE_GLOBAL:
            continue
        record = composer_data(home, chat.id)
        versions.add(record["_v"])
        bubbles = query(
            home.global_db, "SELECT key FROM cursorDiskKV WHERE key LIKE ?", f"bubbleId:{chat.id}:%"
        )
        headers = record.get("fullConversationHeadersOnly", [])
        ids = [head if isinstance(head, str) else head["bubbleId"] for head in headers]
        assert chat.message_count == len(ids) or chat.message_count == len(record["conversation"])
        if record["_v"] >= 10:
            assert {f"bubbleId:{chat.id}:{bubble_id}" for bubble_id in ids} <= {key for (key,) in bubbles}
        if record["_v"] == 3:
            assert set(record["conversationMap"]) == set(ids)
    assert versions == {1, 3, 10, 14, 17}


def test_content_addressed(home: SampleHome) -> None:
    """Rows that are named by a hash have that hash, whatever form their value is in."""
    like = "SELECT key, value FROM cursorDiskKV WHERE key LIKE ? AND value IS NOT NULL"
    blobs = query(home.global_db, like, "agentKv:blob:%")
    texts = query(home.global_db, like, "composer.content.%")
    assert blobs
    assert texts
    for key, value in blobs + texts:
        data = value if isinstance(value, bytes) else value.encode()
        if key.startswith("agentKv") and isinstance(value, str) and not value.startswith("{"):
            data = bytes.fromhex(value)
        assert hashlib.sha256(data).hexdigest() == key[-64:]


def test_agent_stores(home: SampleHome) -> None:
    """From the newest root of a store all steps are reached, as many as the home says, and all ids are hashes."""
    stores = [chat for chat in home.chats if chat.store in (Store.CLI_CHAT, Store.SDK_AGENT)]
    assert len(stores) == 7
    for chat in stores:
        blobs = dict(query(chat.path, "SELECT id, data FROM blobs"))
        assert all(hashlib.sha256(data).hexdigest() == blob_id for blob_id, data in blobs.items())
        ((text,),) = query(chat.path, "SELECT value FROM meta WHERE key = '0'")
        root_id = json.loads(text if text.startswith("{") else bytes.fromhex(text))["latestRootBlobId"]
        if not root_id:
            index, sql = (
                chat.path.parents[2] / "index.db",
                "SELECT latest_checkpoint_ref_json FROM agents WHERE agent_id = ?",
            )
            root_id = json.loads(query(index, sql, chat.id)[0][0])["blobId"]
        assert count_steps(blobs[root_id], blobs) == chat.message_count


def test_ndjson_store(home: SampleHome) -> None:
    """The NDJSON store has the same kind of agents: from each newest root all steps are reached."""
    lines = {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in home.ndjson_dir.iterdir()
    }
    blobs = {line["blobId"]: base64.b64decode(line["dataBase64"]) for line in lines["checkpoints"]}
    roots = {agent["agentId"]: agent["latestCheckpoint"]["rootBlobId"] for agent in lines["agents"]}
    chats = {chat.id: chat.message_count for chat in home.chats if chat.store == Store.SDK_NDJSON}
    assert {agent_id: count_steps(blobs[root], blobs) for agent_id, root in roots.items()} == chats
    assert {run["agentId"] for run in lines["runs"]} == set(chats)
    assert {event["runId"] for event in lines["run_events"]} == {run["runId"] for run in lines["runs"]}


def test_transcripts(home: SampleHome) -> None:
    """A whole, a torn and a plain text transcript stand for chats that have nothing else."""
    whole, torn, text = [chat for chat in home.chats if chat.store == Store.TRANSCRIPT]
    lines = [json.loads(line) for line in whole.path.read_text().splitlines()]
    assert sum("role" in line for line in lines) == whole.message_count
    *good, last = torn.path.read_text().splitlines()
    assert all("role" in json.loads(line) for line in good)
    assert len(good) == torn.message_count
    with pytest.raises(json.JSONDecodeError):
        json.loads(last)
    assert text.path.suffix == ".txt"
    assert list(home.cursor_dir.rglob("subagents/*.jsonl"))


def test_tabs(home: SampleHome) -> None:
    """The oldest chats are tabs in two keys of the first workspace's database."""
    rows = query(
        home.workspaces[0].db, "SELECT value FROM ItemTable WHERE key LIKE 'workbench.panel.%.chatdata'"
    )
    tabs = [tab for (value,) in rows for tab in json.loads(value)["tabs"]]
    counts = {chat.id: chat.message_count for chat in home.chats if chat.store == Store.IDE_WORKSPACE}
    assert {tab["tabId"]: len(tab["bubbles"]) for tab in tabs} == counts


def test_sdk_layouts(home: SampleHome) -> None:
    """Both layouts of the SDK's index are there; the newer lies in its WAL behind a main file of one page."""
    indexes = sorted(home.cursor_dir.rglob("index.db"), key=lambda path: len(path.parent.name))
    hot = [path.with_name("index.db-wal").exists() for path in indexes]
    columns = [[row[1] for row in query(path, "PRAGMA table_info(runs)")] for path in indexes]
    assert columns == [RUNS_A, RUNS_D]
    assert hot == [False, True]
    assert indexes[1].stat().st_size == 4096
    assert ("RUNNING",) in query(indexes[1], "SELECT status FROM runs")


def test_oddities(home: SampleHome) -> None:
    """The odd rows of real databases are among the rows."""
    rows = query(home.global_db, "SELECT key, value FROM cursorDiskKV")
    values = dict(rows)
    assert any(key is None for key, _ in rows)
    assert any(key and key.startswith("composerData:") and value is None for key, value in rows)
    assert {type(value) for key, value in rows if key and key.startswith("bubbleId:")} == {
        str,
        bytes,
        type(None),
    }
    assert values[f"agentKv:blob:{hashlib.sha256(bytes(1)).hexdigest()}"] == bytes(1)
    records = [json.loads(value) for key, value in rows if key and key.startswith("composerData:") and value]
    twice = [json.loads(record) for record in records if isinstance(record, str)]
    assert isinstance(twice[0]["fullConversationHeadersOnly"][0], str)
    assert "~" in [record["conversationState"] for record in records if "conversationState" in record]
    half = next(value for _, value in rows if isinstance(value, str) and "ud83d" in value)
    assert json.loads(half)["text"].endswith("\ud83d")
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(half)


def test_corrupted_is_richer(home: SampleHome) -> None:
    """The database that Cursor put aside opens, and has chats that the live one lacks."""
    sql = "SELECT composerId FROM composerHeaders"
    live, aside = (
        {chat_id for (chat_id,) in query(path, sql)} for path in (home.global_db, home.corrupted_db)
    )
    assert {chat.id for chat in home.lost} == aside - live
    assert len(query(home.corrupted_db, "PRAGMA table_info(composerHeaders)")) == 9
    assert len(query(home.global_db, "PRAGMA table_info(composerHeaders)")) == 10


def test_live_for(home: SampleHome) -> None:
    """An hour changes chats, one workspace and transcripts, and all of it is in the WAL of an untouched main file."""
    main, before = home.global_db.read_bytes(), contents(home.root)
    live_for(home, minutes=60, seed=1)
    after = contents(home.root)
    assert home.global_db.read_bytes() == main
    assert home.global_db.with_name("state.vscdb-wal").stat().st_size > 0
    changed = {name for name in after if before.get(name) != after[name]}
    assert sum(name.startswith(".config/Cursor/User/workspaceStorage") for name in changed) == 1
    assert any(name in before and name.endswith(".jsonl") for name in changed)
    old, new = (
        home_contents[".config/Cursor/User/globalStorage/state.vscdb"] for home_contents in (before, after)
    )
    assert len(new["composerHeaders"]) == len(old["composerHeaders"]) + 1
    added = {key for key, _ in new["cursorDiskKV"]} - {key for key, _ in old["cursorDiskKV"]}
    assert len({key.split(":")[1] for key in added if key.startswith("bubbleId:")}) == 4


def test_agent_state_goes_on(home: SampleHome) -> None:
    """After an hour the agent's state of every chat that had one reaches all of its bubbles."""
    stateful = [
        chat.id
        for chat in home.chats
        if chat.store == Store.IDE_GLOBAL
        and composer_data(home, chat.id).get("conversationState", "~") != "~"
    ]
    assert len(stateful) == 3
    live_for(home, minutes=60, seed=1)
    rows = query(home.global_db, "SELECT key, value FROM cursorDiskKV WHERE key LIKE 'agentKv:blob:%'")
    blobs = {}
    for key, value in rows:
        data = bytes.fromhex(value) if isinstance(value, str) and not value.startswith("{") else value
        blobs[key[-64:]] = data.encode() if isinstance(data, str) else data
    for chat_id in stateful:
        record = composer_data(home, chat_id)
        text = record["conversationState"]
        root = base64.b64decode(text[1:]) if text.startswith("~") else bytes.fromhex(text)
        assert count_steps(root, blobs) == len(record["fullConversationHeadersOnly"])


def test_delete_chat(home: SampleHome) -> None:
    """A deleted chat leaves tombstones, is in no list any more, and its text is still in the main file."""
    chat = home.chats[0]
    ask = json.loads(
        query(home.search_db, "SELECT json_quote(body) FROM conversation_fts")[0][0]
    ).splitlines()[0]
    before = contents(home.root)
    delete_chat(home, chat.id)
    rows = query(home.global_db, "SELECT value FROM cursorDiskKV WHERE key LIKE ?", f"%:{chat.id}%")
    assert len(rows) > chat.message_count
    assert set(rows) == {(None,)}
    assert chat.id not in str(query(home.global_db, "SELECT * FROM composerHeaders"))
    lists = [query(path, "SELECT value FROM ItemTable WHERE key LIKE '%composer.composer%'") for path in
             (home.global_db, *(workspace.db for workspace in home.workspaces))]  # fmt: skip
    assert chat.id not in str(lists)
    assert chat.id not in str(query(home.search_db, "SELECT id FROM conversations"))
    assert ask.encode() in home.global_db.read_bytes()
    other = home.chats[1].id
    kept = [
        row
        for row in before[".config/Cursor/User/globalStorage/state.vscdb"]["cursorDiskKV"]
        if other in str(row[0])
    ]
    assert query(home.global_db, "SELECT * FROM cursorDiskKV WHERE key LIKE ?", f"%{other}%") == kept


@pytest.mark.parametrize("store", [Store.CLI_CHAT, Store.SDK_AGENT])
def test_delete_agent(home: SampleHome, store: Store) -> None:
    """Deleting a chat of the command line or the SDK removes its store, and the transcript stays."""
    chat = next(chat for chat in home.chats if chat.store == store and "/" not in chat.id)
    delete_chat(home, chat.id)
    assert not chat.path.exists()
    assert list(home.cursor_dir.rglob(f"{chat.id}.jsonl"))


def test_rename_and_archive(home: SampleHome) -> None:
    """A chat's new title and its mark are in the record, the table, the lists and the search index."""
    chat = home.chats[0]
    rename_chat(home, chat.id, "Renamed by a test")
    archive_chat(home, chat.id)
    assert composer_data(home, chat.id)["name"] == "Renamed by a test"
    assert query(home.global_db, "SELECT isArchived FROM composerHeaders WHERE composerId = ?", chat.id) == [
        (1,)
    ]
    assert query(home.search_db, "SELECT title, is_archived FROM conversations WHERE id = ?", chat.id) == [
        ("Renamed by a test", 1)
    ]
    for path in (home.global_db, home.workspaces[0].db):
        assert "Renamed by a test" in str(
            query(path, "SELECT value FROM ItemTable WHERE key LIKE 'composer.%'")
        )


def test_plant_canary(home: SampleHome) -> None:
    """The text is in every file that is named, or in its WAL, and in no other file."""
    text = "canary that sings nowhere else"
    named = plant_canary(home, text)
    holding = {path.relative_to(home.root).as_posix() for path in home.root.rglob("*") if path.is_file()
               and text.encode() in path.read_bytes()}  # fmt: skip
    assert {name.removesuffix("-wal") for name in holding} == set(named)
    databases = {path.relative_to(home.root).as_posix() for path in home.root.rglob("*") if is_database(path)}
    assert databases <= set(named)


def test_bulk(tmp_path: Path) -> None:
    """The measuring database has the asked size, grows by what an hour is said to write, and survives VACUUM."""
    path, again = tmp_path / "state.vscdb", tmp_path / "again.vscdb"
    for database in (path, again):
        make_global_db(database, target_bytes=8_000_000, seed=1)
    assert 8_000_000 <= path.stat().st_size < 12_000_000
    assert path.read_bytes()[18:20] == b"\x02\x02", "WAL mode, by SQLite's own header"
    rows = dict(query(path, "SELECT key, value FROM cursorDiskKV"))
    assert rows == dict(query(again, "SELECT key, value FROM cursorDiskKV"))
    assert {key.split(":")[0] for key in rows} == {"bubbleId", "composerData", "checkpointId", "agentKv"}
    written = hour_of_work(path, new_bytes=400_000, deletions=10, seed=2)
    after = dict(query(path, "SELECT key, value FROM cursorDiskKV"))
    new = sum(len(value) for key, value in after.items() if key not in rows)
    assert written == new >= 400_000
    assert len(rows.keys() - after.keys()) == 10
    vacuum(path)
    assert dict(query(path, "SELECT key, value FROM cursorDiskKV")) == after


@pytest.mark.slow
def test_demo_scale(tmp_path: Path) -> None:
    """The demo's home has about 200 chats, about 40 agent stores and a global database of some 60 MB."""
    home = make_home(tmp_path, scale=DEMO)
    assert 150 <= sum(chat.store == Store.IDE_GLOBAL for chat in home.chats) <= 250
    assert len(list(tmp_path.rglob("store.db"))) == 40
    assert 40_000_000 < home.global_db.stat().st_size < 80_000_000
