"""Captures a database from a copy of its files, made without any lock and checked for changes (specs/capture.md).

For what must not be opened where it lies: SQLite would have to roll a journal back, or to build a ``-shm`` beside it.
"""

import os
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from archiver.model import Role
from archiver.source.job import Job
from archiver.source.pages import begin, deliver
from archiver.source.raw import open_raw
from archiver.source.scratch import copy, writing
from archiver.source.setback import on_copy
from archiver.source.state import SUFFIXES, sidecar


def copied(job: Job) -> None:
    """Copy the database with its ``-wal`` and ``-journal``, and capture the copy."""
    job.hold_still()
    scratch = job.policy.scratch
    with writing(scratch):
        scratch.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(prefix="capture-", dir=scratch, ignore_cleanup_errors=True)
    with folder:
        main = Path(folder.name) / "database"
        stats = _copy_all(job, main)
        job.check_unchanged()
        job.step(f"copied {', '.join(stats)} without a lock; nothing changed meanwhile")
        _take_raw(job, main, stats)
        _take_database(job, main)


def _copy_all(job: Job, main: Path) -> dict[Role, os.stat_result]:
    """What ``stat`` said of each file that was copied."""
    return {role: _copy_one(job, role, main) for role in (Role.MAIN, *job.sidecars())}


def _copy_one(job: Job, role: Role, main: Path) -> os.stat_result:
    with open_raw(sidecar(job.source.file, SUFFIXES[role])) as file:
        return copy(file, sidecar(main, SUFFIXES[role]))


def _take_raw(job: Job, main: Path, stats: dict[Role, os.stat_result]) -> None:
    """Take the raw bytes first: opening the copy rolls its journal back."""
    for role, status in stats.items():
        if role is Role.MAIN and not job.policy.evidence:
            continue
        with open_raw(sidecar(main, SUFFIXES[role])) as file:
            job.take_raw(role, file, status)


def _take_database(job: Job, main: Path) -> None:
    # The raw bytes are taken; a -shm that lies there now would only be in SQLite's way.
    sidecar(main, "-shm").unlink(missing_ok=True)
    with ExitStack() as stack:
        with on_copy():
            connection = stack.enter_context(
                closing(apsw.Connection(str(main), flags=apsw.SQLITE_OPEN_READWRITE))
            )
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        snapshot = begin(connection, on_copy, has_wal=job.before.wal is not None)
        job.page_bytes = snapshot.page_bytes
        part = job.part(Role.DATABASE, snapshot.page_bytes)
        job.keep(Role.DATABASE, part, deliver(snapshot, part, job.tick))
