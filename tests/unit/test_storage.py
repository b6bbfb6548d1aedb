"""One suite that every storage must pass."""

import os
import threading

import pytest

from archiver.errors import ObjectMissingError, StorageError
from archiver.storage.local import LocalStorage
from archiver.storage.memory import MemoryStorage


@pytest.fixture(params=["memory", "local"])
def storage(request, tmp_path):
    return MemoryStorage() if request.param == "memory" else LocalStorage(tmp_path / "deep" / "archive")


def test_what_is_put_is_got(storage):
    """Bytes come back as they went in, whole and in part."""
    assert storage.put("packs/ab/abc", b"0123456789")
    assert storage.get("packs/ab/abc") == b"0123456789"
    assert storage.get_range("packs/ab/abc", 3, 4) == b"3456"
    assert storage.get_range("packs/ab/abc", 8, 99) == b"89"


def test_a_taken_name_is_left_alone(storage):
    """The second writer of a name is told so, and the first one's bytes stay."""
    assert storage.put("archive", b"first")
    assert not storage.put("archive", b"second")
    assert storage.get("archive") == b"first"


def test_of_many_writers_at_once_one_wins(storage):
    """Eight threads put the same name; one succeeds, and its bytes are what is read."""
    stored = []

    def put(number: int) -> None:
        if storage.put("archive", b"%d" % number * 1000):
            stored.append(number)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored) == 1
    assert storage.get("archive") == b"%d" % stored[0] * 1000


def test_list_gives_names_and_sizes_by_prefix(storage):
    """Listing gives each object once, with its length."""
    for name in ("index/a", "index/b", "packs/aa/aab", "archive"):
        storage.put(name, name.encode())
    assert sorted(storage.list("index/")) == [("index/a", 7), ("index/b", 7)]
    assert sorted(storage.list()) == [("archive", 7), ("index/a", 7), ("index/b", 7), ("packs/aa/aab", 12)]
    assert list(storage.list("keys/")) == []


def test_a_missing_object_is_named(storage):
    """Reading what is not there says which object."""
    for read in (storage.get, lambda name: storage.get_range(name, 0, 1)):
        with pytest.raises(ObjectMissingError, match="index/zz"):
            read("index/zz")


def test_delete_is_done_once_and_again(storage):
    """Deleting removes the object; deleting what is gone is fine."""
    storage.put("keys/a", b"x")
    storage.delete("keys/a")
    storage.delete("keys/a")
    assert list(storage.list()) == []


@pytest.mark.parametrize("name", ["../escape", "a//b", "/etc/x", "a/./b", ""])
def test_names_stay_inside(tmp_path, name):
    """The local storage refuses names that would lead out of its folder."""
    with pytest.raises(StorageError, match="no name"):
        LocalStorage(tmp_path / "x").put(name, b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("AR-4")
def test_half_written_files_are_not_listed_and_go_after_a_day(tmp_path):
    """What a killed writer left in tmp/ is no object; a later writer removes it once it is old."""
    (tmp_path / "tmp").mkdir()
    fresh, stale = tmp_path / "tmp" / "fresh", tmp_path / "tmp" / "stale"
    for path in (fresh, stale):
        path.write_bytes(b"half")
    os.utime(stale, (1, 1))
    storage = LocalStorage(tmp_path)
    storage.put("archive", b"x")
    assert [listed.name for listed in storage.list()] == ["archive"]
    assert fresh.exists()
    assert not stale.exists()


def test_without_hard_links_a_name_is_still_taken_once(tmp_path, monkeypatch):
    """On a file system without links, put still refuses a taken name and stores whole objects."""

    def no_links(*_args: object, **_more: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    storage = LocalStorage(tmp_path)
    assert storage.put("archive", b"first")
    assert not storage.put("archive", b"second")
    assert storage.get("archive") == b"first"
