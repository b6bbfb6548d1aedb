"""Opens a source's database through a layer that cannot create, change or delete any file.

SQLite's own ``mode=ro`` is not enough: it creates a missing ``-wal``, rewrites a ``-shm``, and deletes the ``-wal`` of an
empty database.
"""

from functools import cache
from pathlib import Path

import apsw

_BUSY_MS = 200
_WRITING = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_DELETEONCLOSE
_OWNED = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL


class _Guard(apsw.VFS):
    """The platform's files, read-only."""

    def __init__(self) -> None:
        self.name = "archive-guard"
        super().__init__(self.name, base="")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        flags[0] = flags[0] & ~_WRITING | apsw.SQLITE_OPEN_READONLY
        if flags[0] & _OWNED:
            # Run by root, SQLite sets the owner of a file that it knows as one of these, and so its ctime, each time.
            flags[0] = flags[0] & ~_OWNED | apsw.SQLITE_OPEN_SUPER_JOURNAL
        return super().xOpen(name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802, ARG002  SQLite's name and arguments
        message = f"{filename} belongs to a source and is not deleted"
        raise apsw.ReadOnlyError(message)


def open_live(file: Path) -> apsw.Connection:
    """Open a database that others may have open; the ``-shm``, if any, is read and not written.

    The caller closes it as soon as it can: an editor that closes meanwhile cannot fold its ``-wal`` in.
    """
    connection = _open(file, "mode=ro&readonly_shm=1")
    connection.set_busy_timeout(_BUSY_MS)
    return connection


def open_immutable(file: Path) -> apsw.Connection:
    """Open a database without any lock, as if nobody could change it; the caller checks that nobody did."""
    return _open(file, "immutable=1")


def _open(file: Path, how: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{file.as_uri()}?{how}", flags=flags, vfs=_guard().name)
    # The last connection to close a database would ask for an exclusive lock to checkpoint.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


@cache
def _guard() -> _Guard:
    """The one guard; it must live as long as a connection may use it."""
    return _Guard()
