"""What a snapshot reads, stores and says, and that one bad source never stops the others."""

import contextlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from archiver.errors import SourceError
from archiver.image import read
from archiver.model import Method, Role
from archiver.monitor import Silent
from archiver.ops import snapshot as operation
from archiver.ops.restore_files import restore_files
from archiver.ops.snapshot import Taken
from archiver.ops.sources import list_sources
from archiver.ops.verify import verify
from archiver.repo import snapshots
from tests.support import truth
from tests.support.archives import TestedArchive
from tests.support.samplehome import SMALL, SampleHome, delete_chat, live_for, make_home

PLAN = ".cursor/plans/slow-query-on-importer-list_a65cde42.plan.md"
GLOBAL = ".config/Cursor/User/globalStorage/state.vscdb"
NOBODY = 65534
LITTLE = 64 * 1024

_moments = itertools.count(1_700_000_000_000, 60_000)


def _take(
    tested: TestedArchive, home: Path, monitor: Silent | None = None, *, evidence: bool = False
) -> Taken:
    """A snapshot a minute after the one before."""
    request = msgspec.structs.replace(tested.request(home, evidence=evidence), now_ms=lambda: next(_moments))
    with tested.open() as opened:
        return operation.take(opened, request, monitor or Silent())


def _statuses(taken: Taken) -> dict[str, str]:
    return {result.source.path: result.status for result in taken.results}


@pytest.fixture(scope="module")
def old_homes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SampleHome]:
    """Homes whose last change is some seconds past."""
    folder = tmp_path_factory.mktemp("old")
    many = msgspec.structs.replace(SMALL, cli_chats=90, sdk_agents=75, turns=1, file_lines=4)
    scales = {"small": SMALL, "500 stores": many, "changing": SMALL}
    homes = {name: make_home(folder / name, scale=scale) for name, scale in scales.items()}
    for path in folder.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    # Nobody can set the time at which a file's own times were set; 2 s later it counts as settled.
    time.sleep(2.1)
    return homes


@pytest.mark.parametrize("name", ["small", "500 stores"])
def test_a_home_that_did_not_change_costs_almost_nothing(old_homes, tested, name):
    """A second snapshot reads no byte of any source, and stores less than 64 KiB."""
    home = old_homes[name].root
    first = _take(tested, home)
    assert len(first.results) >= (500 if name == "500 stores" else 50)
    before = sum(map(len, tested.storage.objects.values()))
    second = _take(tested, home)
    assert set(_statuses(second).values()) == {"unchanged"}
    assert second.snapshot.manifest.stats.read_bytes == 0
    assert second.snapshot.manifest.stats.image_bytes == first.snapshot.manifest.stats.image_bytes
    stored = sum(map(len, tested.storage.objects.values())) - before
    assert stored == second.stored_bytes < LITTLE
    assert second.snapshot.manifest.parent == first.snapshot.snapshot_id


def test_a_home_that_may_have_changed_costs_little(home, tested):
    """Right after a change nothing proves that a file is the same: all is read again, and still little is stored."""
    _take(tested, home.root)
    second = _take(tested, home.root)
    assert second.snapshot.manifest.stats.read_bytes >= second.snapshot.manifest.stats.image_bytes
    assert second.stored_bytes < LITTLE


def test_what_changed_since(old_homes, tested):
    """The list of sources says ``unchanged`` of what a snapshot would carry over, and ``new`` for another host."""
    home = old_homes["small"].root
    _take(tested, home)
    places = tested.request(home).places
    with tested.open() as opened:
        for archive, host, expected in (
            (opened, "testhost", "unchanged"),
            (opened, "other", "new"),
            (None, "testhost", None),
        ):
            assert {listed.changed for listed in list_sources(archive, places, host, Silent())[1]} == {
                expected
            }


def test_evidence_is_taken_later_too(old_homes, tested):
    """A snapshot with evidence does not carry over an earlier capture that lacks it."""
    home = old_homes["small"].root
    _take(tested, home)
    by_path = {result.source.path: result for result in _take(tested, home, evidence=True).results}
    assert by_path[GLOBAL].status == "captured"
    assert Role.MAIN in by_path[GLOBAL].entry.images
    assert by_path[PLAN].status == "unchanged"


def test_only_what_changed_is_read(old_homes, tested):
    """Exactly the sources that changed are captured again; one that is gone is not carried over."""
    home = old_homes["changing"]
    _take(tested, home.root)
    doomed = next(chat for chat in home.chats if chat.store == "cli-chat")
    delete_chat(home, doomed.id)
    (home.root / PLAN).write_text("another plan")
    taken = _take(tested, home.root)
    assert [path for path, status in _statuses(taken).items() if status != "unchanged"] == [PLAN]
    assert doomed.path.relative_to(home.root).as_posix() not in _statuses(taken)


