"""Split leaves: a stretch of an image as literal bytes and records, in turn.

Source: specs/archive-v1.md, section 5.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from archiver import hashing
from archiver.errors import DamageError
from archiver.layout import codec
from archiver.model import BlobId


class Literal(NamedTuple):
    """Bytes of the image that the leaf itself holds."""

    offset: int
    data: bytes


class Record(NamedTuple):
    """Bytes of the image that a blob of their own holds; ``offset`` counts from the leaf's start."""

    offset: int
    length: int
    blob: BlobId


class SplitLeaf(msgspec.Struct, frozen=True, array_like=True):
    """A leaf's skeleton.

    Attributes:
        lengths: Of the parts in order: a literal, a record, a literal, a record, … Literals may be empty.
        literals: All literals, joined.
        ids: The ids of all records, joined.
    """

    lengths: list[int]
    literals: bytes
    ids: bytes

    def parts(self) -> Iterator[Literal | Record]:
        """The parts, in order, without empty literals."""
        offset = taken = 0
        for number, length in enumerate(self.lengths):
            if number % 2:
                start = number // 2 * hashing.BLOB_ID_BYTES
                yield Record(offset, length, BlobId(self.ids[start : start + hashing.BLOB_ID_BYTES]))
            elif length:
                yield Literal(offset, self.literals[taken : taken + length])
                taken += length
            offset += length

    def record_ids(self) -> list[BlobId]:
        """The ids of the records, in order."""
        size = hashing.BLOB_ID_BYTES
        return [BlobId(self.ids[start : start + size]) for start in range(0, len(self.ids), size)]


def encode(leaf: SplitLeaf) -> bytes:
    """The leaf's blob."""
    return codec.to_msgpack(leaf)


def decode(data: bytes, covered_bytes: int, name: str) -> SplitLeaf:
    """The leaf in a blob, checked against what its node says of it.

    Raises:
        DamageError: It contradicts its node or itself ([AR-44]).
    """
    leaf = codec.from_msgpack(data, SplitLeaf, name)
    if (
        sum(leaf.lengths) != covered_bytes
        or min(leaf.lengths, default=0) < 0
        or sum(leaf.lengths[::2]) != len(leaf.literals)
        or len(leaf.lengths) // 2 * hashing.BLOB_ID_BYTES != len(leaf.ids)
        or 0 in leaf.lengths[1::2]
    ):
        raise DamageError(f"{name} does not cover the {covered_bytes} bytes that its node says")
    return leaf
