"""Write the images of a snapshot back as files, bit for bit."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from archiver.errors import ArchiveError, SourceError, UserError
from archiver.image import read
from archiver.layout.manifest import Image, SourceEntry
from archiver.model import Role
from archiver.monitor import Monitor, Problem
from archiver.repo.archive import Archive

RAW_FOLDER = "_raw"
SIDECARS = ("-wal", "-shm", "-journal")

_RAW_SUFFIX = {Role.WAL: "-wal", Role.SHM: "-shm", Role.JOURNAL: "-journal", Role.MAIN: ""}


class Written(NamedTuple):
    """One file that was written."""

    source: str
    role: Role
    file: Path
    size_bytes: int


class _Job(NamedTuple):
    entry: SourceEntry
    role: Role
    image: Image
    target: Path


def restore_files(
    archive: Archive,
    entries: list[SourceEntry],
    target: Path,
    monitor: Monitor,
    *,
    overwrite: bool,
    raw: bool,
) -> list[Written]:
    """Write each source's image below ``target``, under the path that it had in the home.

    Every blob is checked while it is read. A file appears under its name only when it is whole. A source whose
    image cannot be read is told to ``monitor`` as a problem and left out; the others are written.

    Args:
        archive: Where the images are.
        entries: What to write.
        target: The folder; made if absent.
        monitor: Hears of progress and problems.
        overwrite: Whether files that exist are replaced, together with their ``-wal``, ``-shm`` and ``-journal``.
        raw: Whether raw files that were captured beside the images are written too, below ``_raw``.

    Raises:
        UserError: Something is in the way; nothing was written.
        SourceError: The target cannot be written.
    """
    jobs = [job for entry in entries for job in _jobs(entry, target, raw=raw)]
    _refuse_ways_out(jobs, target)
    if not overwrite:
        _refuse_existing(jobs)
    monitor.begin("restoring", sum(job.image.size_bytes for job in jobs))
    return list(_write_all(archive, jobs, monitor))


def _jobs(entry: SourceEntry, target: Path, *, raw: bool) -> Iterator[_Job]:
    role = Role.DATABASE if Role.DATABASE in entry.images else Role.FILE
    yield _Job(entry, role, entry.image, target / entry.path)
    if raw:
        for other, image in entry.images.items():
            if other in _RAW_SUFFIX:
                yield _Job(entry, other, image, target / RAW_FOLDER / (entry.path + _RAW_SUFFIX[other]))


def _refuse_ways_out(jobs: list[_Job], target: Path) -> None:
    """A link inside the target must not lead a restored file out of it."""
    root = target.resolve()
    for folder in {job.target.parent for job in jobs}:
        if not folder.resolve().is_relative_to(root):
            raise UserError(
                f"{folder} leads out of {target} through a symbolic link", hint="restore into an empty folder"
            )


def _refuse_existing(jobs: list[_Job]) -> None:
    for job in jobs:
        for path in (job.target, *_stale(job)):
            if path.exists() or path.is_symlink():
                raise UserError(
                    f"{path} exists already; nothing was written",
                    hint="restore into an empty folder, or add --overwrite",
                )


def _stale(job: _Job) -> list[Path]:
    """The files that SQLite would take for part of the restored database."""
    return [Path(f"{job.target}{suffix}") for suffix in SIDECARS] if job.role is Role.DATABASE else []


def _write_all(archive: Archive, jobs: list[_Job], monitor: Monitor) -> Iterator[Written]:
    for job in jobs:
        try:
            _write(archive, job, monitor)
        except OSError as error:
            raise SourceError(f"cannot write {job.target}: {error.strerror or error}") from error
        except ArchiveError as error:
            monitor.problem(Problem("source-unreadable", f"not restored: {error}", job.entry.path))
            continue
        yield Written(job.entry.path, job.role, job.target, job.image.size_bytes)


def _write(archive: Archive, job: _Job, monitor: Monitor) -> None:
    """Write beside the target and rename, so that the target is never half a file."""
    job.target.parent.mkdir(parents=True, exist_ok=True)
    temporary = job.target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with temporary.open("xb") as file:
            for data in read.join(archive.reader, job.image):
                file.write(data)
                monitor.advance(len(data), job.entry.path)
            file.flush()
            os.fsync(file.fileno())
        for path in _stale(job):
            path.unlink(missing_ok=True)
        temporary.replace(job.target)
    finally:
        temporary.unlink(missing_ok=True)
