"""What a restore writes, and above all what it leaves alone."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from archiver.errors import DamageError, SourceError, UserError
from archiver.layout import manifest as layout
from archiver.layout.manifest import SourceEntry
from archiver.model import Role
from archiver.monitor import Silent
from archiver.ops import choose
from archiver.ops.restore_files import restore_files
from archiver.repo import snapshots
from archiver.repo.packer import Stream
from archiver.repo.snapshots import Snapshot
from archiver.storage.memory import MemoryStorage
from tests.support import truth
from tests.support.archives import TestedArchive
from tests.support.samplehome import live_for, make_home

GLOBAL = ".config/Cursor/User/globalStorage/state.vscdb"
PLAN = ".cursor/plans/slow-query-on-importer-list_a65cde42.plan.md"


class Archived(NamedTuple):
    """A home, and an archive with one snapshot of it."""

    home: Path
    tested: TestedArchive
    snapshot: Snapshot


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Archived:
    """Taken with evidence, while the global database has a ``-wal``; no test changes home or snapshot."""
    folder = tmp_path_factory.mktemp("archived")
    home = make_home(folder / "home")
    live_for(home, minutes=1, seed=1)
    tested = TestedArchive(MemoryStorage(), folder / "scratch")
    return Archived(home.root, tested, tested.take(home.root, evidence=True).snapshot)


def _restore(
    tested: TestedArchive,
    snapshot: Snapshot,
    target: Path,
    *wanted: str,
    overwrite: bool = False,
    raw: bool = False,
) -> Silent:
    monitor = Silent()
    with tested.open() as opened:
        entries = choose.sources(choose.readable_entries(opened, snapshot.manifest, monitor), list(wanted))
        restore_files(opened, entries, target, monitor, overwrite=overwrite, raw=raw)
    return monitor


def test_files_are_as_sqlite_and_the_disk_have_them(archived, tmp_path):
    """Every source comes back under its path: databases as SQLite has them with their WAL folded in, files bit for bit."""
    _restore(archived.tested, archived.snapshot, tmp_path / "to")
    (tmp_path / "x").mkdir()
    paths = [entry.path for entry in archived.tested.entries(archived.snapshot)]
    for path in paths:
        restored = tmp_path / "to" / path
        assert truth.uncounted(restored.read_bytes()) == truth.content(
            archived.home / path, tmp_path / "x"
        ), path
    assert sorted(truth.tree(tmp_path / "to")) == sorted(paths)


def test_databases_are_whole(archived, tmp_path):
    """SQLite finds every restored database in order, and reads in it what it reads in the home."""
    _restore(archived.tested, archived.snapshot, tmp_path / "to")
    (tmp_path / "x").mkdir()
    databases = [
        entry.path for entry in archived.tested.entries(archived.snapshot) if Role.DATABASE in entry.images
    ]
    assert len(databases) > 20
    for path in databases:
        assert truth.integrity(tmp_path / "to" / path) == "ok"
        assert truth.tables(tmp_path / "to" / path, tmp_path / "x") == truth.tables(
            archived.home / path, tmp_path / "x"
        )


def test_only_what_is_wanted(archived, tmp_path):
    """Only the sources that are asked for are written."""
    _restore(archived.tested, archived.snapshot, tmp_path / "to", "plan", GLOBAL)
    assert sorted(truth.tree(tmp_path / "to")) == [GLOBAL, PLAN]


def test_nothing_that_exists_is_touched(archived, tmp_path):
    """Where one file is in the way, nothing at all is written, and the file is named."""
    (tmp_path / "to" / PLAN).parent.mkdir(parents=True)
    (tmp_path / "to" / PLAN).write_text("mine")
    with pytest.raises(UserError, match="exists already; nothing was written") as refused:
        _restore(archived.tested, archived.snapshot, tmp_path / "to")
    assert PLAN in str(refused.value)
    assert "--overwrite" in (refused.value.hint or "")
    assert [path.name for path in (tmp_path / "to").rglob("*") if path.is_file()] == [Path(PLAN).name]
    assert (tmp_path / "to" / PLAN).read_text() == "mine"


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_stale_file_beside_a_database(archived, tmp_path, suffix):
    """SQLite would mix a stale file into the database: it is in the way too, and gone after an overwrite."""
    stale = tmp_path / "to" / (GLOBAL + suffix)
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of another database")
    with pytest.raises(UserError, match="exists already"):
        _restore(archived.tested, archived.snapshot, tmp_path / "to", GLOBAL)
    _restore(archived.tested, archived.snapshot, tmp_path / "to", GLOBAL, overwrite=True)
    assert sorted(truth.tree(tmp_path / "to")) == [GLOBAL]
    assert truth.integrity(tmp_path / "to" / GLOBAL) == "ok"


def test_overwriting_replaces_files_and_nothing_beside(archived, tmp_path):
    """An overwrite replaces the files that it names, whatever they were, and leaves the others."""
    target = tmp_path / "to"
    _restore(archived.tested, archived.snapshot, target)
    before = truth.tree(target)
    (target / GLOBAL).write_bytes(b"broken")
    (target / PLAN).unlink()
    (target / PLAN).symlink_to(tmp_path / "elsewhere")
    (target / "mine").write_text("mine")
    _restore(archived.tested, archived.snapshot, target, overwrite=True)
    assert truth.tree(target) == before | {"mine": hashlib.sha256(b"mine").hexdigest()}
    assert not (target / PLAN).is_symlink()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_link_does_not_lead_out(archived, tmp_path, overwrite):
    """A folder in the target that is a link to elsewhere is refused before anything is written."""
    (tmp_path / "to").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "to" / ".cursor").symlink_to(tmp_path / "outside")
    with pytest.raises(UserError, match="leads out of"):
        _restore(archived.tested, archived.snapshot, tmp_path / "to", overwrite=overwrite)
    assert list((tmp_path / "outside").iterdir()) == []
    assert truth.tree(tmp_path / "to") == {}


def test_a_link_inside_the_target_is_fine(archived, tmp_path):
    """The target itself may be a link, and so may a folder that stays inside."""
    (tmp_path / "real" / "kept").mkdir(parents=True)
    (tmp_path / "real" / ".cursor").symlink_to("kept")
    (tmp_path / "to").symlink_to(tmp_path / "real")
    _restore(archived.tested, archived.snapshot, tmp_path / "to", PLAN)
    assert (tmp_path / "real" / "kept" / Path(PLAN).relative_to(".cursor")).is_file()


def _hostile(tested: TestedArchive, snapshot: Snapshot, path: str) -> Snapshot:
    """The snapshot with one more list, which names a path as only a forged manifest can."""
    with tested.open() as opened:
        entries = list(snapshots.entries(opened, snapshot.manifest))
        forged: SourceEntry = msgspec.structs.replace(entries[0], path=path)
        with opened.packer() as packer:
            blob = packer.put(layout.encode_entries([forged]), Stream.TREE)
            packer.flush()
        lists = [*snapshot.manifest.sources, blob.hex()]
        manifest = msgspec.structs.replace(snapshot.manifest, sources=lists)
        return Snapshot(snapshots.commit(opened, manifest)[0], manifest)


@pytest.mark.spec("AR-51")
@pytest.mark.spec("AR-53")
@pytest.mark.parametrize(
    "path",
    ["../outside", "/etc/outside", "a/../../outside", "..", ".", "", "a//b", "a/./b", "a/", "/", "a\0b"],
)
def test_a_forged_path_writes_nothing(archived, tmp_path, path):
    """A manifest with one path that leads elsewhere is refused as damage, before any of its files is written."""
    forged = _hostile(archived.tested, archived.snapshot, path)
    with pytest.raises(DamageError, match="impossible path"):
        _restore(archived.tested, forged, tmp_path / "deep" / "to")
    assert not (tmp_path / "deep").exists()
    assert not list(tmp_path.rglob("outside"))


def _packs(tested: TestedArchive) -> set[str]:
    return {listed.name for listed in tested.storage.list("packs/")}


def test_a_source_that_cannot_be_read_is_left_out(tested, home, tmp_path):
    """When the pack of some sources is lost, they are named and left out, and all others are written whole."""
    first = tested.take(home.root)
    before = _packs(tested)
    live_for(home, minutes=1, seed=1)
    second = tested.take(home.root)
    (lost,) = _packs(tested) - before
    tested.storage.delete(lost)
    monitor = _restore(tested, second.snapshot, tmp_path / "second")
    assert {problem.code for problem in monitor.problems} <= {"source-unreadable", "source-list-unreadable"}
    assert monitor.problems
    _only_whole_files(home.root, tmp_path)
    assert _restore(tested, first.snapshot, tmp_path / "first").problems == []
    assert len(truth.tree(tmp_path / "first")) == len(first.results)


def _only_whole_files(home: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for path in truth.tree(tmp_path / "second"):
        restored = (tmp_path / "second" / path).read_bytes()
        assert truth.uncounted(restored) == truth.content(home / path, tmp_path / "x"), path


def test_a_damaged_frame_hits_its_sources_only(tested, home, tmp_path):
    """A changed byte in the frame of one source's data leaves out the sources in it, by name, and no half file."""
    tested.take(home.root)
    before = _packs(tested)
    (home.root / PLAN).write_bytes(os.urandom(5000))
    second = tested.take(home.root)
    (pack,) = _packs(tested) - before
    data = bytearray(tested.storage.objects[pack])
    data[100] ^= 1
    tested.storage.objects[pack] = bytes(data)
    monitor = _restore(tested, second.snapshot, tmp_path / "to")
    assert [(problem.code, problem.source) for problem in monitor.problems] == [("source-unreadable", PLAN)]
    assert pack in monitor.problems[0].message
    assert sorted(truth.tree(tmp_path / "to")) == sorted(
        entry.path for entry in tested.entries(second.snapshot) if entry.path != PLAN
    )