def test_another_home_or_host_is_another_history(tested, tmp_path):
    """A snapshot continues the last one of the same home only."""
    one, two = make_home(tmp_path / "one"), make_home(tmp_path / "two", seed=2)
    first = _take(tested, one.root)
    assert _take(tested, two.root).snapshot.manifest.parent is None
    assert _take(tested, one.root).snapshot.manifest.parent == first.snapshot.snapshot_id


@pytest.mark.parametrize(
    "broken",
    [lambda data: data[:100_000], lambda data: data[:16] + b"\x00\x03" + data[18:]],
    ids=["cut off", "impossible page size"],
)
def test_a_corrupt_database(tested, home, broken):
    """A database that SQLite cannot open is kept as it is, byte for byte, with a problem that names it."""
    data = broken(home.global_db.read_bytes())
    home.global_db.write_bytes(data)
    monitor = Silent()
    taken = _take(tested, home.root, monitor)
    assert [(problem.code, problem.source) for problem in monitor.problems] == [("corrupt-database", GLOBAL)]
    assert _statuses(taken).pop(GLOBAL) == "raw"
    assert "failed" not in _statuses(taken).values()
    assert _image(tested, taken, GLOBAL) == data


def test_a_database_with_broken_pages(tested, home):
    """Pages that make no sense inside are captured as they are, and so is everything around them."""
    data = bytearray(home.global_db.read_bytes())
    data[100:108] = b"\xff" * 8
    data[4096:8192] = b"\xff" * 4096
    home.global_db.write_bytes(data)
    assert truth.uncounted(_image(tested, _take(tested, home.root), GLOBAL)) == truth.uncounted(bytes(data))


def test_no_database_at_all(tested, home):
    """What is named as a database and is none is kept raw, and said."""
    home.global_db.write_bytes(b"no database" * 1000)
    monitor = Silent()
    taken = _take(tested, home.root, monitor)
    assert [(problem.code, problem.source) for problem in monitor.problems] == [("not-a-database", GLOBAL)]
    assert _statuses(taken)[GLOBAL] == "raw"
    assert list(taken.snapshot.manifest.problems) == monitor.problems
    assert _image(tested, taken, GLOBAL) == b"no database" * 1000


def _image(tested: TestedArchive, taken: Taken, path: str) -> bytes:
    """What a restore writes for ``path``."""
    with tested.open() as opened, tempfile.TemporaryDirectory() as folder:
        entries = [
            entry for entry in snapshots.entries(opened, taken.snapshot.manifest) if entry.path == path
        ]
        restore_files(opened, entries, Path(folder), Silent(), overwrite=False, raw=False)
        return (Path(folder) / path).read_bytes()


@contextlib.contextmanager
def _as_nobody(folder: Path) -> Iterator[None]:
    """Run as somebody whom closed files stop; root can read everything."""
    if os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_unreadable_sources(tested):
    """A file that may not be read and a folder that may not be listed are named, and everything else is captured."""
    # Not below pytest's folder, which is closed to others.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = make_home(folder / "home")
        tested.scratch = folder / "scratch"
        with _as_nobody(folder):
            whole = len(_take(tested, home.root).results)
            (home.root / PLAN).chmod(0)
            closed = home.root / ".cursor" / "ai-tracking"
            closed.chmod(0)
            monitor = Silent()
            taken = _take(tested, home.root, monitor)
            closed.chmod(0o700)
    found = {problem.source: problem for problem in monitor.problems}
    assert {source: problem.code for source, problem in found.items()} == {
        ".cursor/ai-tracking": "unreadable-folder",
        PLAN: "source-failed",
    }
    assert "Permission denied" in found[PLAN].message
    assert _statuses(taken)[PLAN] == "failed"
    assert len(taken.results) == whole - 1
    assert [path for path, status in _statuses(taken).items() if status != "captured"] == [PLAN]


class Vanisher(Silent):
    """Somebody who deletes files between the search and the capture."""

    def __init__(self, *doomed: Path) -> None:
        super().__init__()
        self._doomed = doomed

    def begin(self, what: str, total_bytes: int | None = None) -> None:  # noqa: ARG002  part of the protocol
        for path in self._doomed:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_sources_that_vanish(tested, home):
    """What is deleted while the snapshot runs is named, and everything else is captured."""
    monitor = Vanisher(home.root / PLAN, home.global_db, home.ndjson_dir)
    taken = _take(tested, home.root, monitor)
    failed = {path for path, status in _statuses(taken).items() if status == "failed"}
    assert failed == {problem.source for problem in monitor.problems}
    ndjson = home.ndjson_dir.relative_to(home.root).as_posix()
    assert failed == {PLAN, GLOBAL, *(path for path in _statuses(taken) if path.startswith(f"{ndjson}/"))}
    assert {problem.code for problem in monitor.problems} == {"source-failed"}
    assert {entry.path for entry in tested.entries(taken.snapshot)} == set(_statuses(taken)) - failed


