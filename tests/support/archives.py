"""Archives for tests: made, opened and filled without the command line, and without waiting for Argon2 each time."""

from pathlib import Path

from archiver.errors import ArchiveError
from archiver.layout.manifest import SourceEntry
from archiver.monitor import Silent
from archiver.ops import snapshot as operation
from archiver.ops.snapshot import Request, Taken
from archiver.repo import archive, snapshots
from archiver.repo.archive import Archive
from archiver.repo.slots import Unlocked
from archiver.repo.snapshots import Snapshot
from archiver.source.capture import Policy
from archiver.source.find import Places
from archiver.storage.base import Storage

PASSWORD = "a password for tests"


class TestedArchive:
    """One archive, opened as often as a test likes.

    Args:
        storage: Where it is made.
        scratch: A folder for captures.
    """

    __test__ = False

    def __init__(self, storage: Storage, scratch: Path) -> None:
        self.storage = storage
        self.scratch = scratch
        self._clock = iter(range(1_700_000_000_000, 1_800_000_000_000, 1000))
        self.unlocked: Unlocked = archive.create(storage, PASSWORD, None, 1)

    def open(self, storage: Storage | None = None, cache: Path | None = None) -> Archive:
        """Open it, perhaps through another storage that fails on purpose."""
        opened = Archive(storage or self.storage, self.unlocked, cache)
        try:
            opened.refresh_index()
        except ArchiveError:
            opened.index.close()
            raise
        return opened

    def take(
        self, home: Path, storage: Storage | None = None, monitor: Silent | None = None, **policy: object
    ) -> Taken:
        """Take a snapshot of ``home``."""
        with self.open(storage) as opened:
            return operation.take(opened, self.request(home, **policy), monitor or Silent())

    def request(self, home: Path, **policy: object) -> Request:
        self.scratch.mkdir(exist_ok=True)
        return Request(
            places=Places(home=home, env={}, own_home=False),
            policy=Policy(scratch=self.scratch, **policy),
            host="testhost",
            user="tester",
            now_ms=lambda: next(self._clock),
        )

    def snapshots(self) -> list[Snapshot]:
        with self.open() as opened:
            return snapshots.load_all(opened).snapshots

    def entries(self, snapshot: Snapshot) -> list[SourceEntry]:
        with self.open() as opened:
            return list(snapshots.entries(opened, snapshot.manifest))
