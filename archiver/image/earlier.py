"""The image of the same source in the snapshot before: what is still the same, and what new parts may be patches of."""

from collections.abc import Iterator

from archiver.errors import ArchiveError
from archiver.image.read import BlobReader, read_node, read_split
from archiver.layout.leaf import SplitLeaf
from archiver.layout.manifest import Image
from archiver.layout.node import SPLIT, Child
from archiver.model import BlobId


class Earlier:
    """An earlier image, walked once from its first leaf to its last.

    Where it cannot be read, nothing is known of it, and the new image is stored without its help.

    Args:
        reader: Where its tree is read from.
        image: The earlier image; nothing if there is none.
    """

    def __init__(self, reader: BlobReader, image: Image | None) -> None:
        self._reader = reader
        self._nodes: dict[int, list[BlobId]] = {}
        self._rest = iter(()) if image is None else self._walk(image)
        self._count = 0
        self._first: Child | None = None
        self._last: Child | None = None

    def leaf(self, number: int) -> Child | None:
        """The leaf of this number. Numbers must rise; the first may be asked for again at the end."""
        while self._count <= number:
            self._last = self._next()
            if self._count == 0:
                self._first = self._last
            self._count += 1
        return self._first if number == 0 else self._last

    def skeleton(self, child: Child | None) -> SplitLeaf | None:
        """The skeleton of an earlier leaf, if it has one."""
        if child is None or child.kind != SPLIT:
            return None
        try:
            return read_split(self._reader, child)
        except ArchiveError:
            return None

    def node(self, level: int, number: int) -> BlobId | None:
        """The node of this level and number, as far as the walk has come."""
        known = self._nodes.get(level, [])
        return known[number] if number < len(known) else None

    def _next(self) -> Child | None:
        try:
            return next(self._rest, None)
        except ArchiveError:
            self._rest = iter(())
            return None

    def _walk(self, image: Image) -> Iterator[Child]:
        if image.root_blob is not None:
            yield from self._below(image.root_blob, None, image.size_bytes)

    def _below(self, blob: BlobId, level: int | None, covered_bytes: int) -> Iterator[Child]:
        node = read_node(self._reader, blob, level, covered_bytes)
        self._nodes.setdefault(node.level, []).append(blob)
        for child in node.children:
            if node.level == 0:
                yield child
            else:
                yield from self._below(child.blob, node.level - 1, child.covered_bytes)
