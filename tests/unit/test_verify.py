"""What ``verify`` finds, and that it finds nothing where nothing is wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from archiver.errors import ExitCode, NoArchiveError
from archiver.layout.prefix import Kind
from archiver.monitor import Silent
from archiver.ops.restore_files import restore_files
from archiver.ops.verify import Verified, verify, verify_names
from archiver.repo import sealing, snapshots
from archiver.repo.snapshots import Snapshot
from archiver.storage.memory import MemoryStorage
from tests.support.archives import TestedArchive
from tests.support.samplehome import live_for, make_home


class Archived(NamedTuple):
    """An archive with two snapshots of a home, and the pack that each one added."""

    tested: TestedArchive
    first: Snapshot
    second: Snapshot
    old_pack: str
    new_pack: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Archived, dict[str, bytes]]:
    folder = tmp_path_factory.mktemp("verify")
    tested = TestedArchive(MemoryStorage(), folder / "scratch")
    home = make_home(folder / "home")
    first = tested.take(home.root).snapshot
    (old_pack,) = _packs(tested)
    live_for(home, minutes=1, seed=1)
    second = tested.take(home.root).snapshot
    (new_pack,) = _packs(tested) - {old_pack}
    return Archived(tested, first, second, old_pack, new_pack), dict(tested.storage.objects)


@pytest.fixture
def archived(made) -> Iterator[Archived]:
    """The same archive for every test, whatever the one before did to it."""
    found, objects = made
    yield found
    found.tested.storage.objects = dict(objects)


def _packs(tested: TestedArchive) -> set[str]:
    return {listed.name for listed in tested.storage.list("packs/")}


def _verified(archived: Archived, chosen: Snapshot | None = None, share: float = 0.0) -> Verified:
    with archived.tested.open() as opened:
        return verify(opened, chosen, share, Silent())


def _flip(archived: Archived, name: str, offset: int) -> None:
    data = bytearray(archived.tested.storage.objects[name])
    data[offset] ^= 1
    archived.tested.storage.objects[name] = bytes(data)


def _unrestorable(archived: Archived, snapshot: Snapshot, folder: Path) -> set[str]:
    """What a restore of the snapshot cannot write: found by trying."""
    monitor = Silent()
    with archived.tested.open() as opened:
        entries = list(snapshots.entries(opened, snapshot.manifest))
        restore_files(opened, entries, folder / snapshot.snapshot_id, monitor, overwrite=False, raw=False)
    return {problem.source or "" for problem in monitor.problems}


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_a_sound_archive(archived, share):
    """Nothing is found in a sound archive; a share of the data means that share of the packs, at least one."""
    found = _verified(archived, share=share)
    assert (found.damage, found.hit, found.notes, found.exit_code) == ((), (), (), ExitCode.DONE)
    assert (found.snapshots, found.packs) == (2, 2)
    assert found.packs_read == {0.0: 0, 0.1: 1, 1.0: 2}[share]
    sizes = {
        name: len(archived.tested.storage.objects[name]) for name in (archived.old_pack, archived.new_pack)
    }
    assert found.read_bytes in {0.0: {0}, 0.1: set(sizes.values()), 1.0: {sum(sizes.values())}}[share]
    assert found.objects == len(archived.tested.storage.objects)


def test_one_snapshot(archived):
    """One snapshot needs only its own packs, and damage elsewhere is not its concern."""
    assert _verified(archived, archived.first, 1.0).packs_read == 1
    assert _verified(archived, archived.second, 1.0).packs_read == 2
    _flip(archived, archived.new_pack, 100)
    assert _verified(archived, archived.first, 1.0).exit_code == ExitCode.DONE
    assert _verified(archived, archived.second, 1.0).exit_code == ExitCode.DAMAGED


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_lost_pack(archived, share):
    """A missing pack is named, with every snapshot and source that it hits, without reading any data."""
    archived.tested.storage.delete(archived.old_pack)
    found = _verified(archived, share=share)
    assert archived.old_pack in {damage.object for damage in found.damage}
    assert {hit.snapshot for hit in found.hit} == {archived.first.snapshot_id, archived.second.snapshot_id}
    assert found.exit_code == ExitCode.DAMAGED


def test_a_pack_that_is_cut_off(archived):
    """A pack of the wrong length is named without reading it."""
    archived.tested.storage.objects[archived.new_pack] = archived.tested.storage.objects[archived.new_pack][
        :-1
    ]
    found = _verified(archived)
    assert archived.new_pack in {damage.object for damage in found.damage}
    assert {hit.snapshot for hit in found.hit} == {archived.second.snapshot_id}


def test_a_changed_byte_hits_what_a_restore_would_miss(archived, tmp_path):
    """A changed byte in a frame of data is found with ``--data``, and what is named is just what a restore leaves out."""
    _flip(archived, archived.new_pack, 100)
    assert _verified(archived).exit_code == ExitCode.DONE
    found = _verified(archived, share=1.0)
    assert {damage.object for damage in found.damage} == {archived.new_pack}
    hit = {(hit.snapshot, hit.source) for hit in found.hit}
    missed = _unrestorable(archived, archived.second, tmp_path)
    assert missed
    assert hit == {(archived.second.snapshot_id, path) for path in missed}
    assert _unrestorable(archived, archived.first, tmp_path) == set()


def test_a_lost_list_of_sources(archived):
    """Where the list of sources itself is lost, ``*`` stands for all that was on it."""
    lists = archived.second.manifest.sources
    with archived.tested.open() as opened:
        where = opened.index.locate(bytes.fromhex(lists[-1]))
    _flip(archived, f"packs/{where.pack.hex()[:2]}/{where.pack.hex()}", where.frame_offset + 5)
    found = _verified(archived)
    assert (archived.second.snapshot_id, "*") in {(hit.snapshot, hit.source) for hit in found.hit}
    assert f"source list {lists[-1]}" in {damage.object for damage in found.damage}


def test_a_lost_index_object(archived):
    """Without an index object the leaves that it listed are missed, and the sources are named."""
    name = next(name for name in archived.tested.storage.objects if name.startswith("index/"))
    archived.tested.storage.delete(name)
    found = _verified(archived)
    assert found.exit_code == ExitCode.DAMAGED
    assert found.hit


def test_a_changed_manifest(archived):
    """A manifest that was changed is named, and the other snapshots are still checked."""
    name = f"snapshots/{archived.second.snapshot_id}"
    _flip(archived, name, 50)
    found = _verified(archived)
    assert [damage.object for damage in found.damage] == [name]
    assert found.snapshots == 1


@pytest.mark.spec("AR-50")
def test_a_snapshot_of_a_later_version(archived):
    """A manifest that needs an unknown feature is newer and not damaged: update, instead of fearing for the data."""
    manifest = msgspec.structs.replace(archived.second.manifest, features=("holograms",))
    with archived.tested.open() as opened:
        newer, _ = snapshots.commit(opened, manifest)
    found = _verified(archived)
    assert found.exit_code == ExitCode.NEWER
    assert [(damage.object, damage.newer) for damage in found.damage] == [(f"snapshots/{newer}", True)]
    assert "holograms" in found.damage[0].message
    _flip(archived, f"snapshots/{archived.first.snapshot_id}", 50)
    assert _verified(archived).exit_code == ExitCode.DAMAGED


@pytest.mark.spec("AR-4")
def test_what_is_none_of_the_archives(archived):
    """Files that people put there, and packs that an interrupted snapshot left, are noted and harm nothing."""
    archived.tested.storage.objects["README"] = b"do not delete"
    sealed = sealing.SealedObject(archived.tested.unlocked.keys, Kind.PACK)
    archived.tested.storage.put(sealed.finish(b"\x90"), bytes(sealed.data))
    found = _verified(archived, share=1.0)
    assert found.exit_code == ExitCode.DONE
    assert [note.split(",")[0] for note in found.notes] == [
        "1 pack(s) that no index object names: left by an interrupted snapshot",
        "1 file(s) that are none of the archive's",
    ]
    assert "README" in found.notes[1]
    assert archived.tested.storage.objects["README"] == b"do not delete"


def test_a_snapshot_whose_parent_is_gone(archived):
    """A missing link in the chain of snapshots is noted: somebody may have deleted it."""
    archived.tested.storage.delete(f"snapshots/{archived.first.snapshot_id}")
    with archived.tested.open() as opened:
        third = msgspec.structs.replace(archived.second.manifest, started_ms=1, parent=None)
        snapshots.commit(opened, third)
    found = _verified(archived)
    assert found.exit_code == ExitCode.DONE
    assert found.notes == (
        f"snapshot {archived.second.snapshot_id[:8]} continues one that is not in the archive",
    )


def test_names_without_any_key(archived):
    """Every object is checked against its name with nothing but the objects; a changed one is named."""
    storage = archived.tested.storage
    found = verify_names(storage, Silent())
    assert (found.damage, found.read_bytes) == ((), sum(map(len, storage.objects.values())))
    for name in (archived.old_pack, f"snapshots/{archived.first.snapshot_id}"):
        _flip(archived, name, 60)
    storage.delete("archive")
    damaged = verify_names(storage, Silent())
    assert {damage.object for damage in damaged.damage} == {
        "archive",
        archived.old_pack,
        f"snapshots/{archived.first.snapshot_id}",
    }


def test_names_of_nothing():
    """Where no object is, there is no archive, and so nothing that could be damaged."""
    storage = MemoryStorage()
    storage.objects["README"] = b"somebody's"
    with pytest.raises(NoArchiveError):
        verify_names(storage, Silent())
