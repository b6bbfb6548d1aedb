"""Stores the leaves of an image, split into records where that pays, or as they are."""

from collections.abc import Iterator
from typing import Protocol

from archiver.errors import ArchiveError, DamageError
from archiver.layout import leaf as layout
from archiver.layout.leaf import SplitLeaf
from archiver.layout.node import SPLIT, WHOLE, Child
from archiver.model import BlobId
from archiver.repo.packer import Stream


class BlobSink(Protocol):
    """Where blobs go: a packer."""

    def put(self, data: bytes, stream: Stream) -> BlobId:
        """Store a blob and give its id."""

    def identify(self, data: bytes) -> BlobId:
        """The id that a blob would have."""


class Earlier:
    """The leaves of an earlier image of the same source, asked for in rising order.

    Args:
        found: The leaves in order, read as they are needed. Where they cannot be read there is none.
    """

    def __init__(self, found: Iterator[Child]) -> None:
        self._rest = found
        self._count = 0
        self._first: Child | None = None
        self._last: Child | None = None

    def leaf(self, number: int) -> Child | None:
        """The earlier leaf of this number; the first may be asked for again at the end."""
        while self._count <= number:
            self._last = self._next()
            if self._count == 0:
                self._first = self._last
            self._count += 1
        return self._first if number == 0 else self._last

    def _next(self) -> Child | None:
        try:
            return next(self._rest, None)
        except ArchiveError:
            self._rest = iter(())
            return None


def store_leaf(
    sink: BlobSink, data: bytes, records: Iterator[tuple[int, int]], earlier: Child | None
) -> Child:
    """Store one leaf, unless it is the same as the earlier one in its place.

    Args:
        sink: Where blobs go.
        data: The leaf's bytes.
        records: Offset and end of each record in it; only looked at when the leaf is new.
        earlier: What the image before had in this place.

    Raises:
        DamageError: What was split does not join to the same bytes.
    """
    content = sink.identify(data)
    if earlier is not None and earlier.content == content and earlier.covered_bytes == len(data):
        return earlier
    split = _split(sink, data, records)
    if split is None:
        return Child(WHOLE, len(data), sink.put(data, Stream.DATA))
    return Child(SPLIT, len(data), sink.put(layout.encode(split), Stream.LEAF), content)


def _split(sink: BlobSink, data: bytes, records: Iterator[tuple[int, int]]) -> SplitLeaf | None:
    """Store the records and give the skeleton; nothing when there is no record."""
    lengths: list[int] = []
    literals: list[bytes] = []
    parts: list[bytes] = []
    ids: list[BlobId] = []
    at = 0
    for start, end in records:
        literals.append(data[at:start])
        parts.append(data[start:end])
        lengths += (start - at, end - start)
        ids.append(sink.put(parts[-1], Stream.DATA))
        at = end
    if not ids:
        return None
    literals.append(data[at:])
    lengths.append(len(data) - at)
    joined = b"".join(piece for pair in zip(literals, [*parts, b""], strict=True) for piece in pair)
    if joined != data:
        raise DamageError(
            "a leaf that was just split joins to other bytes: this is a bug, and nothing was kept"
        )
    return SplitLeaf(lengths, b"".join(literals), b"".join(ids))
