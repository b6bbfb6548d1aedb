"""Take a snapshot: capture every source that may have changed, carry over the others, commit."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from archiver import __version__
from archiver.errors import ArchiveError, SourceError
from archiver.image.receive import Receiver
from archiver.layout.manifest import PATCHES, SPLIT_LEAVES, Manifest, SourceEntry, Stats
from archiver.model import Method, Role, SnapshotId
from archiver.monitor import Monitor, Problem
from archiver.ops.verify_trees import TreeChecker
from archiver.repo import snapshots
from archiver.repo.archive import Archive
from archiver.repo.packer import Packer
from archiver.repo.reader import Reader
from archiver.repo.snapshots import Snapshot
from archiver.source.capture import Policy, capture
from archiver.source.find import Found, Places, find
from archiver.source.state import fingerprint
from archiver.source.walk import Source


class Request(msgspec.Struct, frozen=True):
    """What to capture, and as whom.

    Attributes:
        places: Where to look.
        policy: How to capture; says whether raw files are taken as evidence.
        host: The machine's name.
        user: Who runs the program.
        tags: Words for people to find the snapshot by.
        now_ms: The clock, in milliseconds since 1970 UTC.
    """

    places: Places
    policy: Policy
    host: str
    user: str
    now_ms: Callable[[], int]
    tags: tuple[str, ...] = ()


class SourceResult(NamedTuple):
    """What became of one source: ``captured``, ``unchanged``, ``raw`` or ``failed`` (which has no entry)."""

    source: Source
    status: str
    entry: SourceEntry | None


class Taken(NamedTuple):
    """A committed snapshot."""

    snapshot: Snapshot
    results: list[SourceResult]
    stored_bytes: int


def take(archive: Archive, request: Request, monitor: Monitor) -> Taken:
    """Take a snapshot.

    Problems of single sources are told to ``monitor`` and kept in the snapshot; they never stop the others.

    Raises:
        SourceError: Nothing at all was found.
        StorageError: The archive cannot be written; nothing that was stored before is touched.
    """
    began = time.monotonic()
    started_ms = request.now_ms()
    problems = _Problems(monitor)
    found = find(request.places)
    for problem in found.problems:
        problems.problem(problem)
    if not found.sources:
        raise SourceError(
            f"Cursor keeps nothing in {request.places.home}",
            hint="name the home folder: --home DIR, or --cursor-user-dir DIR",
        )
    lost = _forget_lost_packs(archive, problems)
    before, parent = last_entries(archive, request.host, str(request.places.home), problems)
    if lost:
        before = _still_whole(archive, before)
    with archive.packer() as packer:
        run = _Run(packer, archive.reader, before, request, problems)
        results = list(run.capture_all(found))
        entries = [result.entry for result in results if result.entry is not None]
        lists = snapshots.put_entries(packer, entries)
        packer.flush()
        written = packer.written
    stats = Stats(
        read_bytes=sum(_read_bytes(result) for result in results),
        image_bytes=sum(entry.image.size_bytes for entry in entries),
        new_blobs=written.blob_count,
        new_plain_bytes=written.plain_bytes,
        stored_bytes=written.stored_bytes,
        seconds=round(time.monotonic() - began, 3),
    )
    manifest = Manifest(
        started_ms=started_ms,
        finished_ms=request.now_ms(),
        host=request.host,
        user=request.user,
        home=str(request.places.home),
        tool=f"archive {__version__}",
        sources=lists,
        parent=parent,
        roots=found.roots,
        tags=request.tags,
        problems=tuple(problems.found),
        stats=stats,
        evidence=request.policy.evidence,
        features=(SPLIT_LEAVES, PATCHES),
    )
    snapshot_id, manifest_bytes = snapshots.commit(archive, manifest)
    return Taken(Snapshot(snapshot_id, manifest), results, stats.stored_bytes + manifest_bytes)


class _Problems:
    """Passes everything on, and keeps the problems for the manifest."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self.found: list[Problem] = []
        self.begin = monitor.begin
        self.advance = monitor.advance
        self.note = monitor.note

    def problem(self, problem: Problem) -> None:
        self.found.append(problem)
        self._monitor.problem(problem)


