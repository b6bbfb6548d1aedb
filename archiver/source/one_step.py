"""Captures a small database in rollback mode: at once, under a lock that is gone before a writer notices.

In this mode a reader keeps writers from committing, and an editor that cannot write when it starts throws its database
away. So nothing slow happens under the lock: the file is in memory before, and the receiver is fed after.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from io import FileIO

from archiver.model import Method, RawFile, Role
from archiver.source.guard import open_live
from archiver.source.in_place import open_snapshot
from archiver.source.job import Job
from archiver.source.pages import deliver
from archiver.source.raw import chunks, open_raw, pour
from archiver.source.scratch import Spool
from archiver.source.setback import UnfitError, UnsettledError
from archiver.source.state import sidecar


def backup_step(job: Job) -> None:
    """Capture under one short lock; a lock that would last too long is let go."""
    scratch = job.policy.scratch
    with closing(Spool(scratch)) as pages, closing(Spool(scratch)) as main:
        size_bytes, raw = _read_under_lock(job, pages, main)
        part = job.part(Role.DATABASE, job.page_bytes)
        pages.empty_into(part, job.tick, job.page_bytes)
        job.keep(Role.DATABASE, part, size_bytes)
        if raw is not None:
            part = job.part(Role.MAIN)
            main.empty_into(part, job.tick)
            job.keep_raw(raw, part)
    _take_journal(job)


def _read_under_lock(job: Job, pages: Spool, main: Spool) -> tuple[int, RawFile | None]:
    """Fill both spools; gives the size of the database, and with evidence that of the raw main file."""
    raw = None
    with ExitStack() as stack:
        # Closed after the connection, as in_place says why.
        file = stack.enter_context(open_raw(job.source.file))
        _read_ahead(file, job.before.main.size_bytes)
        snapshot = open_snapshot(job, stack, open_live)
        started = time.monotonic()
        if snapshot.header[19] == 2:
            raise UnsettledError("it went over to WAL meanwhile")
        limit = _limit(started, job.policy.lock_seconds)
        size_bytes = deliver(snapshot, pages, limit)
        if job.policy.evidence:
            raw = pour(file, Role.MAIN, main, limit)
    held_ms = round((time.monotonic() - started) * 1000)
    job.step(f"read-only, one lock of {held_ms} ms; {job.changed_meanwhile()}")
    return size_bytes, raw


def _read_ahead(main: FileIO, size_bytes: int) -> None:
    """Have the system read the file from its disk now, and not while the lock is held."""
    for _ in chunks(main, size_bytes):
        pass


def _limit(started: float, seconds: float) -> Callable[[int], None]:
    def check(_: int) -> None:
        if time.monotonic() - started > seconds:
            raise UnfitError(Method.COPY, f"a lock would last longer than {seconds} s")

    return check


def _take_journal(job: Job) -> None:
    """Take a journal that lies there from before, with the older content of its pages.

    One that comes and goes belongs to a transaction under way, and holds only pages that the image has as they were.
    """
    if Role.JOURNAL not in job.sidecars():
        return
    with suppress(UnsettledError), open_raw(sidecar(job.source.file, "-journal")) as file:
        job.take_raw(Role.JOURNAL, file)
    if "journal" in job.changes():
        job.drop(Role.JOURNAL)
        job.step("the -journal belongs to a transaction under way, and was left")
