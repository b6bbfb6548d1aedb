"""Record-aware images of databases that SQLite wrote: exact, shared, patched, comparable, readable in part."""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.errors import DamageError
from archiver.image import read
from archiver.image.compare import changed_leaves, compare
from archiver.image.cut import LEAF_BYTES
from archiver.image.earlier import Earlier
from archiver.image.random_access import ImageFile
from archiver.image.write import PagedImage
from archiver.layout import leaf as leaf_layout
from archiver.layout.leaf import SplitLeaf
from archiver.layout.manifest import Image
from archiver.layout.node import SPLIT
from archiver.repo.archive import Archive
from archiver.storage.memory import MemoryStorage
from tests.support.archives import TestedArchive
from tests.support.blobs import BlobsInMemory

PAGE_SIZES = [512, 1024, 4096, 16384, 65536]


def _database(path: Path, page_bytes: int, seed: int, rows: int = 60, extra: str = "") -> None:
    """A database like Cursor's: text keys with an index, values from short to many pages."""
    source = random.Random(seed)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA page_size={page_bytes}")
        db.executescript(extra + "CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);")
        db.executemany("INSERT INTO kv VALUES (?, ?)", (_row(source) for _ in range(rows)))
        db.commit()


def _row(source: random.Random) -> tuple[str, bytes | None]:
    size = min(int(source.lognormvariate(7, 1.8)), 120_000)
    return f"bubbleId:{source.randbytes(16).hex()}", source.choice(
        [source.randbytes(size), b"x" * size, None]
    )


def _change(path: Path, seed: int) -> None:
    source = random.Random(seed)
    with closing(sqlite3.connect(path)) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM kv ORDER BY key")]
        for key in source.sample(keys, min(3, len(keys))):
            db.execute("DELETE FROM kv WHERE key = ?", (key,))
        for key in source.sample(keys, min(3, len(keys))):
            db.execute(
                "UPDATE kv SET value = ? WHERE key = ?", (source.randbytes(source.randrange(9000)), key)
            )
        db.executemany("INSERT INTO kv VALUES (?, ?)", (_row(source) for _ in range(5)))
        db.commit()


def _stored(archive: Archive, data: bytes, page_bytes: int, before: Image | None) -> tuple[Image, int]:
    """An image of ``data``, and how many new plain bytes it took."""
    with archive.packer() as packer:
        image = PagedImage(packer, page_bytes, Earlier(archive.reader, before))
        image.write(0, data)
        stored = image.finish(len(data))
        packer.flush()
        return stored, packer.written.plain_bytes


def _joined(archive: Archive, image: Image) -> bytes:
    return b"".join(read.join(archive.reader, image))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    tested = TestedArchive(MemoryStorage(), tmp_path_factory.mktemp("scratch"))
    with tested.open() as opened:
        yield opened


@settings(deadline=None, max_examples=25)
@given(page_bytes=st.sampled_from(PAGE_SIZES), seed=st.integers(0, 10**6))
def test_versions_of_a_database_come_back_bit_for_bit(archive, tmp_path_factory, page_bytes, seed):
    """Whatever rows are added, changed and deleted, each version joins to its own bytes, from records and patches."""
    path = tmp_path_factory.mktemp("db") / "state.vscdb"
    _database(path, page_bytes, seed)
    versions: list[tuple[bytes, Image]] = []
    for number in range(4):
        before = versions[-1][1] if versions else None
        data = path.read_bytes()
        versions.append((data, _stored(archive, data, page_bytes, before)[0]))
        _change(path, seed + number)
    assert all(_joined(archive, image) == data for data, image in versions)


