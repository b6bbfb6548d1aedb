"""How the databases of a home are opened: as Cursor does, and with its SQLite's defaults.

`apsw` and not the standard library's: some systems build that one to overwrite what it deletes, which
Cursor's does not, and what is left of deleted rows is part of what a capture must keep.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

KV_SCHEMA = """
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
"""

Value = str | bytes | None
Row = tuple[str | None, Value]


@contextmanager
def created(
    path: Path,
    schema: str,
    *,
    wal: bool = False,
    user_version: int = 0,
    auto_vacuum: int = 0,
    hot: bool = False,
) -> Iterator[apsw.Connection]:
    """A new database, filled in one transaction by the body of the ``with`` statement.

    Args:
        path: Its main file; the folder is made when missing.
        schema: The statements that make its tables.
        wal: WAL mode, or else the rollback journal (deleted after each transaction).
        user_version: Cursor's own mark of its key-value databases is 1.
        auto_vacuum: 0 none, 2 incremental.
        hot: Leave everything in the ``-wal``, as a program does that ends without closing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = _open(path, hot=hot)
    connection.pragma("page_size", 4096)
    connection.pragma("auto_vacuum", auto_vacuum)
    connection.pragma("journal_mode", "wal" if wal else "delete")
    with _closed_after(connection):
        connection.execute(f"PRAGMA user_version = {user_version}; {schema}")
        yield connection


@contextmanager
def changing(path: Path, *, hot: bool = True) -> Iterator[apsw.Connection]:
    """An existing database, changed in one transaction.

    With ``hot`` it is a Cursor that is still running afterwards: in WAL mode the ``-wal`` and the ``-shm`` stay
    behind with all that was written. Otherwise the WAL is folded in and removed.
    """
    with _closed_after(_open(path, hot=hot)) as connection:
        yield connection


@contextmanager
def _closed_after(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def _open(path: Path, *, hot: bool) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    # A sample is thrown away after a crash of the machine; waiting for the disk would only make tests slow.
    connection.pragma("synchronous", "off")
    if hot:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("wal_autocheckpoint", 0)
    return connection


def put_items(connection: apsw.Connection, items: Sequence[Row]) -> None:
    """Set keys of ``ItemTable``."""
    connection.executemany("INSERT INTO ItemTable VALUES (?, ?)", items)


def put_rows(connection: apsw.Connection, rows: Sequence[Row]) -> None:
    """Set keys of ``cursorDiskKV``."""
    connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)


def item(connection: apsw.Connection, key: str) -> Value:
    """One value of ``ItemTable``, or nothing."""
    return connection.execute("SELECT value FROM ItemTable WHERE key = ?", (key,)).get  # type: ignore[no-any-return]


def keys_below(connection: apsw.Connection, prefix: str) -> list[str]:
    """The keys of ``cursorDiskKV`` that begin with ``prefix``, which must end in a colon."""
    # A range and not LIKE: ids are untrusted and the range uses the index.
    sql = "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
    return [key for (key,) in connection.execute(sql, (prefix, prefix[:-1] + ";"))]
