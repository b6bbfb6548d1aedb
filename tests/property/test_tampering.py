"""Flipping any byte of any object is detected, and never gives a wrong restore."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archiver.errors import ArchiveError
from archiver.image import read
from archiver.monitor import Silent
from archiver.ops.verify import verify, verify_names
from archiver.repo import archive, slots, snapshots
from archiver.storage.memory import MemoryStorage
from tests.support.archives import PASSWORD, TestedArchive
from tests.support.samplehome import make_home


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> TestedArchive:
    folder: Path = tmp_path_factory.mktemp("tampering")
    tested = TestedArchive(MemoryStorage(), folder / "scratch")
    tested.take(make_home(folder / "home").root)
    return tested


@pytest.fixture(scope="module")
def truth(filled) -> dict[str, bytes]:
    return _restored(filled, filled.storage)


def _restored(filled: TestedArchive, storage: MemoryStorage) -> dict[str, bytes]:
    with filled.open(storage) as opened:
        found = {}
        for snapshot in snapshots.load_all(opened).snapshots:
            for entry in snapshots.entries(opened, snapshot.manifest):
                found[entry.path] = b"".join(read.join(opened.reader, entry.image))
        return found


def _changed(storage: MemoryStorage, name: str, data: bytes | None) -> MemoryStorage:
    other = MemoryStorage()
    other.objects = dict(storage.objects)
    if data is None:
        del other.objects[name]
    else:
        other.objects[name] = data
    return other


def _is_noticed(filled: TestedArchive, storage: MemoryStorage) -> bool:
    """Whether reading keys, header and all data finds something wrong."""
    try:
        archive.read_archive_id(storage)
        with filled.open(storage) as opened:
            return bool(verify(opened, None, 1.0, Silent()).damage)
    except ArchiveError:
        return True


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_byte_is_noticed_and_restores_nothing_wrong(filled, truth, data):
    """Any byte of any object, flipped in any way: verify notices, without a key too, and what restores is right."""
    name = data.draw(st.sampled_from(sorted(filled.storage.objects)))
    stored = bytearray(filled.storage.objects[name])
    offset = data.draw(st.one_of(st.integers(0, min(200, len(stored)) - 1), st.integers(0, len(stored) - 1)))
    stored[offset] ^= data.draw(st.integers(1, 255))
    tampered = _changed(filled.storage, name, bytes(stored))
    assert _is_noticed(filled, tampered)
    assert any(found.object == name for found in verify_names(tampered, Silent()).damage)
    _restores_only_the_truth(filled, tampered, truth)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_cut_off_object_is_noticed(filled, truth, data):
    """Any object cut off anywhere: noticed, and nothing wrong is restored."""
    name = data.draw(st.sampled_from(sorted(filled.storage.objects)))
    stored = filled.storage.objects[name]
    tampered = _changed(filled.storage, name, stored[: data.draw(st.integers(0, len(stored) - 1))])
    assert _is_noticed(filled, tampered)
    _restores_only_the_truth(filled, tampered, truth)


@pytest.mark.spec("AR-2")
def test_swapped_objects_are_noticed(filled, truth):
    """Two objects in each other's place: each is named by the check without keys."""
    names = sorted(filled.storage.objects)
    for one, two in pairwise(names):
        tampered = _changed(filled.storage, one, filled.storage.objects[two])
        tampered.objects[two] = filled.storage.objects[one]
        assert {found.object for found in verify_names(tampered, Silent()).damage} == {one, two}
        assert _is_noticed(filled, tampered)
        _restores_only_the_truth(filled, tampered, truth)


def test_a_missing_object_is_noticed_unless_nothing_refers_to_it(filled):
    """Without its header, a pack or an index object, the archive is damaged, and the error says so."""
    for name in sorted(filled.storage.objects):
        if name.startswith(("packs/", "index/", "archive")):
            assert _is_noticed(filled, _changed(filled.storage, name, None))


def test_a_changed_slot_does_not_open(filled):
    """Each of some bytes of the key slot, flipped: the right password opens nothing."""
    name = next(name for name in filled.storage.objects if name.startswith("keys/"))
    stored = filled.storage.objects[name]
    for offset in random.Random(1).sample(range(len(stored)), 20):
        changed = bytearray(stored)
        changed[offset] ^= 1
        tampered = _changed(filled.storage, name, bytes(changed))
        with pytest.raises(ArchiveError):
            slots.unlock(tampered, filled.unlocked.keys.archive_id, PASSWORD)


def _restores_only_the_truth(filled: TestedArchive, storage: MemoryStorage, truth: dict[str, bytes]) -> None:
    try:
        found = _restored(filled, storage)
    except ArchiveError:
        return
    assert {path: data for path, data in found.items() if truth[path] != data} == {}