def _vacuumed(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("VACUUM")


def _moved(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.with_name("moved").rename(path)


@pytest.mark.parametrize(("change", "share"), [(_vacuumed, 0.2), (_moved, 0.0)])
def test_moved_pages_cost_only_skeletons(archive, tmp_path, change: Callable[[Path], None], share):
    """VACUUM moves every page; the rows' bytes are not stored again. A copy elsewhere costs nothing."""
    path = tmp_path / "state.vscdb"
    _database(path, 4096, 5, rows=400)
    for seed in range(20):
        _change(path, seed)
    before, first_bytes = _stored(archive, path.read_bytes(), 4096, None)
    change(path)
    data = path.read_bytes()
    image, new_bytes = _stored(archive, data, 4096, None)
    assert _joined(archive, image) == data
    assert new_bytes <= share * first_bytes
    assert before.size_bytes > 1_000_000


def test_a_small_change_is_stored_as_a_patch(archive, tmp_path):
    """One new row in a database of some megabytes: the leaves, nodes and index pages around it are patches."""
    path = tmp_path / "state.vscdb"
    _database(path, 4096, 9, rows=1500)
    before, _ = _stored(archive, path.read_bytes(), 4096, None)
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO kv VALUES ('bubbleId:8', 'a short answer')")
        db.commit()
    data = path.read_bytes()
    image, _ = _stored(archive, data, 4096, before)
    assert _joined(archive, image) == data
    new = {child.blob for child in read.leaves(archive.reader, image)} - {
        child.blob for child in read.leaves(archive.reader, before)
    }
    depths = [archive.index.patch_depth(blob) for blob in new]
    assert depths.count(1) >= len(depths) - 1


@pytest.mark.spec("AR-33")
def test_patches_do_not_pile_up(archive, tmp_path):
    """After twenty small changes no blob is more than eight patches away from one that is whole."""
    path = tmp_path / "state.vscdb"
    _database(path, 4096, 11, rows=300)
    image = None
    for number in range(20):
        with closing(sqlite3.connect(path)) as db:
            db.execute("INSERT INTO kv VALUES (?, 'x')", (f"bubbleId:8{number:03}",))
            db.commit()
        image, _ = _stored(archive, path.read_bytes(), 4096, image)
    depths = [archive.index.patch_depth(child.blob) for child in read.leaves(archive.reader, image)]
    assert 1 < max(depths) <= 8
    assert _joined(archive, image) == path.read_bytes()


def test_a_wal_shares_the_pages_of_its_database(archive, tmp_path):
    """A raw WAL whose frames are all in the image adds little but frame headers."""
    path = tmp_path / "state.vscdb"
    with closing(apsw.Connection(str(path))) as db:
        db.pragma("journal_mode", "wal")
        db.wal_autocheckpoint(0)
        db.execute("CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        source = random.Random(3)
        with db:
            db.executemany(
                "INSERT INTO kv VALUES (?, ?)", [(str(n), source.randbytes(3000)) for n in range(800)]
            )
        wal = Path(f"{path}-wal").read_bytes()
        with (
            closing(apsw.Connection(str(tmp_path / "copy"))) as copy,
            copy.backup("main", db, "main") as backup,
        ):
            backup.step()
    _stored(archive, (tmp_path / "copy").read_bytes(), 4096, None)
    image, new_bytes = _stored(archive, wal, 0, None)
    assert _joined(archive, image) == wal
    assert len(wal) > 2_500_000
    assert new_bytes < len(wal) / 10


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_stretch_can_be_read_alone(archive, tmp_path_factory, data):
    """Reading bytes from the middle of an image gives what the joined image has there."""
    path = tmp_path_factory.mktemp("db") / "state.vscdb"
    _database(path, data.draw(st.sampled_from(PAGE_SIZES)), data.draw(st.integers(0, 50)))
    whole = path.read_bytes()
    image, _ = _stored(archive, whole, 4096, None)
    file = ImageFile(archive.reader, image)
    for _ in range(5):
        offset = data.draw(st.integers(0, len(whole) + 100))
        length = data.draw(st.integers(0, 2 * LEAF_BYTES))
        assert file.read(offset, length) == whole[offset : offset + length]


def _all_records(blobs: BlobsInMemory, image: Image) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for child in read.leaves(blobs, image):
        found.update(read.read_split(blobs, child).record_ids() if child.kind == SPLIT else [child.blob])
    return found


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 400), grow=st.integers(0, 400))
def test_a_comparison_says_what_appeared_and_disappeared(tmp_path_factory, seed, rows, grow):
    """Against a naive comparison of all records; and only differing nodes and leaves are read."""
    path = tmp_path_factory.mktemp("db") / "state.vscdb"
    blobs = BlobsInMemory()
    images = []
    _database(path, 4096, seed, rows)
    for step in range(2):
        data = path.read_bytes()
        writing = PagedImage(blobs, 4096, Earlier(blobs, None))
        writing.write(0, data)
        images.append(writing.finish(len(data)))
        if step == 0:
            _change(path, seed)
            _grow(path, seed, grow)
    for old, new in (images, reversed(images)):
        before, after = _all_records(blobs, old), _all_records(blobs, new)
        found = compare(blobs, old, new)
        assert found.appeared == set(after - before)
        assert found.disappeared == set(before - after)
    assert list(changed_leaves(blobs, images[0], images[0])) == []


def _grow(path: Path, seed: int, rows: int) -> None:
    source = random.Random(seed + 1)
    with closing(sqlite3.connect(path)) as db:
        db.executemany("INSERT INTO kv VALUES (?, ?)", (_row(source) for _ in range(rows)))
        db.commit()


def test_a_comparison_reads_only_what_differs(tmp_path):
    """Two versions of a large image that differ in one row: few of its many blobs are read."""
    path = tmp_path / "state.vscdb"
    _database(path, 4096, 2, rows=3000)
    blobs, images = BlobsInMemory(), []
    for value in ("first", "other"):
        with closing(sqlite3.connect(path)) as db:
            db.execute("INSERT INTO kv VALUES ('bubbleId:8', ?)", (value * 200,))
            db.commit()
        writing = PagedImage(blobs, 4096, Earlier(blobs, None))
        writing.write(0, path.read_bytes())
        images.append(writing.finish(path.stat().st_size))
    blobs.read_count = 0
    assert compare(blobs, *images).leaves <= 4
    assert blobs.read_count < len(blobs.blobs) / 50


@pytest.mark.spec("AR-44")
@pytest.mark.parametrize(
    "lie",
    [
        SplitLeaf([3, 5], b"abc", b""),
        SplitLeaf([3], b"ab", b""),
        SplitLeaf([3, 0, 5], b"abcabcde", bytes(16)),
        SplitLeaf([-1, 5, 4], b"abc", bytes(16)),
        SplitLeaf([3, 4], b"abc", bytes(16)),
    ],
)
def test_a_skeleton_that_lies_is_refused(lie):
    """Lengths that do not add up to the leaf, its literals and its ids are damage."""
    with pytest.raises(DamageError):
        leaf_layout.decode(leaf_layout.encode(lie), 8, "a leaf")


def test_a_corrupt_database_is_stored_all_the_same(archive, tmp_path):
    """Random bytes in the middle of a database cost room, never bytes."""
    path = tmp_path / "state.vscdb"
    _database(path, 4096, 4, rows=200)
    data = bytearray(path.read_bytes())
    source = random.Random(1)
    for _ in range(300):
        data[source.randrange(100, len(data))] = source.randrange(256)
    image, _ = _stored(archive, bytes(data), 4096, None)
    assert _joined(archive, image) == data