def test_a_home_that_vanishes(tested, tmp_path):
    """Where there is nothing to capture there is no snapshot."""
    with pytest.raises(SourceError, match="keeps nothing"):
        _take(tested, tmp_path / "nothing")
    assert tested.snapshots() == []


def test_a_source_that_failed_is_tried_again(tested, home):
    """A source that could not be captured is captured by the next snapshot, once it is there again."""
    moved = home.global_db.with_name("moved")
    shutil.copy(home.global_db, moved)
    assert _statuses(_take(tested, home.root, Vanisher(home.global_db)))[GLOBAL] == "failed"
    moved.rename(home.global_db)
    assert _statuses(_take(tested, home.root))[GLOBAL] == "captured"


def _lose_packs(tested: TestedArchive) -> set[str]:
    lost = {name for name in tested.storage.objects if name.startswith("packs/")}
    for name in lost:
        tested.storage.delete(name)
    return lost


def test_a_lost_pack_is_stored_again(tested, home, tmp_path):
    """The snapshot after a pack was lost says so, reads everything again, and restores whole."""
    request = msgspec.structs.replace(tested.request(home.root), now_ms=lambda: next(_moments))
    with tested.open(cache=tmp_path / "cache") as opened:
        operation.take(opened, request, Silent())
    (lost,) = _lose_packs(tested)
    monitor = Silent()
    with tested.open(cache=tmp_path / "cache") as opened:
        taken = operation.take(opened, request, monitor)
        entries = list(snapshots.entries(opened, taken.snapshot.manifest))
        restore_files(opened, entries, tmp_path / "to", monitor, overwrite=False, raw=False)
    codes = {problem.code for problem in monitor.problems}
    assert codes == {"pack-lost", "snapshot-unreadable"}
    assert Path(lost).name in next(problem.message for problem in monitor.problems)
    assert set(_statuses(taken).values()) == {"captured"}
    (tmp_path / "x").mkdir()
    for entry in entries:
        restored = (tmp_path / "to" / entry.path).read_bytes()
        assert truth.uncounted(restored) == truth.content(home.root / entry.path, tmp_path / "x"), entry.path


@pytest.mark.spec("AR-31")
def test_a_blob_that_is_stored_again_is_found_with_a_new_cache(tested, home):
    """A blob that two index objects list is read from the pack that is there, whichever of them is read first."""
    _take(tested, home.root)
    (lost,) = _lose_packs(tested)
    (old_index,) = (name for name in tested.storage.objects if name.startswith("index/"))
    while True:
        before = set(tested.storage.objects)
        taken = _take(tested, home.root)
        new = set(tested.storage.objects) - before
        if old_index < next(name for name in new if name.startswith("index/")):
            break
        for name in new:
            tested.storage.delete(name)
    with tested.open() as opened:
        found = verify(opened, None, 1.0, Silent())
    assert lost in {damage.object for damage in found.damage}
    assert taken.snapshot.snapshot_id not in {hit.snapshot for hit in found.hit}


def test_a_snapshot_says_how_each_source_was_captured(tested, home):
    """Every capture says its method and its steps; raw files come with the SHA-256 of what lies in the home."""
    live_for(home, minutes=1, seed=3)
    taken = _take(tested, home.root)
    in_home = truth.tree(home.root)
    for result in taken.results:
        assert result.entry.method in Method
        assert result.entry.steps
        for raw in result.entry.raw:
            if raw.role is Role.WAL:
                assert raw.sha256 == in_home[f"{result.source.path}-wal"]
    assert Role.WAL in next(result.entry for result in taken.results if result.source.path == GLOBAL).images


def test_a_new_copy_is_compared_with_what_it_is_a_copy_of(tested, home):
    """A ``.corrupted.<ms>`` that appears beside its database is captured right, and stores no page again."""
    _take(tested, home.root)
    copy = home.global_db.with_name("state.vscdb.corrupted.1799999999999")
    shutil.copy(home.global_db, copy)
    taken = _take(tested, home.root)
    with tested.open() as opened:
        found = {entry.path: entry for entry in snapshots.entries(opened, taken.snapshot.manifest)}
        copied = found[copy.relative_to(home.root).as_posix()]
        captured = b"".join(read.join(opened.reader, copied.image))
    assert truth.uncounted(captured) == truth.uncounted(copy.read_bytes())
    assert copied.image == found[GLOBAL].image
