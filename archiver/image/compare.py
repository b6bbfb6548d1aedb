"""What differs between two images, without reading what is the same."""

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from archiver.image.read import BlobReader, read_node, read_split
from archiver.layout.manifest import Image
from archiver.layout.node import SPLIT, Child, Node
from archiver.model import BlobId


class ChangedLeaf(NamedTuple):
    """A place where two images differ; ``offset`` is that of the leaf in the image that has it."""

    offset: int
    old: Child | None
    new: Child | None


class Comparison(NamedTuple):
    """How two images differ.

    Attributes:
        leaves: Leaves that differ.
        appeared: Records in leaves of the new image that were not in the old one's differing leaves.
        disappeared: The other way round. A record that only moved is in neither.
    """

    leaves: int
    appeared: set[BlobId]
    disappeared: set[BlobId]


def compare(reader: BlobReader, old: Image, new: Image) -> Comparison:
    """Compare two images, record by record.

    Raises:
        DamageError: A blob that is needed is missing or was changed.
    """
    balance: Counter[BlobId] = Counter()
    count = 0
    for leaf in changed_leaves(reader, old, new):
        count += 1
        balance.update(_records(reader, leaf.new))
        balance.subtract(_records(reader, leaf.old))
    return Comparison(
        count,
        {blob for blob, number in balance.items() if number > 0},
        {blob for blob, number in balance.items() if number < 0},
    )


def changed_leaves(reader: BlobReader, old: Image, new: Image) -> Iterator[ChangedLeaf]:
    """The leaves that differ, in order; subtrees that both images share are passed over unread."""
    yield from _changed(reader, _root(reader, old), _root(reader, new))


class _Place(NamedTuple):
    """A node, and where in its image it starts."""

    node: Node
    offset: int

    def children(self) -> Iterator[tuple[int, Child]]:
        """Where each child starts, and the child."""
        offset = self.offset
        for child in self.node.children:
            yield offset, child
            offset += child.covered_bytes


def _changed(reader: BlobReader, old: _Place, new: _Place) -> Iterator[ChangedLeaf]:
    if old.node.level > new.node.level:
        for before, after in _under(reader, old, new):
            yield from _changed(reader, before, after)
    elif new.node.level > old.node.level:
        for after, before in _under(reader, new, old):
            yield from _changed(reader, before, after)
    else:
        yield from _changed_below(reader, old, new)


def _under(reader: BlobReader, taller: _Place, other: _Place) -> Iterator[tuple[_Place, _Place]]:
    """The subtrees of the taller tree, and what lies in their places in the other: all of it under the first."""
    for number, (offset, child) in enumerate(taller.children()):
        below = _place(reader, offset, child, taller.node.level - 1)
        yield below, other if number == 0 else _Place(Node(below.node.level, []), offset)


def _changed_below(reader: BlobReader, old: _Place, new: _Place) -> Iterator[ChangedLeaf]:
    """Differences between two nodes of the same level."""
    level = new.node.level - 1
    nothing = (0, None)
    for (old_offset, before), (new_offset, after) in zip_longest(
        old.children(), new.children(), fillvalue=nothing
    ):
        if before == after:
            continue
        if level < 0:
            yield ChangedLeaf(old_offset if after is None else new_offset, before, after)
        else:
            old_place = _place(reader, old_offset, before, level)
            yield from _changed(reader, old_place, _place(reader, new_offset, after, level))


def _place(reader: BlobReader, offset: int, child: Child | None, level: int) -> _Place:
    if child is None:
        return _Place(Node(level, []), offset)
    return _Place(read_node(reader, child.blob, level, child.covered_bytes), offset)


def _root(reader: BlobReader, image: Image) -> _Place:
    if image.root_blob is None:
        return _Place(Node(0, []), 0)
    return _Place(read_node(reader, image.root_blob, None, image.size_bytes), 0)


def _records(reader: BlobReader, leaf: Child | None) -> list[BlobId]:
    """The records of a leaf; a leaf that is not split is one."""
    if leaf is None:
        return []
    return read_split(reader, leaf).record_ids() if leaf.kind == SPLIT else [leaf.blob]
