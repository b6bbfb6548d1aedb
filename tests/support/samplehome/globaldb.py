"""The editor's global `state.vscdb`: chats, their lists, and everything odd that real ones hold."""

from collections.abc import Sequence
from pathlib import Path

import apsw

from .composers import Composer, composer_rows, head, workspace_identifier
from .database import KV_SCHEMA, Row, created, put_items, put_rows
from .javascript import Json, js
from .oddities import odd_rows, twisted

_HEADERS_SCHEMA = """
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER,
    isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)
"""


def write_global(path: Path, composers: Sequence[Composer], seed: int) -> None:
    """A database of the newest kind, as Cursor leaves it when it is closed."""
    with created(path, KV_SCHEMA + _HEADERS_SCHEMA, wal=True, user_version=1, auto_vacuum=2) as connection:
        connection.execute("ALTER TABLE composerHeaders ADD COLUMN subagentTypeName TEXT")
        put_items(connection, _state_items())
        put_rows(connection, odd_rows(seed))
        put_composers(connection, composers)
        freeze_list(connection, composers)


def write_older_global(path: Path, composers: Sequence[Composer]) -> None:
    """A database from before the last column was added."""
    with created(path, KV_SCHEMA + _HEADERS_SCHEMA, wal=True, user_version=1) as connection:
        put_items(connection, _state_items())
        put_composers(connection, composers)
        freeze_list(connection, composers)


def put_composers(connection: apsw.Connection, composers: Sequence[Composer]) -> None:
    """Add chats: their rows and their headers."""
    for composer in composers:
        put_rows(connection, _mixed(twisted(composer, composer_rows(composer))))
        put_header(connection, head(composer))


def put_header(connection: apsw.Connection, head: Json) -> None:
    """Set a chat's line in the table of chats; a column that a later Cursor added stays empty."""
    values = (
        head["composerId"],
        head["workspaceIdentifier"]["id"],
        head["createdAt"],
        head["lastUpdatedAt"],
        int(head["isArchived"]),
        0,
        head["lastUpdatedAt"],
        head["lastUpdatedAt"],
        js(head),
    )
    columns = "composerId, workspaceId, createdAt, lastUpdatedAt, isArchived, isSubagent, recency, checkpointAt, value"
    connection.execute(
        f"INSERT OR REPLACE INTO composerHeaders ({columns}) VALUES (?,?,?,?,?,?,?,?,?)", values
    )


def freeze_list(connection: apsw.Connection, composers: Sequence[Composer]) -> None:
    """The lists of chats in `ItemTable`, which Cursor stopped updating once it had the table."""
    newer = [composer for composer in composers if composer.version >= 17]
    projects = {composer.workspace.id: workspace_identifier(composer.workspace) for composer in newer}
    lists = {
        "composer.composerHeaders": {"allComposers": [head(composer) for composer in composers]},
        "glass.localAgentProjects.v1": {"projects": list(projects.values())},
        "glass.localAgentProjectMembership.v1": {
            composer.talk.id: composer.workspace.id for composer in newer
        },
        "cursor/pinnedComposers": [composers[0].talk.id],
    }
    put_items(connection, [(key, js(value)) for key, value in lists.items()])


def _mixed(rows: list[Row]) -> list[Row]:
    """Some text values as bytes, as in Cursor's own rows; the agent's have their forms already."""
    return [
        (key, value.encode())
        if (index + len(rows)) % 5 == 0 and isinstance(value, str) and not str(key).startswith("agentKv:")
        else (key, value)
        for index, (key, value) in enumerate(rows)
    ]


def _state_items() -> list[Row]:
    return [
        ("composer.composerHeaders.tableGateEnabled", "true"),
        ("composer.composerHeaders.version", "1"),
        ("composer.composerHeaders.migratedToTable", "true"),
        ("cursorAuth/accessToken", "FAKE-access-token-of-a-sample"),
        ("cursorAuth/refreshToken", "FAKE-refresh-token-of-a-sample"),
        ("cursorAuth/cachedEmail", "dev@example.invalid"),
        ("cursor.accessToken", "FAKE-older-token-of-a-sample"),
        (
            'secret://{"extensionId":"sample.extension","key":"sample.auth"}',
            js({"type": "Buffer", "data": list(b"FAKE-secret")}),
        ),
        ("telemetry.machineId", "0" * 64),
        ("workbench.colorTheme", "Default Dark Modern"),
        ("__$__targetStorageMarker", b'{"workbench.colorTheme":0}'),
    ]
