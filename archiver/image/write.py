"""Builds an image: leaves as they come, then the tree above them."""

from archiver.image import cut
from archiver.image.ahead import Ahead
from archiver.image.cut import Cut, LineCutter
from archiver.image.earlier import Earlier
from archiver.image.store import BlobSink, Place, store_leaf
from archiver.image.tree import Level, not_yet, store_tree
from archiver.layout.manifest import Image
from archiver.layout.node import WHOLE, Child
from archiver.model import BlobId
from archiver.repo.packer import Stream


class PagedImage:
    """An image that is cut at fixed places: databases, WALs, and raw files that share their leaves.

    Offsets must rise; a gap reads as zeros (SQLite never writes the lock-byte page). Only the first leaf may be written
    to late, since SQLite's backup writes the first page last.

    Args:
        sink: Where blobs go.
        page_bytes: The page size of a database whose first page may come last; 0 if the first bytes tell what it is.
        earlier: The image before.
    """

    def __init__(self, sink: BlobSink, page_bytes: int, earlier: Earlier) -> None:
        self._sink = sink
        self._page_bytes = page_bytes
        self._cut: Cut | None = cut.pages(page_bytes) if page_bytes else None
        self._earlier = earlier
        self._first: bytearray | None = None
        self._leaf = bytearray()
        self._start = 0
        self._leaves = Level()
        self._ahead = Ahead(sink.identify, self._append)

    def write(self, offset: int, data: bytes) -> None:
        """Take in ``data``, which lies at ``offset`` of the image."""
        end = self._start + len(self._leaf)
        if offset < end:
            self._patch_first(offset, data)
            return
        found = self._known_cut(data)
        if offset > end:
            self._extend(found, bytes(offset - end))
        self._extend(found, data)

    def finish(self, size_bytes: int) -> Image:
        """Store the rest and the tree.

        Raises:
            ValueError: More was written than ``size_bytes``.
        """
        end = self._start + len(self._leaf)
        if end > size_bytes:
            raise ValueError(f"{end} bytes were written to an image of {size_bytes}")
        self._extend(self._known_cut(), bytes(size_bytes - end))
        if self._leaf:
            self._ahead.add(bytes(self._leaf))
        self._ahead.finish()
        if self._first is not None:
            first = bytes(self._first)
            self._leaves.replace(0, self._stored(first, self._sink.identify(first), 0))
        return Image(size_bytes, store_tree(self._sink, self._leaves, self._earlier), self._page_bytes)

    def _known_cut(self, start: bytes = b"") -> Cut:
        """Where to cut; a raw file's first bytes tell."""
        if self._cut is None:
            self._cut = cut.fitting(start)
        return self._cut

    def _patch_first(self, offset: int, data: bytes) -> None:
        leaf = self._leaf if self._first is None else self._first
        if offset + len(data) > len(leaf):
            raise ValueError(f"bytes at {offset} were written out of order")
        leaf[offset : offset + len(data)] = data

    def _extend(self, found: Cut, data: bytes) -> None:
        view, at = memoryview(data), 0
        while at < len(view):
            leaf_bytes = found.first_bytes if self._start == 0 else found.leaf_bytes
            taken = view[at : at + leaf_bytes - len(self._leaf)]
            at += len(taken)
            if len(taken) == leaf_bytes:
                self._end_leaf(taken)
                continue
            self._leaf += taken
            if len(self._leaf) == leaf_bytes:
                leaf, self._leaf = self._leaf, bytearray()
                self._end_leaf(leaf)

    def _end_leaf(self, leaf: bytearray | memoryview) -> None:
        if self._start == 0:
            self._first = bytearray(leaf)
            self._leaves.append(not_yet(len(leaf)))
        else:
            self._ahead.add(bytes(leaf))
        self._start += len(leaf)

    def _append(self, leaf: bytes, content: BlobId) -> None:
        self._leaves.append(self._stored(leaf, content, len(self._leaves)))

    def _stored(self, leaf: bytes, content: BlobId, number: int) -> Child:
        spans = self._known_cut().records(memoryview(leaf), number)
        return store_leaf(self._sink, leaf, content, spans, Place(number, self._earlier))


class LinedImage:
    """An image that is cut after lines; offsets must follow on each other."""

    def __init__(self, sink: BlobSink, earlier: Earlier) -> None:
        self._sink = sink
        self._earlier = earlier
        self._cutter = LineCutter()
        self._leaves = Level()
        self._end = 0

    def write(self, offset: int, data: bytes) -> None:
        """Take in the next bytes."""
        if offset != self._end:
            raise ValueError(f"bytes at {offset} were written out of order, expected {self._end}")
        self._end += len(data)
        for leaf in self._cutter.feed(data):
            self._append(leaf)

    def finish(self, size_bytes: int) -> Image:
        """Store the rest and the tree.

        Raises:
            ValueError: Another number of bytes was written than ``size_bytes``.
        """
        if self._end != size_bytes:
            raise ValueError(f"{self._end} bytes were written to an image of {size_bytes}")
        if rest := self._cutter.rest():
            self._append(rest)
        return Image(size_bytes, store_tree(self._sink, self._leaves, self._earlier))

    def _append(self, leaf: bytes) -> None:
        self._leaves.append(Child(WHOLE, len(leaf), self._sink.put(leaf, Stream.DATA)))
