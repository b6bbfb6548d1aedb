"""The editor's full-text index of its chats, which is a second copy of their text."""

from collections.abc import Sequence
from pathlib import Path

from .composers import Composer
from .database import created

_SCHEMA = """
CREATE TABLE conversations (source TEXT, scope TEXT, id TEXT, title TEXT, updated_at INTEGER, is_archived INTEGER,
    fingerprints TEXT, PRIMARY KEY (source, scope, id));
CREATE VIRTUAL TABLE conversation_fts USING fts5(title, body);
CREATE TABLE candidates (id TEXT PRIMARY KEY, reason TEXT);
CREATE TABLE reconciliation (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO settings VALUES ('maximum', '10000');
"""


def write_search(path: Path, composers: Sequence[Composer]) -> None:
    """All chats; every third without its text, and one cloud agent of which Cursor has only the title."""
    lines = [
        (c.talk.id, c.talk.title, c.talk.updated_ms, int(c.archived), "" if index % 3 == 2 else _body(c))
        for index, c in enumerate(composers)
    ]
    with created(path, _SCHEMA, wal=True) as connection:
        for rowid, (chat_id, title, updated_ms, archived, body) in enumerate(lines, start=1):
            values = (rowid, chat_id, title, updated_ms, archived)
            connection.execute(
                "INSERT INTO conversations (rowid, source, scope, id, title, updated_at, is_archived, fingerprints)"
                " VALUES (?, 'local', '', ?, ?, ?, ?, '{}')",
                values,
            )
            connection.execute(
                "INSERT INTO conversation_fts (rowid, title, body) VALUES (?, ?, ?)", (rowid, title, body)
            )
        connection.execute(
            "INSERT INTO conversations VALUES ('cloud-cache', '', 'bc-00000000-sample', 'Nightly upgrade', 0, 0, '{}')"
        )


def _body(composer: Composer) -> str:
    return "\n".join(entry.text for entry in composer.talk.entries if entry.text)
