"""A global database of any size for measurements, an hour of work in it, and its VACUUM.

Real databases of a gigabyte are private. This one has their shape: families of keys, sizes of values from 200
bytes to 600 kB in a log-normal curve, 5.4 kB of file a row, and text that compresses about sixfold.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw

from . import code, topics
from .cast import new_cast
from .database import KV_SCHEMA, Row, created, put_rows
from .javascript import Json, iso, js, parsed
from .layout import sha256
from .model import START_MS
from .seeded import hex_id, rng_for, uuid4

# A pool as large as several frames of the archive, so that what repeats in it does not compress away.
_POOL_BYTES = 8_000_000
_SMALLEST, _LARGEST = 200, 600_000
# Of a log-normal curve: exp(mu + sigma ** 2 / 2) is its mean, somewhat less once it is cut at both ends.
_MU, _SIGMA = 7.0, 1.7
_BUBBLES_A_CHAT = 45
_PAGE_BYTES = 4096


def make_global_db(path: Path, *, target_bytes: int, seed: int) -> None:
    """A global database whose file has about ``target_bytes``, in WAL mode and closed."""
    rng = rng_for(seed, "bulk")
    pool = _Pool(rng, min(_POOL_BYTES, max(2 * _LARGEST, target_bytes // 8)))
    with created(path, KV_SCHEMA, wal=False, user_version=1) as connection:
        connection.pragma("cache_size", -200_000)
        while connection.pragma("page_count") * _PAGE_BYTES < target_bytes:
            put_rows(connection, list(_chat(rng, pool, START_MS)))
    # Written with a rollback journal, since a WAL of this size would have to be copied once more.
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.close()


def hour_of_work(path: Path, *, new_bytes: int = 2_000_000, deletions: int = 40, seed: int) -> int:
    """New rows in a few chats, their records updated, some old rows deleted; closed afterwards.

    Returns:
        The bytes of the new rows' values; the updated records are not counted.
    """
    rng = rng_for(seed, "hour")
    pool = _Pool(rng, 2 * _LARGEST)
    connection = apsw.Connection(str(path))
    with connection:
        _delete_some(connection, rng, deletions)
        written = sum(_grow(connection, rng, pool, new_bytes // 4) for _ in range(4))
    connection.close()
    return written


def vacuum(path: Path) -> None:
    """Rewrite the database so that every row moves to another page."""
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM")
    connection.close()


class _Pool:
    """Text to cut from: code, output and prose in the mix of a real chat."""

    def __init__(self, rng: Random, size: int) -> None:
        parts, length = [], 0
        while length < size:
            parts.append(_passage(rng))
            length += len(parts[-1])
        self._text = "".join(parts)

    def cut(self, rng: Random, length: int) -> str:
        """``length`` characters from anywhere in the pool."""
        start = rng.randrange(len(self._text) - length)
        return self._text[start : start + length]


def _passage(rng: Random) -> str:
    cast = new_cast(rng)
    exchange = rng.choice([topic.opening for topic in topics.TOPICS] + list(topics.FOLLOW_UPS))
    said = "\n".join(exchange).format_map(cast.slots())
    made = code.source_file(rng, cast, rng.randrange(40) + 10)
    printed = code.run_output(rng, cast, rng.randrange(10) + 1) + code.search_output(
        rng, cast, rng.randrange(10)
    )
    return f"{said}\n{made}{printed}{uuid4(rng)} {hex_id(rng, 160)}\n"


def _chat(rng: Random, pool: _Pool, at_ms: int) -> Iterator[Row]:
    """All rows of one new chat."""
    chat_id, bubble_ids = uuid4(rng), []
    for _ in range(max(1, round(rng.expovariate(1 / _BUBBLES_A_CHAT)))):
        bubble_ids.append(uuid4(rng))
        yield from _rows(rng, pool, chat_id, bubble_ids[-1], at_ms)
    yield f"composerData:{chat_id}", _record(rng, chat_id, bubble_ids, at_ms)


def _rows(rng: Random, pool: _Pool, chat_id: str, bubble_id: str, at_ms: int) -> Iterator[Row]:
    """A bubble, and what often comes with it: a blob of the agent, a checkpoint."""
    body = {"_v": 3, "type": rng.randrange(2) + 1, "bubbleId": bubble_id, "createdAt": iso(at_ms)}
    yield f"bubbleId:{chat_id}:{bubble_id}", js({**body, "text": pool.cut(rng, _size(rng))})
    if rng.random() < 0.7:
        message = js({"id": "1", "role": "assistant", "content": pool.cut(rng, _size(rng))}).encode()
        yield f"agentKv:blob:{sha256(message)}", message
    if rng.random() < 0.2:
        files = [{"uri": {"path": f"/home/dev/{uuid4(rng)}.py"}, "modified": pool.cut(rng, _size(rng))}]
        yield f"checkpointId:{chat_id}:{uuid4(rng)}", js({"files": files, "nonExistentFiles": []})


def _record(rng: Random, chat_id: str, bubble_ids: list[str], at_ms: int) -> str:
    headers = [{"bubbleId": bubble_id, "type": rng.randrange(2) + 1} for bubble_id in bubble_ids]
    return js({"_v": 10, "composerId": chat_id, "createdAt": at_ms, "fullConversationHeadersOnly": headers})


def _size(rng: Random) -> int:
    return min(_LARGEST, max(_SMALLEST, round(rng.lognormvariate(_MU, _SIGMA))))


def _grow(connection: apsw.Connection, rng: Random, pool: _Pool, new_bytes: int) -> int:
    """Add bubbles to one chat until ``new_bytes`` are written."""
    key, record = _some_record(connection, rng)
    rows, written = [], 0
    while written < new_bytes:
        bubble_id = uuid4(rng)
        record["fullConversationHeadersOnly"].append({"bubbleId": bubble_id, "type": 2})
        new = list(_rows(rng, pool, record["composerId"], bubble_id, record["createdAt"]))
        written += sum(len(value) for _, value in new if value)
        rows += new
    put_rows(connection, [*rows, (key, js(record))])
    return written


def _some_record(connection: apsw.Connection, rng: Random) -> tuple[str, Json]:
    key = _some_key(connection, rng, "composerData")
    value = connection.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).get
    return key, parsed(value)


def _delete_some(connection: apsw.Connection, rng: Random, count: int) -> None:
    for number in range(count):
        key = _some_key(connection, rng, ("bubbleId", "checkpointId")[number % 2])
        connection.execute("DELETE FROM cursorDiskKV WHERE key = ?", (key,))


def _some_key(connection: apsw.Connection, rng: Random, family: str) -> str:
    """A key of the family from anywhere in the index: the ids are random, so a random prefix finds one."""
    sql = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key LIMIT 1"
    start = f"{family}:{hex_id(rng, 8)}"
    found = connection.execute(sql, (start, f"{family};")).get
    return found or connection.execute(sql, (f"{family}:", f"{family};")).get  # type: ignore[no-any-return]
