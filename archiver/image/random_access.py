"""Reads any stretch of an image without joining the rest."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from itertools import accumulate

from archiver.errors import DamageError
from archiver.image.read import BlobReader, read_leaf, read_node, read_part, read_split
from archiver.layout.leaf import Literal, Record
from archiver.layout.manifest import Image
from archiver.layout.node import SPLIT, Child
from archiver.model import BlobId

CACHED_NODES = 256
CACHED_LEAVES = 64


class ImageFile:
    """An image as a file to read from; every blob is checked against its id.

    Args:
        reader: Where blobs come from.
        image: The image.
    """

    def __init__(self, reader: BlobReader, image: Image) -> None:
        self._reader = reader
        self._image = image
        self._nodes: OrderedDict[BlobId, _Table] = OrderedDict()
        self._leaves: OrderedDict[BlobId, list[Literal | Record]] = OrderedDict()

    @property
    def size_bytes(self) -> int:
        """The image's length."""
        return self._image.size_bytes

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``; fewer where the image ends.

        Raises:
            DamageError: A blob that is needed is missing or was changed.
        """
        end = min(offset + length, self._image.size_bytes)
        return b"".join(self._pieces(offset, end)) if offset < end else b""

    def _pieces(self, offset: int, end: int) -> Iterator[bytes]:
        while offset < end:
            start, child = self._leaf_at(offset)
            stop = min(end, start + child.covered_bytes)
            yield from self._cut_out(child, offset - start, stop - start)
            offset = stop

    def _leaf_at(self, offset: int) -> tuple[int, Child]:
        """The leaf that covers ``offset``, and where it starts."""
        blob, level, covered, start = self._image.root_blob, None, self._image.size_bytes, 0
        while blob is not None:
            table = self._table(blob, level, covered)
            place = bisect_right(table.ends, offset - start)
            child = table.children[place]
            start += table.ends[place] - child.covered_bytes
            if table.level == 0:
                return start, child
            blob, level, covered = child.blob, table.level - 1, child.covered_bytes
        raise DamageError(f"an image of {self._image.size_bytes} bytes has no root")

    def _table(self, blob: BlobId, level: int | None, covered_bytes: int) -> "_Table":
        found = self._nodes.get(blob)
        if found is None:
            node = read_node(self._reader, blob, level, covered_bytes)
            found = self._nodes[blob] = _Table(node.level, node.children)
            if len(self._nodes) > CACHED_NODES:
                self._nodes.popitem(last=False)
        self._nodes.move_to_end(blob)
        return found

    def _cut_out(self, child: Child, start: int, end: int) -> Iterator[bytes]:
        """Bytes ``start`` to ``end`` of a leaf, from the parts that hold them."""
        if child.kind != SPLIT:
            yield read_leaf(self._reader, child)[start:end]
            return
        for part in self._parts(child):
            length = len(part.data) if isinstance(part, Literal) else part.length
            if part.offset < end and part.offset + length > start:
                yield read_part(self._reader, part)[max(0, start - part.offset) : end - part.offset]

    def _parts(self, child: Child) -> list[Literal | Record]:
        found = self._leaves.get(child.blob)
        if found is None:
            found = self._leaves[child.blob] = list(read_split(self._reader, child).parts())
            if len(self._leaves) > CACHED_LEAVES:
                self._leaves.popitem(last=False)
        self._leaves.move_to_end(child.blob)
        return found


class _Table:
    """The children of a node, and where each ends."""

    def __init__(self, level: int, children: list[Child]) -> None:
        self.level = level
        self.children = children
        self.ends = list(accumulate(child.covered_bytes for child in children))
