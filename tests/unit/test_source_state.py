"""Whether a source changed, told from outside."""

import msgspec
import pytest

from archiver.errors import SourceError
from archiver.model import FileState
from archiver.source.state import SourceState, describe, fingerprint, settled, sidecar
from tests.support import writer
from tests.support.capturing import database, plain

SECOND_NS = 1_000_000_000


@pytest.fixture
def file(tmp_path):
    return tmp_path / "store.db"


@pytest.mark.spec("SO-40")
def test_a_fingerprint_is_what_the_files_say(file):
    """Sizes, times and numbers are those of stat, and the header bytes those of the files."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    seen = fingerprint(database(file))
    for state, suffix in ((seen.main, ""), (seen.wal, "-wal")):
        status = sidecar(file, suffix).stat()
        assert state == FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    header = file.read_bytes()
    assert bytes.fromhex(seen.header) == header[18:20] + header[24:28]
    assert bytes.fromhex(seen.wal_header) == sidecar(file, "-wal").read_bytes()[:32]
    assert bytes.fromhex(seen.wal_index) == sidecar(file, "-shm").read_bytes()[16:40]
    assert seen.journal is None


@pytest.mark.spec("SO-40")
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_each_commit_changes_the_fingerprint(file, mode):
    """Each commit of another program shows in the fingerprint."""
    writer.prepare(file, mode)
    seen = [fingerprint(database(file))]
    for _ in range(3):
        assert writer.run(file, "UPDATE sums SET total = total + 1") == [[]]
        seen.append(fingerprint(database(file)))
    assert len({msgspec.json.encode(one) for one in seen}) == 4


@pytest.mark.spec("SO-40")
def test_an_unchanged_source_has_the_same_fingerprint(file):
    """Two looks at an unchanged source are equal, and reading it changes nothing."""
    writer.prepare(file)
    before = fingerprint(database(file))
    file.read_bytes()
    assert fingerprint(database(file)) == before


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\0", b"{}" * 100])
def test_what_is_not_sqlite_has_no_header(file, data):
    """Bytes that are no SQLite header give no header, whatever the file is called."""
    file.write_bytes(data)
    assert fingerprint(database(file)).header == ""


def test_a_plain_file_has_no_sidecars(file):
    """Files beside a plain file are none of its business."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    seen = fingerprint(plain(file))
    assert (seen.header, seen.wal, seen.wal_index, seen.journal) == ("", None, "", None)
    assert seen.main.size_bytes == file.stat().st_size


@pytest.mark.spec("SO-42")
@pytest.mark.parametrize("look", [fingerprint, describe])
@pytest.mark.parametrize("as_source", [plain, database])
def test_a_source_that_is_gone_is_an_error(file, look, as_source):
    """The error names the source."""
    with pytest.raises(SourceError, match=r"store\.db: No such file"):
        look(as_source(file))


@pytest.mark.spec("SO-41")
@pytest.mark.parametrize(
    ("age_ns", "trusted"),
    [(-SECOND_NS, False), (0, False), (2 * SECOND_NS, False), (2 * SECOND_NS + 1, True), (10**15, True)],
)
@pytest.mark.parametrize("field", ["main", "wal", "journal"])
@pytest.mark.parametrize("clock", ["mtime_ns", "ctime_ns"])
def test_a_recent_change_is_not_trusted(file, age_ns, trusted, field, clock):
    """A time within two seconds, or in the future, may hide a later change, in whichever file it is."""
    file.write_bytes(b"")
    now_ns = 1_767_225_600 * SECOND_NS
    old = FileState(1, now_ns - 10**15, now_ns - 10**15, 7)
    recent = msgspec.structs.replace(old, **{clock: now_ns - age_ns})
    seen = msgspec.structs.replace(fingerprint(plain(file)), **({"main": old} | {field: recent}))
    assert settled(seen, now_ns) is trusted


def test_a_description_has_sizes_and_journal_mode(file):
    """Sizes are those of the files, and the journal mode is the header's."""
    file.write_bytes(b"text")
    assert describe(database(file)) == describe(plain(file)) == SourceState(4, 0, 0, None)
    file.unlink()
    writer.prepare(file)
    assert describe(database(file)) == SourceState(file.stat().st_size, 0, 0, "delete")
    writer.killed(file, "spill")
    journal_bytes = sidecar(file, "-journal").stat().st_size
    assert describe(database(file)) == SourceState(file.stat().st_size, 0, journal_bytes, "delete")


def test_a_description_of_a_wal_database(file):
    """The same in WAL mode."""
    writer.prepare(file, "wal")
    writer.killed(file, "leave")
    wal_bytes = sidecar(file, "-wal").stat().st_size
    assert describe(database(file)) == SourceState(file.stat().st_size, wal_bytes, 0, "wal")
