"""One capture under way: how far it may go, what it works on, and what it has so far."""

import os
import time
from io import FileIO
from pathlib import Path

import msgspec

from archiver.model import Fingerprint, RawFile, Role
from archiver.monitor import Monitor, Problem
from archiver.source.raw import pour
from archiver.source.receiver import Part, Receiver
from archiver.source.setback import UnsettledError
from archiver.source.state import fingerprint, settled
from archiver.source.walk import Source

_CLOCK_STEP_NS = 50_000_000


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How far a capture may go.

    Attributes:
        scratch: A folder for copies; they hold what the source holds, and are removed.
        evidence: Also take the raw main file and ``-shm``.
        seconds_per_gb: How long a read transaction on a WAL database may last; a smaller one has as long as 1 GB.
        wal_growth_bytes: How much the ``-wal`` may grow under our read transaction, which keeps it from being reset.
        one_step_bytes: A larger database in rollback mode is copied without a lock.
        lock_seconds: How long a lock may be held in rollback mode, where it stops writers.
        tries: How often a source that changes or is locked is tried in one way.
        pause_seconds: The first pause between tries; each further one is twice as long.
    """

    scratch: Path
    evidence: bool = False
    seconds_per_gb: float = 60
    wal_growth_bytes: int = 256 << 20
    one_step_bytes: int = 100 << 20
    lock_seconds: float = 0.25
    tries: int = 3
    pause_seconds: float = 0.05


class Job:
    """What one capture works on and what it has so far.

    Attributes:
        before: The fingerprint from before the current try.
        settled: Whether that fingerprint may be trusted later on.
        last: The current try is the last one in its way.
        page_bytes: The database's page size once it is open.
        raw: Evidence of the raw files that are kept.
        steps: What was done, over all tries.
        problems: What the person must hear of, over all tries.
    """

    before: Fingerprint
    settled: bool

    def __init__(self, source: Source, receiver: Receiver, policy: Policy, monitor: Monitor) -> None:
        self.source = source
        self.policy = policy
        self.last = False
        self.page_bytes = 0
        self.raw: list[RawFile] = []
        self.steps: list[str] = []
        self.problems: list[Problem] = []
        self._kept: list[tuple[Role, Part, int]] = []
        self._receiver = receiver
        self._monitor = monitor

    def begin(self, *, last: bool) -> None:
        """Start a try: look at the source, and forget what an earlier try took.

        Raises:
            SourceError: The source is not there (any more), or cannot be read.
        """
        now_ns = time.time_ns()
        self.before = fingerprint(self.source)
        self.settled = settled(self.before, now_ns)
        self.last = last
        self.page_bytes = 0
        self.raw = []
        self._kept = []

    def sidecars(self) -> list[Role]:
        """The files beside the main one that are there and are kept as they are."""
        there = {
            Role.WAL: self.before.wal is not None and self.before.wal.size_bytes > 0,
            Role.JOURNAL: self.before.journal is not None and self.before.journal.size_bytes > 0,
            Role.SHM: self.policy.evidence and self.before.wal_index != "",
        }
        return [role for role, is_there in there.items() if is_there]

    def part(self, role: Role, page_bytes: int = 0) -> Part:
        """A new part of the receiver's."""
        return self._receiver.part(role, page_bytes)

    def keep(self, role: Role, part: Part, size_bytes: int) -> None:
        """Keep a part that is written; it is finished if the whole try succeeds."""
        self._kept.append((role, part, size_bytes))

    def keep_raw(self, raw: RawFile, part: Part) -> None:
        """Keep a part that holds a file as it is, and the evidence of it."""
        self.keep(raw.role, part, raw.size_bytes)
        self.raw.append(raw)

    def take_raw(self, role: Role, file: FileIO, status: os.stat_result | None = None) -> None:
        """Read a file as it is, and keep its bytes and their evidence.

        Args:
            role: Which file it is.
            file: Open, and left open.
            status: ``stat`` of the source, where ``file`` is only a copy of it.
        """
        part = self.part(role)
        self.keep_raw(pour(file, role, part, self.tick, status), part)

    def drop(self, role: Role) -> None:
        """Do not keep a part after all."""
        self._kept = [kept for kept in self._kept if kept[0] is not role]
        self.raw = [raw for raw in self.raw if raw.role is not role]

    def finish(self) -> tuple[Role, ...]:
        """The try succeeded: finish all parts that were kept, and tell which these are."""
        for _, part, size_bytes in self._kept:
            part.finish(size_bytes)
        return tuple(role for role, _, _ in self._kept)

    def tick(self, done_bytes: int) -> None:
        """Report progress."""
        self._monitor.advance(done_bytes, self.source.path)

    def step(self, what: str) -> None:
        """Log what was done."""
        self.steps.append(what)

    def problem(self, code: str, message: str) -> None:
        """Keep a finding; what several tries have in common is said once."""
        problem = Problem(code, message, self.source.path)
        if problem not in self.problems:
            self.problems.append(problem)

    def changes(self) -> list[str]:
        """Which files differ from before the try, by the name of their fingerprint's field.

        Raises:
            SourceError: The source is not there (any more), or cannot be read.
        """
        after = fingerprint(self.source)
        fields = Fingerprint.__struct_fields__
        return [name for name in fields if getattr(after, name) != getattr(self.before, name)]

    def changed_meanwhile(self) -> str:
        """``changes`` as words for the log."""
        return f"changed meanwhile: {', '.join(self.changes()) or 'nothing'}"

    def hold_still(self) -> None:
        """Wait until the last change is older than one step of the clock by which the file system stamps changes.

        Otherwise a change right after the first look could leave the times as they are.

        Raises:
            UnsettledError: It changed while we waited.
        """
        states = (self.before.main, self.before.wal, self.before.journal)
        changed_ns = max(max(state.mtime_ns, state.ctime_ns) for state in states if state is not None)
        if time.time_ns() - changed_ns < _CLOCK_STEP_NS:
            time.sleep(_CLOCK_STEP_NS / 1e9)
            self.check_unchanged()

    def check_unchanged(self) -> None:
        """Raise ``UnsettledError`` if the source is not as it was before the try."""
        if changes := self.changes():
            raise UnsettledError(f"changed meanwhile: {', '.join(changes)}")
