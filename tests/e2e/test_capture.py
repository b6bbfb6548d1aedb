"""What a capture gives: the state of one moment, in whatever state the source is."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from archiver.errors import SourceError
from archiver.model import Method, Role
from archiver.monitor import Silent
from archiver.source.find import Places, find
from archiver.source.job import Job, Policy
from archiver.source.scratch import has_room
from archiver.source.setback import UnsettledError
from archiver.source.state import fingerprint, sidecar
from tests.support import sdk_samples, writer
from tests.support.capturing import commits, database, plain, take
from tests.support.received import Kept, Received


@pytest.fixture
def scratch(tmp_path):
    return tmp_path / "scratch"


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder / "store.db"


class Meddling(Received):
    """Lets something happen to the source when the first bytes of a role arrive, once or each time."""

    def __init__(self, role, happens, *, once=True):
        super().__init__()
        self._role, self._happens, self._once = role, happens, once

    def part(self, role, page_bytes):
        part = super().part(role, page_bytes)
        if role is self._role and self._happens:
            part.write = self._meddle(part)
        return part

    def _meddle(self, part):
        def write(offset, data):
            if happens := self._happens:
                self._happens = None if self._once else happens
                happens()
            Kept.write(part, offset, data)

        return write


def checkpointed(file, folder):
    """The bytes that SQLite itself makes of a copy of the source and its sidecars."""
    copy = folder / "checkpointed"
    for suffix in ("", "-wal"):
        if sidecar(file, suffix).exists():
            shutil.copy(sidecar(file, suffix), sidecar(copy, suffix))
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return copy.read_bytes()


def masked(image):
    """An image without the counters that the backup API sets anew."""
    return image[:24] + bytes(4) + image[28:92] + bytes(8) + image[100:]


@pytest.mark.spec("CA-10")
def test_each_capture_of_a_busy_wal_database_is_a_committed_state(file, scratch, tmp_path):
    """Under a writer that commits every few ms, each image is one committed state, and a later one than the last."""
    writer.prepare(file, "wal")
    with writer.at_work(file, "commit", "wal") as process:
        seen = []
        while len(set(seen)) < 5:
            assert process.poll() is None
            captured, received = take(database(file), scratch)
            assert (captured.method, captured.problems) == (Method.BACKUP, ())
            seen.append(commits(received, tmp_path))
    assert seen == sorted(seen)
    assert 200 < seen[0] < seen[-1] <= writer.commits(file)


@pytest.mark.spec("CA-12")
def test_each_capture_of_a_busy_rollback_database_is_a_committed_state(file, scratch, tmp_path):
    """As above in rollback mode, where the writer goes on too."""
    writer.prepare(file)
    with writer.at_work(file, "commit", "delete") as process:
        seen = []
        while len(set(seen)) < 5:
            assert process.poll() is None
            captured, received = take(database(file), scratch, tries=20)
            assert (captured.method, captured.problems) == (Method.BACKUP_STEP, ())
            seen.append(commits(received, tmp_path))
    assert seen == sorted(seen)
    assert 200 < seen[0] < seen[-1] <= writer.commits(file)


@pytest.mark.spec("CA-22")
@pytest.mark.parametrize("page_bytes", [512, 4096, 65536])
@pytest.mark.parametrize("auto_vacuum", [0, 1, 2])
@pytest.mark.parametrize("mode", ["wal", "left", "delete"])
def test_an_image_is_the_checkpointed_database(file, scratch, tmp_path, mode, auto_vacuum, page_bytes):
    """For all page sizes and vacuum modes an image is what SQLite's checkpoint makes of the files, twice the same."""
    writer.prepare(file, "delete" if mode == "delete" else "wal", page_bytes, auto_vacuum)
    if mode == "left":
        writer.killed(file, "leave")
    captured, received = take(database(file), scratch)
    image = received.files[Role.DATABASE]
    if mode == "left":
        assert masked(image) == masked(checkpointed(file, tmp_path))
    else:
        assert image == file.read_bytes()
    assert captured.page_bytes == page_bytes
    assert take(database(file), scratch)[1].files == received.files


