"""What an hour of chats, a VACUUM and a copy cost, on a database of the size and shape of a real one."""

import shutil
from pathlib import Path

import apsw
import pytest
import zstandard

from archiver.image import read
from archiver.storage.local import LocalStorage
from tests.support import truth
from tests.support.archives import TestedArchive
from tests.support.samplehome.bulk import hour_of_work, make_global_db, vacuum

pytestmark = pytest.mark.slow

SIZE_BYTES = 150_000_000
MIB = 1 << 20


class Growing:
    """A home with one global database, and its archive."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.database = self.home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
        self.database.parent.mkdir(parents=True)
        make_global_db(self.database, target_bytes=SIZE_BYTES, seed=1)
        self.tested = TestedArchive(LocalStorage(folder / "repo"), folder / "scratch")

    def snapshot(self) -> int:
        """Stored bytes of a snapshot, which must hold the database (but for the header's counters, [CA-22])."""
        taken = self.tested.take(self.home)
        with self.tested.open() as opened:
            for entry in self.tested.entries(taken.snapshot):
                captured = b"".join(read.join(opened.reader, entry.image))
                assert truth.uncounted(captured) == truth.uncounted((self.home / entry.path).read_bytes())
        return taken.stored_bytes

    def rows(self) -> dict[str, bytes]:
        connection = apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = connection.execute(
                "SELECT key, CAST(value AS BLOB) FROM cursorDiskKV WHERE value NOT NULL"
            )
            return dict(found.fetchall())
        finally:
            connection.close()


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory) -> Growing:
    return Growing(tmp_path_factory.mktemp("sizes"))


def _compressed(values: list[bytes]) -> int:
    joined = b"".join(values)
    return sum(
        len(zstandard.compress(joined[start : start + MIB], 3)) for start in range(0, len(joined), MIB)
    )


def test_hours_vacuum_and_copies(growing):
    """Each hour stores at most 3 times its compressed new rows; VACUUM at most a sixth of the first snapshot; a copy 64 KiB."""
    first_bytes = growing.snapshot()
    for hour in range(3):
        before = growing.rows()
        hour_of_work(growing.database, seed=hour)
        new = [value for key, value in growing.rows().items() if key not in before]
        assert growing.snapshot() <= 3 * _compressed(new)
    shutil.copy(growing.database, growing.database.with_name("state.vscdb.backup"))
    shutil.copy(growing.database, growing.database.with_name("state.vscdb.corrupted.1777000000000"))
    assert growing.snapshot() <= 64 << 10
    vacuum(growing.database)
    assert growing.snapshot() <= first_bytes / 6
