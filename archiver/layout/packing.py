"""What packs and index objects say of the blobs in packs.

Source: specs/archive-v1.md, section 4.
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from archiver import hashing
from archiver.errors import DamageError
from archiver.layout import codec
from archiver.model import BlobId


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """One frame of a pack, as the pack's own directory lists it; lengths and offsets in bytes."""

    offset: int
    sealed_bytes: int
    plain_bytes: int
    lengths: list[int]


class IndexedFrame(Frame, frozen=True, array_like=True):
    """One frame of a pack, as the index lists it: with the ids of its blobs, joined."""

    ids: bytes

    def blobs(self) -> Iterator[tuple[BlobId, int, int]]:
        """Each blob's id, offset in the plain frame, and length."""
        offset = 0
        for number, length in enumerate(self.lengths):
            start = number * hashing.BLOB_ID_BYTES
            yield BlobId(self.ids[start : start + hashing.BLOB_ID_BYTES]), offset, length
            offset += length


class IndexedPack(msgspec.Struct, frozen=True, array_like=True):
    """One pack, as the index lists it; ``name`` is the BLAKE3 of its stored bytes."""

    name: bytes
    pack_bytes: int
    salt: bytes
    frames: list[IndexedFrame]


class Location(NamedTuple):
    """Where a blob lies: a slice of the plain content of one frame of one pack."""

    pack: bytes
    salt: bytes
    frame_number: int
    frame_offset: int
    sealed_bytes: int
    plain_bytes: int
    offset: int
    length: int


def encode_directory(frames: list[IndexedFrame]) -> bytes:
    """A pack's directory: the frames without ids."""
    return codec.to_msgpack([Frame(f.offset, f.sealed_bytes, f.plain_bytes, f.lengths) for f in frames])


def decode_directory(value: bytes, name: str) -> list[Frame]:
    """The frames of a pack.

    Raises:
        DamageError: The directory contradicts itself.
    """
    frames = codec.from_msgpack(value, list[Frame], f"the directory of {name}")
    for frame in frames:
        _check_frame(frame, name)
    return frames


def encode_index(packs: list[IndexedPack]) -> bytes:
    """An index object's value."""
    return codec.to_msgpack(packs)


def decode_index(value: bytes, name: str) -> list[IndexedPack]:
    """The packs that an index object lists.

    Raises:
        DamageError: The object contradicts itself.
    """
    packs = codec.from_msgpack(value, list[IndexedPack], name)
    for pack in packs:
        if len(pack.name) != hashing.NAME_BYTES:
            raise DamageError(f"{name} lists a pack with an impossible name: {pack.name.hex()}")
        for frame in pack.frames:
            _check_frame(frame, name)
            if len(frame.ids) != hashing.BLOB_ID_BYTES * len(frame.lengths):
                raise DamageError(
                    f"{name} lists {len(frame.lengths)} blobs and {len(frame.ids)} bytes of ids in a frame"
                )
    return packs


def _check_frame(frame: Frame, name: str) -> None:
    if min(frame.lengths, default=0) < 1 or sum(frame.lengths) != frame.plain_bytes:
        raise DamageError(
            f"{name} lists a frame of {frame.plain_bytes} bytes whose blobs do not add up to that"
        )