def last_entries(
    archive: Archive, host: str, home: str, monitor: Monitor
) -> tuple[dict[str, SourceEntry], SnapshotId | None]:
    """The entries of the last snapshot of ``home`` on ``host``, by path, and that snapshot's id."""
    loaded = snapshots.load_all(archive)
    for error in loaded.damage:
        monitor.problem(Problem("snapshot-unreadable", str(error)))
    same = [found for found in loaded.snapshots if (found.manifest.host, found.manifest.home) == (host, home)]
    if not same:
        return {}, None
    parent = same[-1]
    try:
        return {
            entry.path: entry for entry in snapshots.entries(archive, parent.manifest)
        }, parent.snapshot_id
    except ArchiveError as error:
        monitor.problem(Problem("snapshot-unreadable", str(error)))
        return {}, parent.snapshot_id


def unchanged(source: Source, entry: SourceEntry, *, evidence: bool) -> bool:
    """Whether an earlier capture still stands: same state, all roles that are asked for, no problem but the bytes' own."""
    lacking = bool(entry.problems) and entry.method is not Method.RAW
    if not entry.settled or lacking or (evidence and not _has_evidence(entry)):
        return False
    try:
        return fingerprint(source) == entry.fingerprint
    except SourceError:
        return False


def _forget_lost_packs(archive: Archive, monitor: Monitor) -> bool:
    """Whether packs are gone; what they held must then be stored again."""
    lost = archive.lost_packs()
    for pack in lost:
        message = f"pack {pack} is missing or cut off; what is still in the home is stored again"
        monitor.problem(Problem("pack-lost", message))
    return bool(lost)


def _still_whole(archive: Archive, entries: dict[str, SourceEntry]) -> dict[str, SourceEntry]:
    """The entries that no lost pack hit: only these may be carried over."""
    checker = TreeChecker(archive.reader, archive.index, ())
    return {path: entry for path, entry in entries.items() if checker.is_sound(entry)}


class _Run(NamedTuple):
    """What the captures of one snapshot share."""

    packer: Packer
    reader: Reader
    before: dict[str, SourceEntry]
    request: Request
    problems: _Problems

    def capture_all(self, found: Found) -> Iterator[SourceResult]:
        """Capture what changed, and carry over the rest."""
        self.problems.begin("capturing", sum(_size(source.file) for source in found.sources))
        for source in found.sources:
            entry = self.before.get(source.path)
            if entry is not None and unchanged(source, entry, evidence=self.request.policy.evidence):
                self.problems.advance(_size(source.file), source.path)
                for problem in entry.problems:
                    self.problems.problem(problem)
                yield SourceResult(source, "unchanged", entry)
            else:
                yield self._capture(source)

    def _capture(self, source: Source) -> SourceResult:
        before = self._entry_before(source.path)
        earlier = {} if before is None else before.images
        receiver = Receiver(self.packer, self.reader, paged=source.sqlite, earlier=earlier)
        try:
            captured = capture(source, receiver, self.request.policy, self.problems)
        except SourceError as error:
            self.problems.problem(Problem("source-failed", str(error), source.path))
            return SourceResult(source, "failed", None)
        for problem in captured.problems:
            self.problems.problem(problem)
        entry = SourceEntry(
            store=source.store,
            path=source.path,
            method=captured.method,
            captured_ms=captured.started_ms,
            duration_ms=captured.duration_ms,
            fingerprint=captured.fingerprint,
            settled=captured.settled,
            images={role: receiver.images[role] for role in captured.roles},
            raw=captured.raw,
            steps=captured.steps,
            problems=captured.problems,
        )
        return SourceResult(source, "raw" if captured.method is Method.RAW else "captured", entry)

    def _entry_before(self, path: str) -> SourceEntry | None:
        """The earlier entry of a source; for a new ``.backup`` or ``.corrupted.<ms>`` that of what it is a copy of."""
        start = path.rfind("/") + 1
        while path not in self.before:
            dot = path.rfind(".", start)
            if dot <= start:
                return None
            path = path[:dot]
        return self.before[path]


def _has_evidence(entry: SourceEntry) -> bool:
    return Role.MAIN in entry.images or Role.FILE in entry.images


def _read_bytes(result: SourceResult) -> int:
    if result.entry is None or result.status == "unchanged":
        return 0
    return sum(image.size_bytes for image in result.entry.images.values())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
