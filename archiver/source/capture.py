"""Captures one source consistently, without ever harming it (specs/capture.md)."""

import time
from collections.abc import Callable

import msgspec

from archiver.errors import SourceError
from archiver.model import Fingerprint, Method, RawFile, Role
from archiver.monitor import Monitor, Problem
from archiver.source.copied import copied
from archiver.source.in_place import backup, immutable
from archiver.source.job import Job, Policy
from archiver.source.one_step import backup_step
from archiver.source.plain import raw, read
from archiver.source.receiver import Part, Receiver
from archiver.source.scratch import has_room
from archiver.source.setback import UnfitError, UnsettledError
from archiver.source.state import journal_mode
from archiver.source.walk import Source

__all__ = ["Capture", "Part", "Policy", "RawFile", "Receiver", "capture"]

_WAYS: dict[Method, Callable[[Job], None]] = {
    Method.BACKUP: backup,
    Method.BACKUP_STEP: backup_step,
    Method.IMMUTABLE: immutable,
    Method.COPY: copied,
    Method.READ: read,
    Method.RAW: raw,
}
_IN_PLACE = frozenset({Method.BACKUP, Method.BACKUP_STEP, Method.IMMUTABLE})


class Capture(msgspec.Struct, frozen=True):
    """What was captured of one source, how, and what is to be said about it.

    Attributes:
        method: How.
        roles: The parts that were finished.
        started_ms: Start, in milliseconds since 1970 (UTC).
        duration_ms: From the start to the end of the last part.
        fingerprint: From before the first byte was read.
        settled: An equal fingerprint later on proves that nothing changed.
        journal_mode: ``wal`` or ``delete`` by the header, if there is one.
        page_bytes: The database's page size, and 0 for what was not read as a database.
        raw: Evidence of every file that was read as it is.
        steps: What was done, in order: how it was opened, for how long, what changed beside it.
        problems: What the person must hear of; left to the caller to report.
    """

    method: Method
    roles: tuple[Role, ...]
    started_ms: int
    duration_ms: int
    fingerprint: Fingerprint
    settled: bool
    journal_mode: str | None
    page_bytes: int
    raw: tuple[RawFile, ...]
    steps: tuple[str, ...]
    problems: tuple[Problem, ...]


def capture(source: Source, receiver: Receiver, policy: Policy, monitor: Monitor) -> Capture:
    """Give a source's bytes, as they were at one moment, to a receiver.

    Raises:
        SourceError: Nothing could be captured.
    """
    job = Job(source, receiver, policy, monitor)
    started_ns = time.time_ns()
    started = time.monotonic()
    method = _run(job)
    roles = job.finish()
    return Capture(
        method=method,
        roles=roles,
        started_ms=started_ns // 1_000_000,
        duration_ms=round((time.monotonic() - started) * 1000),
        fingerprint=job.before,
        settled=job.settled,
        journal_mode=journal_mode(job.before),
        page_bytes=job.page_bytes,
        raw=tuple(job.raw),
        steps=tuple(job.steps),
        problems=tuple(job.problems),
    )


def _run(job: Job) -> Method:
    """Try the way that fits, and where it fails the next one: in place, from a copy, as raw bytes."""
    instead: Method | None = None
    while True:
        try:
            return _try(job, instead)
        except UnfitError as setback:
            instead = setback.instead
            if instead is Method.RAW:
                job.problem(
                    "corrupt-database", f"it was captured as it is, since it cannot be read by {setback}"
                )


def _try(job: Job, instead: Method | None) -> Method:
    """Try one way until the source holds still.

    Raises:
        UnfitError: Another way must be gone.
        SourceError: It never held still.
    """
    for number in range(job.policy.tries):
        if number:
            time.sleep(job.policy.pause_seconds * 2 ** (number - 1))
        job.begin(last=number == job.policy.tries - 1)
        method = instead or _way(job)
        try:
            _WAYS[method](job)
        except UnsettledError as setback:
            reason = str(setback)
            job.step(f"{method}: {reason}")
        except UnfitError as setback:
            job.step(f"{method}: {setback}")
            raise
        else:
            return method
    raise _exhausted(job, method, reason)


def _exhausted(job: Job, method: Method, reason: str) -> UnfitError | SourceError:
    """What follows when all tries in one way found the source busy."""
    if method in _IN_PLACE:
        job.problem("source-busy", f"it was in use each time ({reason}); it was copied without holding it")
        return UnfitError(Method.COPY, reason)
    message = f"{job.source.path} did not hold still in {job.policy.tries} tries ({reason})"
    return SourceError(message, hint="try again when Cursor is idle or closed")


def _way(job: Job) -> Method:
    """The way that fits what the source looks like."""
    seen = job.before
    if not job.source.sqlite:
        return Method.READ
    if not seen.header:
        return Method.RAW
    if seen.wal is not None:
        return Method.BACKUP if seen.wal_index else Method.COPY
    if journal_mode(seen) == "delete" and seen.main.size_bytes <= job.policy.one_step_bytes:
        return Method.BACKUP_STEP
    return _way_without_locks(job)


def _way_without_locks(job: Job) -> Method:
    seen = job.before
    if seen.journal is not None:
        return Method.COPY
    if journal_mode(seen) == "wal" or not has_room(job.policy.scratch, seen.main.size_bytes):
        return Method.IMMUTABLE
    return Method.COPY
