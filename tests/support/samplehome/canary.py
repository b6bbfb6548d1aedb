"""Planting a text in every store, so that a test can prove where it does not come out again."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import apsw

from .database import changing, put_items, put_rows
from .javascript import js, parsed
from .layout import sha256
from .model import SampleHome


def plant_canary(home: SampleHome, text: str) -> list[str]:
    """Put ``text`` into a value of every file that holds anything of chats, and nowhere else.

    Returns:
        The paths below the home's root of the files that were changed, with forward slashes, sorted; where a
        database has a ``-wal``, the text may be in that instead of in the file that is named.
    """
    planted = []
    for pattern, plant in _PLANTERS.items():
        paths = sorted(home.root.glob(pattern))
        if not paths:
            raise ValueError(f"no file of the home fits {pattern}")
        for path in paths:
            plant(path, text)
            planted.append(path.relative_to(home.root).as_posix())
    return sorted(planted)


def _into_database(path: Path, text: str, *, insert: Callable[[apsw.Connection, str], object]) -> None:
    hot = path.with_name(f"{path.name}-wal").exists()
    with changing(path, hot=hot) as connection:
        insert(connection, text)


def _key_value(connection: apsw.Connection, text: str) -> None:
    put_items(connection, [("aiService.prompts", js([{"text": text, "commandType": 4}]))])
    chat, bubble = "00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"
    put_rows(
        connection,
        [(f"bubbleId:{chat}:{bubble}", js({"_v": 3, "type": 1, "bubbleId": bubble, "text": text}))],
    )


def _search(connection: apsw.Connection, text: str) -> None:
    connection.execute("INSERT INTO conversation_fts (title, body) VALUES (?, ?)", (text, text))


def _blob(connection: apsw.Connection, text: str) -> None:
    data = js({"role": "user", "content": text}).encode()
    connection.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (sha256(data), data))


def _agent_name(connection: apsw.Connection, text: str) -> None:
    connection.execute("UPDATE agents SET name = ?", (text,))


def _summary(connection: apsw.Connection, text: str) -> None:
    connection.execute("UPDATE conversation_summaries SET tldr = ?", (text,))


def _line(path: Path, text: str) -> None:
    # The line end in front ends a line that was torn.
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def _json_line(path: Path, text: str) -> None:
    _line(path, js({"role": "user", "message": {"content": [{"type": "text", "text": text}]}}))


def _title(path: Path, text: str) -> None:
    path.write_text(js(parsed(path.read_bytes()) | {"title": text}), encoding="utf-8")


_KEY_VALUE = partial(_into_database, insert=_key_value)
_PLANTERS: Final[dict[str, Callable[[Path, str], None]]] = {
    "**/state.vscdb": _KEY_VALUE,
    "**/state.vscdb.backup": _KEY_VALUE,
    "**/state.vscdb.corrupted.*[0-9]": _KEY_VALUE,
    "**/conversation-search.db": partial(_into_database, insert=_search),
    "**/store.db": partial(_into_database, insert=_blob),
    "**/index.db": partial(_into_database, insert=_agent_name),
    "**/ai-code-tracking.db": partial(_into_database, insert=_summary),
    "**/*.ndjson": _json_line,
    "**/agent-transcripts/**/*.jsonl": _json_line,
    "**/agent-transcripts/*.txt": _line,
    "**/agent-tools/*.txt": _line,
    "**/*.plan.md": _line,
    "**/memories/*/*.json": _title,
    ".cursor/*/**/meta.json": _title,
}
