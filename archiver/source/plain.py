"""Captures files as they are: what is not SQLite, and what SQLite cannot read (specs/capture.md)."""

from archiver.model import Role
from archiver.source.job import Job
from archiver.source.raw import open_raw
from archiver.source.setback import UnsettledError
from archiver.source.state import SUFFIXES, sidecar


def read(job: Job) -> None:
    """Capture a plain file."""
    _take(job, [Role.FILE])


def raw(job: Job) -> None:
    """Capture the bytes of what should be a database, with all that lies beside it."""
    sidecars = job.sidecars()
    # SQLite makes an empty file before it writes the first page, and others leave it at that.
    if not job.before.header and (job.before.main.size_bytes > 0 or sidecars):
        job.problem("not-a-database", "its bytes are not an SQLite database; they were captured as they are")
    _take(job, [Role.FILE, *sidecars])


def _take(job: Job, roles: list[Role]) -> None:
    for role in roles:
        with open_raw(sidecar(job.source.file, SUFFIXES[role])) as file:
            job.take_raw(role, file)
    if job.changes():
        if not job.last:
            raise UnsettledError(job.changed_meanwhile())
        job.problem("source-changed", "it changed each time it was read; what was read last was captured")
    job.step(f"read as it is; {job.changed_meanwhile()}")
