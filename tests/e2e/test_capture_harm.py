"""What a capture does to its source: nothing, in whatever state the source is and however the capture ends."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import pytest

from archiver.errors import SourceError
from archiver.model import Method, Role
from archiver.source.state import sidecar
from tests.support import writer
from tests.support.capturing import commits, database, take
from tests.support.received import Kept, Received

_NOBODY = 65534


def _clean_wal(file):
    writer.prepare(file, "wal")


def _left_wal(file):
    writer.prepare(file, "wal")
    writer.killed(file, "leave")


def _wal_without_shm(file):
    _left_wal(file)
    sidecar(file, "-shm").unlink()


def _useless_shm(file):
    _left_wal(file)
    sidecar(file, "-shm").write_bytes(b"")


def _wal_of_nothing(file):
    _left_wal(file)
    file.write_bytes(b"")


def _cut_off_wal(file):
    _left_wal(file)
    os.truncate(file, 5000)


def _clean_rollback(file):
    writer.prepare(file)


def _hot_journal(file):
    writer.prepare(file)
    writer.killed(file, "spill")


def _journal_of_nothing(file):
    _hot_journal(file)
    file.write_bytes(b"")


def _not_sqlite(file):
    file.write_bytes(b"\x8f" * 5000)


STATES = [
    _clean_wal,
    _left_wal,
    _wal_without_shm,
    _useless_shm,
    _wal_of_nothing,
    _cut_off_wal,
    _clean_rollback,
    _hot_journal,
    _journal_of_nothing,
    _not_sqlite,
]


@pytest.fixture
def scratch(tmp_path):
    return tmp_path / "scratch"


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder / "store.db"


def seen(folder):
    """All that can be seen of a folder's files but when they were read."""
    files = {path.name: (path.stat(), path.read_bytes()) for path in folder.iterdir()}
    return {
        name: (
            status.st_ino,
            status.st_mode,
            status.st_uid,
            status.st_mtime_ns,
            hashlib.sha256(data).digest(),
        )
        for name, (status, data) in files.items()
    } | {".": folder.stat().st_mtime_ns}


def changed_at(folder):
    """When each file was last changed in any way, its owner and rights included; without the ``-shm``."""
    return {path.name: path.stat().st_ctime_ns for path in folder.iterdir() if not path.name.endswith("-shm")}


@pytest.mark.spec("CA-1")
@pytest.mark.parametrize("evidence", [False, True])
@pytest.mark.parametrize("prepare", STATES)
def test_a_source_is_as_it_was(file, scratch, prepare, evidence):
    """After a capture the same files are there with the same bytes, times, rights and owners, in every state."""
    prepare(file)
    before = seen(file.parent), changed_at(file.parent)
    captured, _ = take(database(file), scratch, evidence=evidence)
    assert captured.roles
    assert (seen(file.parent), changed_at(file.parent)) == before


@pytest.mark.spec("CA-1")
@pytest.mark.parametrize("limits", [{"one_step_bytes": 0}, {"lock_seconds": 0}, {"seconds_per_gb": 0}])
@pytest.mark.parametrize("prepare", [_clean_wal, _left_wal, _clean_rollback, _hot_journal])
def test_a_source_is_as_it_was_by_every_way(file, scratch, prepare, limits):
    """The same where a way is given up for the next one."""
    prepare(file)
    before = seen(file.parent), changed_at(file.parent)
    take(database(file), scratch, **limits)
    assert (seen(file.parent), changed_at(file.parent)) == before


@pytest.mark.spec("CA-2")
@pytest.mark.spec("CA-6")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_no_lock_is_left(file, scratch, mode):
    """Right after a capture another program gets an exclusive lock, and in WAL mode a whole checkpoint."""
    writer.prepare(file, mode)
    if mode == "wal":
        writer.killed(file, "leave")
    take(database(file), scratch)
    _assert_free(file, mode)


@pytest.mark.spec("CA-6")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_no_lock_is_left_when_the_receiver_fails(file, scratch, mode):
    """An error of the receiver reaches the caller as it is, and the database is free."""

    class NoRoomError(Exception):
        pass

    class Failing(Received):
        def part(self, role, page_bytes):
            raise NoRoomError(role, page_bytes)

    writer.prepare(file, mode)
    if mode == "wal":
        writer.killed(file, "leave")
    with pytest.raises(NoRoomError):
        take(database(file), scratch, Failing())
    _assert_free(file, mode)


