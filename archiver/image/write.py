"""Builds an image: leaves as they come, then the tree above them."""

from array import array
from typing import Protocol

from archiver import hashing
from archiver.image.cut import LEAF_BYTES, LineCutter
from archiver.layout import node as layout
from archiver.layout.manifest import Image
from archiver.layout.node import MAX_LEVEL, WHOLE, Child, Node
from archiver.model import BlobId
from archiver.repo.packer import Stream

FAN_OUT = 16
NOT_YET = BlobId(bytes(hashing.BLOB_ID_BYTES))


class BlobSink(Protocol):
    """Where blobs go: a packer."""

    def put(self, data: bytes, stream: Stream) -> BlobId:
        """Store a blob and give its id."""


class _Level:
    """The children of one level so far, 24 bytes each: a database of 50 GB has 400,000 leaves."""

    def __init__(self) -> None:
        self._ids = bytearray()
        self._lengths = array("Q")

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, covered_bytes: int, blob: BlobId) -> None:
        self._lengths.append(covered_bytes)
        self._ids += blob

    def replace_first(self, blob: BlobId) -> None:
        self._ids[: len(blob)] = blob

    def node(self, level: int, start: int) -> Node:
        """The node above the children from ``start`` on."""
        numbers = range(start, min(start + FAN_OUT, len(self)))
        size = hashing.BLOB_ID_BYTES
        return Node(
            level,
            [Child(WHOLE, self._lengths[n], bytes(self._ids[size * n : size * (n + 1)])) for n in numbers],
        )


class PagedImage:
    """An image that is cut at fixed places: databases, and raw files that share their leaves.

    Offsets must rise; a gap reads as zeros (SQLite never writes the lock-byte page). Only the first leaf may be written
    to late, since SQLite's backup writes the first page last.
    """

    def __init__(self, sink: BlobSink, page_bytes: int) -> None:
        self._sink = sink
        self._page_bytes = page_bytes
        self._first: bytearray | None = None
        self._leaf = bytearray()
        self._start = 0
        self._leaves = _Level()

    def write(self, offset: int, data: bytes) -> None:
        """Take in ``data``, which lies at ``offset`` of the image."""
        end = self._start + len(self._leaf)
        if offset < end:
            self._patch_first(offset, data)
            return
        self._extend(bytes(offset - end))
        self._extend(data)

    def finish(self, size_bytes: int) -> Image:
        """Store the rest and the tree.

        Raises:
            ValueError: More was written than ``size_bytes``.
        """
        end = self._start + len(self._leaf)
        if end > size_bytes:
            raise ValueError(f"{end} bytes were written to an image of {size_bytes}")
        self._extend(bytes(size_bytes - end))
        if self._leaf:
            self._leaves.append(len(self._leaf), self._sink.put(bytes(self._leaf), Stream.DATA))
        if self._first is not None:
            self._leaves.replace_first(self._sink.put(bytes(self._first), Stream.DATA))
        return Image(size_bytes, _store_tree(self._sink, self._leaves), self._page_bytes)

    def _patch_first(self, offset: int, data: bytes) -> None:
        leaf = self._leaf if self._first is None else self._first
        if offset + len(data) > len(leaf):
            raise ValueError(f"bytes at {offset} were written out of order")
        leaf[offset : offset + len(data)] = data

    def _extend(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view) > 0:
            taken = view[: LEAF_BYTES - len(self._leaf)]
            self._leaf += taken
            view = view[len(taken) :]
            if len(self._leaf) == LEAF_BYTES:
                self._end_leaf()

    def _end_leaf(self) -> None:
        if self._first is None:
            self._first = self._leaf
            self._leaves.append(LEAF_BYTES, NOT_YET)
        else:
            self._leaves.append(LEAF_BYTES, self._sink.put(bytes(self._leaf), Stream.DATA))
        self._start += LEAF_BYTES
        self._leaf = bytearray()


class LinedImage:
    """An image that is cut after lines; offsets must follow on each other."""

    def __init__(self, sink: BlobSink) -> None:
        self._sink = sink
        self._cutter = LineCutter()
        self._leaves = _Level()
        self._end = 0

    def write(self, offset: int, data: bytes) -> None:
        """Take in the next bytes."""
        if offset != self._end:
            raise ValueError(f"bytes at {offset} were written out of order, expected {self._end}")
        self._end += len(data)
        for leaf in self._cutter.feed(data):
            self._leaves.append(len(leaf), self._sink.put(leaf, Stream.DATA))

    def finish(self, size_bytes: int) -> Image:
        """Store the rest and the tree.

        Raises:
            ValueError: Another number of bytes was written than ``size_bytes``.
        """
        if self._end != size_bytes:
            raise ValueError(f"{self._end} bytes were written to an image of {size_bytes}")
        if rest := self._cutter.rest():
            self._leaves.append(len(rest), self._sink.put(rest, Stream.DATA))
        return Image(size_bytes, _store_tree(self._sink, self._leaves))


def _store_tree(sink: BlobSink, children: _Level) -> str:
    """Store the nodes above ``children`` and give the root's id in hex; empty for no children."""
    for level in range(MAX_LEVEL + 1):
        above = _Level()
        for start in range(0, len(children), FAN_OUT):
            node = children.node(level, start)
            above.append(node.covered_bytes, sink.put(layout.encode(node), Stream.TREE))
        if len(above) <= 1:
            return above.node(level + 1, 0).children[0].id.hex() if len(above) else ""
        children = above
    raise ValueError(f"an image of {len(children)} leaves is too large")
