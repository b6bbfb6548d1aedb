"""Images: whatever is written is joined again, bit for bit."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.errors import DamageError
from archiver.image import read
from archiver.image.cut import LEAF_BYTES, MAX_BYTES, MIN_BYTES, LineCutter
from archiver.image.earlier import Earlier
from archiver.image.tree import FAN_OUT
from archiver.image.write import LinedImage, PagedImage
from archiver.layout import node
from archiver.layout.manifest import Image
from archiver.layout.node import Child, Node
from tests.support.blobs import BlobsInMemory

PAGE = 4096
NOTHING = Earlier(BlobsInMemory(), None)


def _joined(blobs, image) -> bytes:
    return b"".join(read.join(blobs, image))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.integers(0, 3 * LEAF_BYTES), step=st.integers(1, 70_000))
def test_a_paged_image_comes_back(seed, size, step):
    """Any bytes, written in pieces of any length, are joined to the same bytes."""
    data = random.Random(seed).randbytes(size)
    blobs = BlobsInMemory()
    image = PagedImage(blobs, 0, NOTHING)
    for start in range(0, size, step):
        image.write(start, data[start : start + step])
    assert _joined(blobs, image.finish(size)) == data


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), pages=st.integers(1, 100))
def test_the_first_page_may_come_last(seed, pages):
    """A database written in the order of SQLite's backup (page 1 last) gives the same image as one in file order."""
    data = random.Random(seed).randbytes(pages * PAGE)
    late, plain = BlobsInMemory(), BlobsInMemory()
    image = PagedImage(late, PAGE, NOTHING)
    for start in [*range(PAGE, len(data), PAGE), 0]:
        image.write(start, data[start : start + PAGE])
    other = PagedImage(plain, PAGE, NOTHING)
    other.write(0, data)
    assert image.finish(len(data)) == other.finish(len(data))
    assert late.blobs == plain.blobs


def test_a_gap_reads_as_zeros():
    """A page that is never written (the lock-byte page) and a missing end are zeros."""
    blobs = BlobsInMemory()
    image = PagedImage(blobs, PAGE, NOTHING)
    image.write(0, b"a" * PAGE)
    image.write(2 * PAGE, b"b" * PAGE)
    assert _joined(blobs, image.finish(4 * PAGE)) == b"a" * PAGE + bytes(PAGE) + b"b" * PAGE + bytes(PAGE)


def test_only_the_first_leaf_may_be_written_late():
    """Writing back into a leaf that is stored is a mistake of the caller, and noticed."""
    image = PagedImage(BlobsInMemory(), PAGE, NOTHING)
    image.write(0, bytes(3 * LEAF_BYTES))
    with pytest.raises(ValueError, match="out of order"):
        image.write(LEAF_BYTES, bytes(PAGE))


@pytest.mark.spec("AR-42")
def test_equal_parts_are_equal_blobs():
    """Two databases that differ in one page differ in one record, its leaf, and the two nodes above."""
    data = bytearray(random.Random(1).randbytes(FAN_OUT * 3 * LEAF_BYTES))
    blobs = BlobsInMemory()
    first = PagedImage(blobs, PAGE, NOTHING)
    first.write(0, bytes(data))
    first.finish(len(data))
    before = len(blobs.blobs)
    data[5 * LEAF_BYTES + 7] ^= 1
    second = PagedImage(blobs, PAGE, NOTHING)
    second.write(0, bytes(data))
    assert _joined(blobs, second.finish(len(data))) == data
    assert len(blobs.blobs) - before == 4


lines = st.lists(
    st.binary(min_size=0, max_size=3000).map(lambda line: line.replace(b"\n", b"") * 20), max_size=60
)


@settings(deadline=None, max_examples=60)
@given(lines=lines, step=st.integers(1, 200_000))
def test_a_lined_image_comes_back_and_leaves_are_bounded(lines, step):
    """Any text is joined to the same bytes, and no leaf is longer than the bound."""
    data = b"\n".join(lines)
    blobs = BlobsInMemory()
    image = LinedImage(blobs, NOTHING)
    for start in range(0, len(data), step):
        image.write(start, data[start : start + step])
    stored = image.finish(len(data))
    assert _joined(blobs, stored) == data
    assert all(child.covered_bytes <= MAX_BYTES for child in read.leaves(blobs, stored))


def _cut(data: bytes, step: int = 1 << 20) -> list[bytes]:
    cutter = LineCutter()
    leaves = [leaf for start in range(0, len(data), step) for leaf in cutter.feed(data[start : start + step])]
    return [*leaves, cutter.rest()]


def test_where_lines_are_cut_does_not_depend_on_how_they_are_fed():
    """The same bytes give the same leaves whatever pieces they come in."""
    source = random.Random(2)
    data = b"".join(
        source.randbytes(source.randrange(4000)).replace(b"\n", b" ") + b"\n" for _ in range(2000)
    )
    assert _cut(data) == _cut(data, 777) == _cut(data, 65_536)
    assert len(_cut(data)) > 10


def test_an_inserted_line_changes_little():
    """After a line in the middle of a transcript changes, nearly all leaves are the ones from before."""
    source = random.Random(3)
    rows = [source.randbytes(900).replace(b"\n", b" ") + b"\n" for _ in range(3000)]
    before = _cut(b"".join(rows))
    rows.insert(1500, b"a new line\n")
    after = _cut(b"".join(rows))
    assert len(set(after) - set(before)) <= 2
    assert all(len(leaf) >= MIN_BYTES for leaf in before[:-1])


def test_a_very_long_line_does_not_need_its_length_in_memory():
    """One line of 40 MB is cut into leaves of at most the bound."""
    leaves = _cut(b"x" * 40_000_000)
    assert b"".join(leaves) == b"x" * 40_000_000
    assert max(map(len, leaves)) <= MAX_BYTES


@pytest.mark.spec("AR-40")
@pytest.mark.parametrize("lie", ["too long", "too short", "child", "level", "missing root"])
def test_a_tree_that_lies_is_refused(lie):
    """Nodes that do not cover what their parent says are damage, never a wrong image."""
    blobs = BlobsInMemory()
    leaf = Child(0, 3, blobs.put(b"abc", None))
    good = Node(0, [leaf])
    cases = {
        "too long": (good, 4),
        "too short": (good, 2),
        "child": (Node(0, [Child(0, 4, leaf.id)]), 4),
        "level": (Node(2, [Child(0, 3, blobs.put(node.encode(good), None))]), 3),
        "missing root": (None, 3),
    }
    root, size = cases[lie]
    image = Image(size, "" if root is None else blobs.put(node.encode(root), None).hex())
    with pytest.raises(DamageError):
        _joined(blobs, image)
