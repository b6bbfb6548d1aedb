"""What a source looks like from outside: enough to tell whether it changed, read without SQLite.

Closing a descriptor of a file drops every POSIX lock that this process holds on that file. Nothing here may therefore
be called on a database that this process has open through SQLite.
"""

import os
from pathlib import Path

import msgspec

from archiver.errors import SourceError
from archiver.model import FileState, Fingerprint, Role
from archiver.source.walk import Source

SUFFIXES = {Role.FILE: "", Role.MAIN: "", Role.WAL: "-wal", Role.SHM: "-shm", Role.JOURNAL: "-journal"}
"""What SQLite appends to a database's name for the file that a role is read from."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_WAL_HEADER_BYTES = 32
_SHM_BYTES = 48
_RACY_NS = 2_000_000_000


class SourceState(msgspec.Struct, frozen=True):
    """What a list of sources shows.

    Attributes:
        main_bytes: Length of the main file.
        wal_bytes: Length of the ``-wal`` file, 0 without one.
        journal_bytes: Length of the ``-journal`` file, 0 without one.
        journal_mode: ``wal`` or ``delete`` by the header; ``None`` for a plain file and for bytes that are not SQLite.
    """

    main_bytes: int
    wal_bytes: int
    journal_bytes: int
    journal_mode: str | None


def sidecar(file: Path, suffix: str) -> Path:
    """The path of SQLite's file beside a database, such as its ``-wal``."""
    return file.with_name(file.name + suffix)


def fingerprint(source: Source) -> Fingerprint:
    """Look at a source and its sidecars; reads at most 180 bytes.

    Raises:
        SourceError: It is not there (any more), or cannot be read.
    """
    try:
        return _of_database(source.file) if source.sqlite else Fingerprint(_state(source.file.stat()))
    except OSError as error:
        raise SourceError(f"cannot read {source.path}: {error.strerror}") from error


def settled(seen: Fingerprint, now_ns: int) -> bool:
    """Whether an equal fingerprint later on proves that nothing changed in between.

    It does not if a time of it lies within 2 s of now: file systems count time in steps as coarse as that, so that a
    later change could leave all times as they are.
    """
    states = (state for state in (seen.main, seen.wal, seen.journal) if state is not None)
    return all(now_ns - max(state.mtime_ns, state.ctime_ns) > _RACY_NS for state in states)


def journal_mode(seen: Fingerprint) -> str | None:
    """The journal mode that the header names: ``wal``, ``delete``, or ``None`` where there is no SQLite header."""
    if not seen.header:
        return None
    return "wal" if seen.header[2:4] == "02" else "delete"


def describe(source: Source) -> SourceState:
    """Sizes and journal mode of a source.

    Raises:
        SourceError: It is not there (any more), or cannot be read.
    """
    seen = fingerprint(source)
    return SourceState(
        main_bytes=seen.main.size_bytes,
        wal_bytes=seen.wal.size_bytes if seen.wal else 0,
        journal_bytes=seen.journal.size_bytes if seen.journal else 0,
        journal_mode=journal_mode(seen),
    )


def _of_database(file: Path) -> Fingerprint:
    main, header = _peek(file, _HEADER_BYTES)
    wal, wal_header = _peek_sidecar(file, "-wal", _WAL_HEADER_BYTES)
    _, shm = _peek_sidecar(file, "-shm", _SHM_BYTES)
    journal, _ = _peek_sidecar(file, "-journal", 0)
    is_sqlite = len(header) == _HEADER_BYTES and header.startswith(_MAGIC)
    return Fingerprint(
        main=main,
        header=(header[18:20] + header[24:28]).hex() if is_sqlite else "",
        wal=wal,
        wal_header=wal_header.hex(),
        wal_index=shm[16:40].hex(),
        journal=journal,
    )


def _peek_sidecar(file: Path, suffix: str, count: int) -> tuple[FileState | None, bytes]:
    try:
        return _peek(sidecar(file, suffix), count)
    except FileNotFoundError:
        return None, b""


def _peek(file: Path, count: int) -> tuple[FileState, bytes]:
    """The state of a file and its first bytes, both of the same file even if it is being replaced."""
    with file.open("rb", buffering=0) as opened:
        return _state(os.fstat(opened.fileno())), opened.read(count) or b""


def _state(status: os.stat_result) -> FileState:
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
