"""What SQLite and the file system say of a home, asked without the archiver."""

import contextlib
import hashlib
import shutil
import sqlite3
from pathlib import Path

MAGIC = b"SQLite format 3\0"

# Change counter; schema cookie; version-valid-for and writing version.
_SET_ANEW = ((24, 28), (40, 44), (92, 100))

Rows = list[tuple[object, ...]]


def content(file: Path, scratch: Path) -> bytes:
    """The bytes that a capture of ``file`` must hold, but for the counters that are zeroed by ``uncounted``.

    A database is what is left when SQLite has folded its ``-wal`` in; that is done to a copy below ``scratch``.
    """
    data = file.read_bytes()
    if not data.startswith(MAGIC) and not Path(f"{file}-wal").exists():
        return data
    with contextlib.closing(_opened_copy(file, scratch)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return uncounted((scratch / file.name).read_bytes())


def uncounted(data: bytes) -> bytes:
    """A database with zeros for what SQLite's backup sets anew in its header; other bytes as they are."""
    if not data.startswith(MAGIC):
        return data
    cleared = bytearray(data)
    for start, end in _SET_ANEW:
        cleared[start:end] = bytes(end - start)
    return bytes(cleared)


def tables(file: Path, scratch: Path) -> dict[str, Rows]:
    """Every row of every table, read by Python's SQLite from a copy of the database and its ``-wal``."""
    with contextlib.closing(_opened_copy(file, scratch)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        return {
            name.decode(): connection.execute(f'SELECT * FROM "{name.decode()}"').fetchall()
            for (name,) in names.fetchall()
        }


def integrity(file: Path) -> str:
    """What SQLite says of a database that nobody else has open."""
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def tree(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _opened_copy(file: Path, scratch: Path) -> sqlite3.Connection:
    for old in scratch.glob(f"{file.name}*"):
        old.unlink()
    for suffix in ("", "-wal"):
        part = Path(f"{file}{suffix}")
        if part.exists():
            shutil.copyfile(part, scratch / part.name)
    return sqlite3.connect(scratch / file.name)
