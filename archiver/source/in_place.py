"""Captures a database where it lies, through SQLite and read-only (specs/capture.md).

Closing any descriptor of a file drops all POSIX locks that this process holds on it, those of SQLite's connection
included: the read transaction would go on without protection. Raw bytes are therefore read from descriptors that are
opened before the connection and closed after it.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from io import FileIO
from pathlib import Path

import apsw

from archiver.model import Method, Role
from archiver.source.guard import open_immutable, open_live
from archiver.source.job import Job
from archiver.source.pages import Snapshot, begin, deliver
from archiver.source.raw import open_raw, reading
from archiver.source.setback import UnfitError, on_live_database
from archiver.source.state import SUFFIXES, sidecar

_WAL_HEADER_BYTES = 32
_EVIDENCE = (Role.MAIN, Role.SHM)


def backup(job: Job) -> None:
    """Capture a WAL database under one read transaction, which blocks nobody."""
    with ExitStack() as stack:
        wal = _open_file(job, stack, Role.WAL)
        evidence = {role: _open_file(job, stack, role) for role in _EVIDENCE if job.policy.evidence}
        snapshot = open_snapshot(job, stack, open_live)
        started = time.monotonic()
        part = job.part(Role.DATABASE, snapshot.page_bytes)
        job.keep(Role.DATABASE, part, deliver(snapshot, part, _budget(job, wal, started)))
        _take_wal(job, wal)
        for role, file in evidence.items():
            job.take_raw(role, file)
    held_ms = round((time.monotonic() - started) * 1000)
    job.step(f"read-only, one read transaction of {held_ms} ms; {job.changed_meanwhile()}")


def immutable(job: Job) -> None:
    """Capture a database that nobody has open: without any lock, and checked for changes."""
    job.hold_still()
    with ExitStack() as stack:
        main = _open_file(job, stack, Role.MAIN)
        snapshot = open_snapshot(job, stack, open_immutable)
        part = job.part(Role.DATABASE, snapshot.page_bytes)
        job.keep(Role.DATABASE, part, deliver(snapshot, part, job.tick))
        if job.policy.evidence:
            job.take_raw(Role.MAIN, main)
    job.check_unchanged()
    job.step("read-only, without a lock; nothing changed meanwhile")


def open_snapshot(job: Job, stack: ExitStack, opener: Callable[[Path], apsw.Connection]) -> Snapshot:
    """Open the source's database and a read transaction on it; the stack closes both."""
    with on_live_database():
        connection = stack.enter_context(closing(opener(job.source.file)))
    snapshot = begin(connection, on_live_database, has_wal=job.before.wal is not None)
    job.page_bytes = snapshot.page_bytes
    return snapshot


def _open_file(job: Job, stack: ExitStack, role: Role) -> FileIO:
    return stack.enter_context(open_raw(sidecar(job.source.file, SUFFIXES[role])))


def _budget(job: Job, wal: FileIO, started: float) -> Callable[[int], None]:
    """Reports progress, and gives up when the read transaction costs the writers too much."""
    seconds = job.policy.seconds_per_gb * max(1.0, job.before.main.size_bytes / 1e9)
    limit_bytes = os.fstat(wal.fileno()).st_size + job.policy.wal_growth_bytes

    def check(done_bytes: int) -> None:
        job.tick(done_bytes)
        if time.monotonic() - started > seconds:
            _give_up(job, f"reading it took longer than {seconds:.0f} s")
        if os.fstat(wal.fileno()).st_size > limit_bytes:
            _give_up(job, f"its -wal grew by more than {job.policy.wal_growth_bytes} bytes meanwhile")

    return check


def _give_up(job: Job, reason: str) -> None:
    job.problem("source-busy", f"{reason}; it was let go, and copied without holding it")
    raise UnfitError(Method.COPY, reason)


def _take_wal(job: Job, wal: FileIO) -> None:
    """Take the bytes of the ``-wal`` under the read transaction.

    If all of it is already in the main file, writers may start it anew under our eyes: then again.
    """
    for _ in range(job.policy.tries):
        job.drop(Role.WAL)
        header = _head(wal)
        if not header:
            return
        job.take_raw(Role.WAL, wal)
        if _head(wal) == header:
            return
    job.problem("wal-restarted", "its -wal was started anew while it was read; its raw bytes mix two states")


def _head(wal: FileIO) -> bytes:
    with reading("its -wal"):
        wal.seek(0)
        return wal.read(_WAL_HEADER_BYTES)
