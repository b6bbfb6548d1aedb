"""`store.db`: the blobs of one agent, the same in the command line and in the SDK."""

from pathlib import Path

from .agentstate import AgentState
from .database import created
from .javascript import Json, js
from .talk import Conversation

_SCHEMA = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)"


def write_store(
    path: Path, state: AgentState, meta: Json, *, hot: bool = False, plain_meta: bool = False
) -> None:
    """A store with all blobs and one meta row.

    Args:
        path: Its main file.
        state: The blobs.
        meta: What the row with key ``0`` says.
        hot: Leave everything in the ``-wal``.
        plain_meta: Write the row as JSON, as some releases do, and not as the hex of JSON.
    """
    text = js(meta) if plain_meta else js(meta).encode().hex()
    with created(path, _SCHEMA, wal=True, user_version=1, hot=hot) as connection:
        connection.executemany("INSERT INTO blobs VALUES (?, ?)", list(state.blobs.items()))
        connection.execute("INSERT INTO meta VALUES ('0', ?)", (text,))


def store_meta(talk: Conversation, root_id: str, name: str) -> Json:
    """The meta row that both kinds of store have."""
    return {
        "agentId": talk.id,
        "latestRootBlobId": root_id,
        "name": name,
        "mode": "default",
        "isRunEverything": False,
        "createdAt": talk.created_ms,
        "lastUsedModel": talk.model,
    }
