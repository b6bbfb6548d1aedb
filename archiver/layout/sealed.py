"""The outer form of a sealed object: where its parts lie, and how long it is made.

Source: specs/archive-v1.md, section 3.
"""

import struct

from archiver.errors import DamageError
from archiver.layout.prefix import PREFIX_BYTES

SALT_BYTES = 32
COMMITMENT_BYTES = 32
FRAMES_START = PREFIX_BYTES + SALT_BYTES + COMMITMENT_BYTES
TAG_BYTES = 16
TRAILER_BYTES = 8
FINAL_PLAIN_LIMIT = 1 << 30

_LENGTH = struct.Struct(">I")
_TRAILER = struct.Struct(">Q")


def padme(length: int) -> int:
    """``length`` rounded up so that it tells only ``O(log log length)`` bits.

    Source: Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", PETS 2019.
    """
    if length < 2:
        return length
    exponent = length.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (length + mask) & ~mask


def final_plaintext(packed: bytes, offset: int) -> bytes:
    """The final frame's plaintext, padded so that an object whose final frame starts at ``offset`` has a PADMÉ length."""
    bare = offset + _LENGTH.size + len(packed) + TAG_BYTES + TRAILER_BYTES
    return _LENGTH.pack(len(packed)) + packed + bytes(padme(bare) - bare)


def final_packed(plaintext: bytes, name: str) -> bytes:
    """The compressed value inside a final frame's plaintext.

    Raises:
        DamageError: The stated length does not fit.
    """
    if len(plaintext) < _LENGTH.size or (end := _LENGTH.size + _LENGTH.unpack_from(plaintext)[0]) > len(
        plaintext
    ):
        raise DamageError(f"the final frame of {name} states a length that it does not have")
    return plaintext[_LENGTH.size : end]


def trailer(offset: int) -> bytes:
    """The last 8 bytes: where the final frame starts."""
    return _TRAILER.pack(offset)


def final_offset(tail: bytes, object_bytes: int, name: str) -> int:
    """Where the final frame starts, from the object's last 8 bytes.

    Raises:
        DamageError: The place lies outside the object.
    """
    offset: int = _TRAILER.unpack(tail)[0] if len(tail) == TRAILER_BYTES else 0
    if not FRAMES_START <= offset <= object_bytes - TRAILER_BYTES - TAG_BYTES:
        raise DamageError(
            f"{name} is cut off or damaged: its final frame would start at byte {offset} of {object_bytes}"
        )
    return offset