@pytest.mark.spec("AR-52")
def test_raw_files_lie_apart(archived, tmp_path):
    """With ``raw`` the raw files are written below ``_raw`` with the bytes of the home, and never beside a database."""
    _restore(archived.tested, archived.snapshot, tmp_path / "to", raw=True)
    restored = truth.tree(tmp_path / "to")
    raw = {
        path.removeprefix("_raw/"): digest for path, digest in restored.items() if path.startswith("_raw/")
    }
    in_home = truth.tree(archived.home)
    assert raw == {path: digest for path, digest in in_home.items() if path in raw}
    assert {path for path in in_home if path.endswith("-wal")} <= set(raw)
    assert GLOBAL in raw
    assert not [path for path in restored if path.endswith("-wal") and not path.startswith("_raw/")]


def test_a_target_that_cannot_be_written(archived, tmp_path):
    """A target that is a file is an error that names it, and is left as it is."""
    (tmp_path / "to").write_text("mine")
    with pytest.raises(SourceError, match="cannot write"):
        _restore(archived.tested, archived.snapshot, tmp_path / "to")
    assert (tmp_path / "to").read_text() == "mine"


def test_an_empty_source_is_an_empty_file(tested, home, tmp_path):
    """A source of no bytes comes back as a file of no bytes."""
    (home.root / PLAN).write_bytes(b"")
    snapshot = tested.take(home.root).snapshot
    _restore(tested, snapshot, tmp_path / "to", PLAN)
    assert (tmp_path / "to" / PLAN).read_bytes() == b""
