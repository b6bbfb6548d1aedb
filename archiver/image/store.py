"""Stores the leaves of an image, split into records where that pays, or as they are."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from archiver.errors import DamageError
from archiver.image.earlier import Earlier
from archiver.layout import leaf as layout
from archiver.layout.leaf import Record, SplitLeaf
from archiver.layout.node import SPLIT, WHOLE, Child
from archiver.model import BlobId
from archiver.repo.packer import Stream

RELATED_SHARE = 4
"""Two leaves are versions of each other if one in this many records of the new one is in the old one."""


class BlobSink(Protocol):
    """Where blobs go: a packer."""

    def put(self, data: bytes, stream: Stream, base: BlobId | None = None) -> BlobId:
        """Store a blob, perhaps as a patch of ``base``, and give its id."""

    def identify(self, data: bytes) -> BlobId:
        """The id that a blob would have."""

    def add(self, blob: BlobId, data: bytes, stream: Stream, base: BlobId | None = None) -> None:
        """As ``put``, for a caller that has identified ``data`` already."""


class Place(NamedTuple):
    """Which leaf of an image, and the image before."""

    number: int
    earlier: Earlier


class Span(NamedTuple):
    """A record in a leaf; ``page`` says that it is nearly all of one page, and may be a patch of that page's last version."""

    start: int
    end: int
    page: bool


class _Version(NamedTuple):
    """The records of an earlier version of a leaf, all of which are stored."""

    records: frozenset[BlobId]
    by_offset: dict[int, BlobId]


def store_leaf(sink: BlobSink, data: bytes, content: BlobId, spans: Iterator[Span], place: Place) -> Child:
    """Store one leaf, unless it is the same as the earlier one in its place.

    Args:
        sink: Where blobs go.
        data: The leaf's bytes.
        content: The id that they have as a blob.
        spans: The records in it, in order; only looked at when the leaf is new.
        place: Where the leaf stands.

    Raises:
        DamageError: What was split does not join to the same bytes.
    """
    before = place.earlier.leaf(place.number)
    if before is not None and before.content == content and before.covered_bytes == len(data):
        return before
    found = list(spans)
    if not found:
        sink.add(content, data, Stream.DATA)
        return Child(WHOLE, len(data), content)
    records = [data[span.start : span.end] for span in found]
    ids = [sink.identify(record) for record in records]
    skeleton = _skeleton(data, found, records, ids)
    version = _version_before(place.earlier.skeleton(before), ids)
    for span, blob, record in zip(found, ids, records, strict=True):
        if blob in version.records:
            continue
        if span.page:
            sink.add(blob, record, Stream.PAGE, version.by_offset.get(span.start))
        else:
            sink.add(blob, record, Stream.DATA)
    base = before.blob if before is not None and version.records else None
    return Child(SPLIT, len(data), sink.put(layout.encode(skeleton), Stream.LEAF, base), content)


def _skeleton(data: bytes, spans: list[Span], records: list[bytes], ids: list[BlobId]) -> SplitLeaf:
    """What is left of a leaf without its records, joined with them again and compared ([AR-43])."""
    starts = [0, *(span.end for span in spans)]
    ends = [*(span.start for span in spans), len(data)]
    literals = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    pieces = [b""] * (2 * len(records) + 1)
    pieces[::2], pieces[1::2] = literals, records
    if b"".join(pieces) != data:
        raise DamageError(
            "a leaf that was just split joins to other bytes: this is a bug, and nothing was kept"
        )
    return SplitLeaf([len(piece) for piece in pieces], b"".join(literals), b"".join(ids))


def _version_before(old: SplitLeaf | None, ids: list[BlobId]) -> _Version:
    """What of the old leaf helps to store the new one: nothing, unless the two are versions of each other.

    After VACUUM every page lies elsewhere, and looking for differences would be a waste.
    """
    by_offset = (
        {} if old is None else {part.offset: part.blob for part in old.parts() if isinstance(part, Record)}
    )
    records = frozenset(by_offset.values())
    related = RELATED_SHARE * sum(blob in records for blob in ids) >= len(ids)
    return _Version(records, by_offset) if related else _Version(frozenset(), {})
