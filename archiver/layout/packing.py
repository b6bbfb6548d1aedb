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
    """One frame of a pack, as the pack's own directory lists it; lengths and offsets in bytes.

    Attributes:
        offset: From the object's first byte.
        sealed_bytes: Of the frame in the object.
        plain_bytes: Of its content, decompressed.
        lengths: Of the entries in the content.
        bases: Empty, or the ids of the blobs that the entries are patches of, joined.
    """

    offset: int
    sealed_bytes: int
    plain_bytes: int
    lengths: list[int]
    bases: bytes = b""


class Entry(NamedTuple):
    """One entry of a frame: the blob ``blob``, or with ``base`` a patch that makes it from another one."""

    blob: BlobId
    offset: int
    length: int
    base: BlobId | None


class IndexedFrame(msgspec.Struct, frozen=True, array_like=True):
    """One frame of a pack, as the index lists it: a ``Frame`` and the ids of its blobs, joined."""

    offset: int
    sealed_bytes: int
    plain_bytes: int
    lengths: list[int]
    ids: bytes
    bases: bytes = b""

    def blobs(self) -> list[BlobId]:
        """The ids of the blobs, in order."""
        size = hashing.BLOB_ID_BYTES
        return [BlobId(self.ids[start : start + size]) for start in range(0, len(self.ids), size)]

    def entries(self) -> Iterator[Entry]:
        """The entries, in order."""
        offset, size = 0, hashing.BLOB_ID_BYTES
        for number, length in enumerate(self.lengths):
            place = slice(number * size, (number + 1) * size)
            base = BlobId(self.bases[place]) if self.bases else None
            yield Entry(BlobId(self.ids[place]), offset, length, base)
            offset += length


class IndexedPack(msgspec.Struct, frozen=True, array_like=True):
    """One pack, as the index lists it; ``name`` is the BLAKE3 of its stored bytes."""

    name: bytes
    pack_bytes: int
    salt: bytes
    frames: list[IndexedFrame]


class Location(NamedTuple):
    """Where a blob lies: a slice of the plain content of one frame of one pack, perhaps as a patch of ``base``."""

    pack: bytes
    salt: bytes
    frame_number: int
    frame_offset: int
    sealed_bytes: int
    plain_bytes: int
    offset: int
    length: int
    base: BlobId | None


def encode_directory(frames: list[IndexedFrame]) -> bytes:
    """A pack's directory: the frames without ids."""
    return codec.to_msgpack(
        [Frame(f.offset, f.sealed_bytes, f.plain_bytes, f.lengths, f.bases) for f in frames]
    )


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


def _check_frame(frame: Frame | IndexedFrame, name: str) -> None:
    if frame.bases and len(frame.bases) != hashing.BLOB_ID_BYTES * len(frame.lengths):
        raise DamageError(
            f"{name} lists a frame of {len(frame.lengths)} patches with {len(frame.bases)} bytes of bases"
        )
    if min(frame.lengths, default=0) < 1 or sum(frame.lengths) != frame.plain_bytes:
        raise DamageError(
            f"{name} lists a frame of {frame.plain_bytes} bytes whose blobs do not add up to that"
        )