def _assert_free(file, mode):
    locked, released = writer.run(file, "BEGIN EXCLUSIVE", "ROLLBACK")
    assert (locked, released) == ([], [])
    if mode == "wal":
        assert writer.run(file, "PRAGMA wal_checkpoint(TRUNCATE)") == [[[0, 0, 0]]]


class Watching(Received):
    """Asks something in another process each time that bytes of a role arrive."""

    def __init__(self, role, ask):
        super().__init__()
        self._role, self._ask = role, ask
        self.answers = []

    def part(self, role, page_bytes):
        part = super().part(role, page_bytes)
        if role is self._role:
            part.write = self._watched(part)
        return part

    def _watched(self, part):
        def write(offset, data):
            self.answers.append(self._ask())
            Kept.write(part, offset, data)

        return write


@pytest.mark.spec("CA-5")
@pytest.mark.parametrize("role", [Role.DATABASE, Role.WAL, Role.MAIN, Role.SHM])
def test_the_read_transaction_protects_all_that_is_read(file, scratch, role):
    """Until the last raw byte is read, nobody can leave WAL mode or start the -wal anew; writers go on meanwhile."""
    _left_wal(file)
    statements = (
        "PRAGMA journal_mode=delete",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "CREATE TABLE IF NOT EXISTS t(a)",
    )
    watching = Watching(role, lambda: writer.run(file, *statements))
    captured, _ = take(database(file), scratch, watching, evidence=True)
    assert captured.method is Method.BACKUP
    for leaves, (checkpoint,), writes in watching.answers:
        assert leaves == "database is locked"
        assert checkpoint[0] == 1
        assert writes == []


@pytest.mark.spec("CA-3")
@pytest.mark.parametrize("role", [Role.DATABASE, Role.MAIN])
def test_no_lock_while_the_receiver_is_fed(file, scratch, role):
    """In rollback mode a receiver gets its bytes when another program can already commit."""
    writer.prepare(file)
    watching = Watching(role, lambda: writer.run(file, "UPDATE sums SET total = total + 1"))
    captured, _ = take(database(file), scratch, watching, evidence=True)
    assert captured.method is Method.BACKUP_STEP
    assert watching.answers
    assert all(answer == [[]] for answer in watching.answers)


@pytest.mark.spec("CA-1")
@pytest.mark.parametrize(
    ("prepare", "way", "count"),
    [
        (_clean_wal, Method.IMMUTABLE, 200),
        (_left_wal, Method.BACKUP, 250),
        (_wal_without_shm, Method.COPY, 250),
        (_clean_rollback, Method.BACKUP_STEP, 200),
        (_hot_journal, Method.COPY, 200),
    ],
)
def test_a_folder_that_may_not_be_written(prepare, way, count):
    """A person who may read a database, but write neither it nor its folder, can capture it."""
    with tempfile.TemporaryDirectory() as name:
        file, scratch = Path(name, "home", "store.db"), Path(name, "scratch")
        for folder in (file.parent, scratch):
            folder.mkdir()
        prepare(file)
        before = seen(file.parent)
        with _readable_only(Path(name)), _without_rights():
            captured, received = take(database(file), scratch)
        assert (captured.method, captured.problems) == (way, ())
        assert seen(file.parent) == before
        assert commits(received, scratch) == count


@contextlib.contextmanager
def _readable_only(folder):
    """Everybody may read what lies in a folder, and nobody but root may change it."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o777 if path.name == "scratch" else 0o555 if path.is_dir() else 0o444)
    yield
    for path, mode in modes.items():
        path.chmod(mode)


@contextlib.contextmanager
def _without_rights():
    """Be another user if we are root, whom no permission stops."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(_NOBODY)
    yield
    if user == 0:
        os.seteuid(0)


@pytest.mark.spec("SO-42")
def test_a_source_that_may_not_be_read_is_an_error(tmp_path, scratch):
    """A source in the way of which the system stands is an error that names it, and not an empty capture."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match="folder"):
        take(database(tmp_path / "folder"), scratch)