@pytest.mark.spec("CA-10")
def test_a_database_that_lies_in_its_wal_is_captured(file, scratch, tmp_path):
    """A main file of one page and everything in the -wal gives the whole database, and the raw -wal."""
    with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("CREATE TABLE t(a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 1000,)] * 100)
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(sidecar(tmp_path / "other.db", suffix), sidecar(file, suffix))
    captured, received = take(database(file), scratch)
    assert (file.stat().st_size, captured.method) == (4096, Method.BACKUP)
    assert received.files[Role.WAL] == sidecar(file, "-wal").read_bytes()
    (tmp_path / "image").write_bytes(received.files[Role.DATABASE])
    with closing(sqlite3.connect(tmp_path / "image")) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (100,)


@pytest.mark.spec("CA-10")
@pytest.mark.parametrize("live", [False, True])
def test_writers_that_come_meanwhile_are_not_seen(file, scratch, tmp_path, live):
    """Commits after the first block do not show, whether the database was open or left by a dead program."""
    writer.prepare(file, "wal")
    writer.run(file, "INSERT INTO pairs(n, filler) VALUES (0, randomblob(5000000))")
    come = Meddling(Role.DATABASE, lambda: writer.killed(file, "leave"))
    with writer.at_work(file, "leave") as process:
        if not live:
            process.kill()
            process.wait()
        captured, received = take(database(file), scratch, come)
    assert (captured.method, commits(received, tmp_path)) == (Method.BACKUP, 250)
    assert writer.commits(file) == 300


@pytest.mark.spec("CA-11")
def test_a_closed_wal_database_is_captured_without_a_lock(file, scratch, tmp_path):
    """A WAL database without sidecars is read as immutable."""
    writer.prepare(file, "wal")
    captured, received = take(database(file), scratch)
    assert (captured.method, captured.roles) == (Method.IMMUTABLE, (Role.DATABASE,))
    assert commits(received, tmp_path) == 200


@pytest.mark.spec("CA-11")
def test_an_editor_that_starts_meanwhile_is_noticed(file, scratch, tmp_path):
    """What was read of a database that is opened and written meanwhile is thrown away, and read again."""
    writer.prepare(file, "wal")
    starts = Meddling(Role.DATABASE, lambda: writer.killed(file, "leave"))
    captured, received = take(database(file), scratch, starts)
    assert captured.method is Method.BACKUP
    assert commits(received, tmp_path) == 250
    assert any("changed meanwhile" in step for step in captured.steps)


@pytest.mark.spec("CA-13")
def test_a_wal_without_its_shm_is_captured_from_a_copy(file, scratch, tmp_path):
    """Where SQLite would have to make a -shm, a copy is opened, and the commits of the -wal are in the image."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    sidecar(file, "-shm").unlink()
    captured, received = take(database(file), scratch)
    assert captured.method is Method.COPY
    assert commits(received, tmp_path) == 250
    assert received.files[Role.WAL] == sidecar(file, "-wal").read_bytes()


@pytest.mark.spec("CA-13")
def test_a_shm_that_cannot_be_used_leads_to_a_copy(file, scratch, tmp_path):
    """A -shm that another process holds, but whose content makes no sense, is neither believed nor repaired."""
    writer.prepare(file, "wal")
    with writer.at_work(file, "leave"):
        sidecar(file, "-shm").write_bytes(b"\xff" * 32768)
        captured, received = take(database(file), scratch)
    assert captured.method is Method.COPY
    assert commits(received, tmp_path) == 250


@pytest.mark.spec("CA-13")
@pytest.mark.spec("CA-16")
def test_a_hot_journal_is_rolled_back_in_a_copy_only(file, scratch, tmp_path):
    """What a killed program left half written is the last committed state in the image; its journal is kept raw."""
    writer.prepare(file)
    writer.killed(file, "spill")
    journal = sidecar(file, "-journal").read_bytes()
    captured, received = take(database(file), scratch)
    assert captured.method is Method.COPY
    assert commits(received, tmp_path) == 200
    assert received.files[Role.JOURNAL] == journal
    assert list(scratch.iterdir()) == []


@pytest.mark.spec("CA-12")
def test_a_journal_that_stays_is_taken_raw(file, scratch, tmp_path):
    """With journal_mode=persist the older pages in the -journal are captured beside the database."""
    writer.prepare(file, "persist")
    captured, received = take(database(file), scratch)
    assert captured.roles == (Role.DATABASE, Role.JOURNAL)
    assert received.files[Role.JOURNAL] == sidecar(file, "-journal").read_bytes()
    assert commits(received, tmp_path) == 200


@pytest.mark.spec("CA-16")
@pytest.mark.parametrize("doing", ["hold", "spill"])
def test_a_locked_database_is_captured_from_a_copy(file, scratch, tmp_path, doing):
    """A lock that stays is waited for a few times; then the files are copied, and the last committed state is found."""
    writer.prepare(file)
    with writer.at_work(file, doing):
        captured, received = take(database(file), scratch)
    assert captured.method is Method.COPY
    assert [problem.code for problem in captured.problems] == ["source-busy"]
    assert commits(received, tmp_path) == 200


@pytest.mark.spec("CA-16")
@pytest.mark.spec("CA-32")
def test_a_database_that_never_holds_still_is_an_error(file, scratch):
    """If no try finds it unchanged, nothing is claimed, the error says so, and scratch is empty."""
    writer.prepare(file)
    received = Received()
    with (
        writer.at_work(file, "commit", "delete"),
        pytest.raises(SourceError, match="did not hold still"),
    ):
        take(database(file), scratch, received, one_step_bytes=0, tries=1)
    assert received.files == {}
    assert list(scratch.iterdir()) == []


@pytest.mark.spec("CA-3")
@pytest.mark.parametrize("limits", [{"one_step_bytes": 0}, {"lock_seconds": 0}])
def test_no_long_lock_in_rollback_mode(file, scratch, tmp_path, limits):
    """A large database, or one whose lock lasts too long, is copied without a lock."""
    writer.prepare(file)
    captured, received = take(database(file), scratch, **limits)
    assert (captured.method, captured.problems) == (Method.COPY, ())
    assert commits(received, tmp_path) == 200


@pytest.mark.spec("CA-4")
def test_a_read_transaction_that_lasts_too_long_is_let_go(file, scratch, tmp_path):
    """A spent budget of time ends the transaction with a problem, and a copy is captured."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    captured, received = take(database(file), scratch, seconds_per_gb=0)
    assert captured.method is Method.COPY
    assert [problem.code for problem in captured.problems] == ["source-busy"]
    assert commits(received, tmp_path) == 250


@pytest.mark.spec("CA-4")
def test_a_wal_that_grows_too_much_ends_the_read_transaction(file, scratch, tmp_path):
    """Commits under our read transaction beyond the budget end it with a problem, and a copy has them too."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    grows = Meddling(Role.DATABASE, lambda: writer.killed(file, "leave"))
    captured, received = take(database(file), scratch, grows, wal_growth_bytes=10_000)
    assert captured.method is Method.COPY
    assert [problem.code for problem in captured.problems] == ["source-busy"]
    assert commits(received, tmp_path) == 300


@pytest.mark.spec("CA-14")
def test_an_empty_database_is_captured_as_it_is(file, scratch):
    """A file of no bytes, which SQLite makes before the first page, is no problem."""
    file.touch()
    captured, received = take(database(file), scratch)
    assert (captured.method, captured.problems, received.files) == (Method.RAW, (), {Role.FILE: b""})


@pytest.mark.spec("CA-14")
def test_a_wal_of_an_empty_database_is_kept(file, scratch):
    """The -wal beside an empty main file is captured raw; SQLite itself would delete it."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    wal = sidecar(file, "-wal").read_bytes()
    file.write_bytes(b"")
    captured, received = take(database(file), scratch)
    assert [problem.code for problem in captured.problems] == ["not-a-database"]
    assert received.files == {Role.FILE: b"", Role.WAL: wal}


@pytest.mark.spec("CA-14")
@pytest.mark.parametrize("data", [b"{}", b"\x8f" * 5000, b"SQLite format 3\0"])
def test_what_is_not_sqlite_is_captured_as_it_is(file, scratch, data):
    """Other bytes under a database's name, encrypted ones for instance, are kept with a problem."""
    file.write_bytes(data)
    captured, received = take(database(file), scratch)
    assert [problem.code for problem in captured.problems] == ["not-a-database"]
    assert received.files == {Role.FILE: data}
    assert (captured.journal_mode, captured.page_bytes) == (None, 0)


@pytest.mark.spec("CA-14")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_corrupt_database_is_captured_as_it_is(file, scratch, mode):
    """A database that was cut off in the middle is kept byte by byte, with a problem."""
    writer.prepare(file, mode)
    data = file.read_bytes()[: file.stat().st_size // 2 + 100]
    file.write_bytes(data)
    captured, received = take(database(file), scratch)
    assert captured.method is Method.RAW
    assert [problem.code for problem in captured.problems] == ["corrupt-database"]
    assert received.files == {Role.FILE: data}


@pytest.mark.spec("CA-17")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_broken_schema_is_no_obstacle(file, scratch, mode):
    """A schema that SQLite cannot parse is still copied page by page."""
    writer.prepare(file, mode)
    writer.run(file, "PRAGMA writable_schema=on", "UPDATE sqlite_schema SET sql = 'CREATE nonsense'")
    assert "malformed" in str(writer.run(file, "SELECT * FROM sums"))
    captured, received = take(database(file), scratch)
    assert captured.problems == ()
    assert received.files[Role.DATABASE] == file.read_bytes()


@pytest.mark.spec("CA-15")
def test_a_plain_file_is_read(file, scratch):
    """A plain file of several chunks arrives byte by byte."""
    data = b"a line\n" * 500_000
    file.write_bytes(data)
    captured, received = take(plain(file), scratch)
    assert (captured.method, captured.problems, received.files) == (Method.READ, (), {Role.FILE: data})


@pytest.mark.spec("CA-15")
def test_a_plain_file_that_changes_is_read_again(file, scratch):
    """A change while it is read leads to another read, which has the change."""
    file.write_bytes(b"one\n")
    changes = Meddling(Role.FILE, lambda: file.write_bytes(b"one\ntwo\n"))
    captured, received = take(plain(file), scratch, changes)
    assert (captured.problems, received.files) == ((), {Role.FILE: b"one\ntwo\n"})


@pytest.mark.spec("CA-15")
def test_a_plain_file_that_always_changes_is_kept_with_a_problem(file, scratch):
    """What was read last is kept if the file changes each time, and its evidence is of what was read."""
    file.write_bytes(b"one\n")

    def append():
        with file.open("ab") as opened:
            opened.write(b"more\n")

    captured, received = take(plain(file), scratch, Meddling(Role.FILE, append, once=False))
    assert [problem.code for problem in captured.problems] == ["source-changed"]
    assert received.files[Role.FILE] == b"one\nmore\nmore\n"
    assert captured.raw[0].sha256 == hashlib.sha256(b"one\nmore\nmore\n").hexdigest()


@pytest.mark.spec("CA-23")
@pytest.mark.parametrize("as_source", [plain, database])
def test_a_source_that_vanishes_is_an_error(file, scratch, as_source):
    """A file that is deleted while it is read is claimed neither whole nor by halves."""
    file.write_bytes(b"here today\n")
    received = Meddling(Role.FILE, file.unlink)
    with pytest.raises(SourceError, match=r"store\.db"):
        take(as_source(file), scratch, received)
    assert received.files == {}


@pytest.mark.spec("CA-20")
@pytest.mark.spec("CA-24")
@pytest.mark.parametrize("state", ["wal", "left", "delete", "hot"])
def test_evidence_is_every_file_as_it_is(file, scratch, tmp_path, state):
    """With evidence all files of a database are kept raw, each with the hash and times of the file on disk."""
    writer.prepare(file, "wal" if state in {"wal", "left"} else "delete")
    if state in {"left", "hot"}:
        writer.killed(file, "leave" if state == "left" else "spill")
    suffixes = {Role.MAIN: "", Role.WAL: "-wal", Role.SHM: "-shm", Role.JOURNAL: "-journal"}
    files = {
        role: sidecar(file, suffix) for role, suffix in suffixes.items() if sidecar(file, suffix).exists()
    }
    captured, received = take(database(file), scratch, evidence=True)
    assert set(captured.roles) == {Role.DATABASE, *files} == set(received.files)
    assert {role: received.files[role] for role in files} == {
        role: path.read_bytes() for role, path in files.items()
    }
    for raw in captured.raw:
        with files[raw.role].open("rb") as opened:
            assert raw.sha256 == hashlib.file_digest(opened, "sha256").hexdigest()
        status = files[raw.role].stat()
        assert (raw.size_bytes, raw.mtime_ns, raw.mode) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_mode,
        )
        assert (raw.inode, raw.uid) == (status.st_ino, status.st_uid)
    assert commits(received, tmp_path) == (250 if state == "left" else 200)


@pytest.mark.spec("CA-30")
def test_the_fingerprint_is_from_before_the_first_byte(file, scratch):
    """A commit while a database is captured makes the captured fingerprint differ from the next one."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    before = fingerprint(database(file))
    captured, _ = take(database(file), scratch, Meddling(Role.DATABASE, lambda: writer.killed(file, "leave")))
    assert captured.fingerprint == before
    assert captured.fingerprint != fingerprint(database(file))
    assert not captured.settled


@pytest.mark.spec("CA-31")
def test_the_steps_tell_each_try(file, scratch):
    """The log says which way was tried, why it failed, and what was done in the end."""
    writer.prepare(file)
    writer.killed(file, "spill")
    captured, _ = take(database(file), scratch)
    first, last = captured.steps
    assert first.startswith("backup-step: SQLite:")
    assert last == "copied main, journal without a lock; nothing changed meanwhile"


@pytest.mark.spec("CA-13")
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_change_after_the_first_look_is_seen(file, scratch, suffix):
    """Each file of a database that changes after a try has begun makes the try worth nothing."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    job = Job(database(file), Received(), Policy(scratch=scratch), Silent())
    job.begin(last=False)
    job.check_unchanged()
    sidecar(file, suffix).write_bytes(sidecar(file, suffix).read_bytes())
    with pytest.raises(UnsettledError, match=suffix.removeprefix("-") or "main"):
        job.check_unchanged()


@pytest.mark.spec("CA-18")
def test_a_fresh_change_is_waited_for(file, scratch):
    """A database that was changed just now is looked at again after a while, before it is read without a lock."""
    writer.prepare(file, "wal")
    later = time.time() + 100
    os.utime(file, (later, later))
    job = Job(database(file), Received(), Policy(scratch=scratch), Silent())
    job.begin(last=False)
    file.write_bytes(file.read_bytes())
    with pytest.raises(UnsettledError):
        job.hold_still()


@pytest.mark.spec("CA-13")
def test_room_in_scratch_is_known(scratch):
    """A copy that cannot fit is not begun."""
    assert has_room(scratch, 1)
    assert not has_room(scratch, 2**62)


@pytest.mark.slow
@pytest.mark.spec("CA-21")
@pytest.mark.spec("CA-25")
@pytest.mark.parametrize(("mode", "way"), [("wal", "backup"), ("delete", "copy")])
def test_a_database_beyond_the_lock_byte_page(tmp_path, mode, way):
    """More than 1 GiB is captured with its hole at 1 GiB, in less than 100 MB of memory."""
    file, image = tmp_path / "large.db", tmp_path / "image"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("CREATE TABLE t(a)")
        connection.executemany("INSERT INTO t VALUES (zeroblob(?))", [(50_000_000,)] * 22)
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE in_wal(a)")
        command = [sys.executable, "-m", "tests.support.capturing", file, tmp_path / "scratch", image]
        method, peak_bytes = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.split()
    assert (method, int(peak_bytes) < 100e6) == (way, True)
    assert image.stat().st_size == file.stat().st_size > 1 << 30
    with closing(sqlite3.connect(image)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM in_wal").fetchone() == (0,)


@pytest.mark.parametrize("name", ["1.0.9", "1.0.18", "1.0.32", "1.0.32-jsonl", "cli-layout"])
def test_real_homes_are_captured_whole(tmp_path, scratch, name):
    """Each table of each database that the real SDK left behind is in its image, and each file byte by byte."""
    home = sdk_samples.unpack(name, tmp_path)
    for source in find(Places(home, {})).sources:
        captured, received = take(source, scratch)
        assert captured.problems == ()
        if source.sqlite:
            assert _dump(_written(received, tmp_path)) == _dump(_copied(source.file, tmp_path))
            assert received.files[Role.WAL] == sidecar(source.file, "-wal").read_bytes()
        else:
            assert received.files == {Role.FILE: source.file.read_bytes()}


def _dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


def _written(received: Received, folder: Path) -> Path:
    image = folder / "image"
    image.write_bytes(received.files[Role.DATABASE])
    return image


def _copied(file: Path, folder: Path) -> Path:
    copy = folder / "copy"
    for suffix in ("", "-wal"):
        shutil.copy(sidecar(file, suffix), sidecar(copy, suffix))
    return copy
