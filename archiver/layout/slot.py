"""A key slot's bytes.

Source: specs/archive-v1.md, section 2.
"""

import struct
from enum import StrEnum

import msgspec

from archiver.errors import DamageError
from archiver.layout import codec
from archiver.layout.prefix import PREFIX_BYTES, Kind, check_prefix, prefix

COMMITMENT_BYTES = 32
WRAPPED_BYTES = 48


class Argon2id(msgspec.Struct, frozen=True, tag_field="name", tag="argon2id"):
    """What the slot's key is derived with; ``salt`` is hex of 32 bytes."""

    salt: str
    memory_kib: int = 65536
    passes: int = 3
    lanes: int = 4


class SlotKind(StrEnum):
    """What a slot opens with."""

    PASSPHRASE = "passphrase"  # noqa: S105  a kind, not a secret
    RECOVERY = "recovery"


class SlotInfo(msgspec.Struct, frozen=True):
    """What a slot says in the clear; ``archive`` is the archive's id in hex."""

    archive: str
    kind: SlotKind
    label: str
    created_ms: int
    kdf: Argon2id


class Slot(msgspec.Struct, frozen=True):
    """A whole slot: ``bound`` is every byte before the commitment, which the wrapping authenticates."""

    info: SlotInfo
    bound: bytes
    commitment: bytes
    wrapped: bytes


def encode_info(info: SlotInfo) -> bytes:
    """The bytes of a slot before its commitment."""
    text = codec.to_json(info)
    return prefix(Kind.KEY) + struct.pack(">I", len(text)) + text


def encode(slot: Slot) -> bytes:
    """The whole object."""
    return slot.bound + slot.commitment + slot.wrapped


def decode(data: bytes, name: str) -> Slot | None:
    """The slot, or nothing if its kind or its KDF is one that this program does not know.

    Raises:
        DamageError: The bytes are not a slot.
        NewerFormatError: A later version wrote it.
    """
    check_prefix(data, Kind.KEY, name)
    start = PREFIX_BYTES + 4
    end = start + int.from_bytes(data[PREFIX_BYTES:start], "big")
    if len(data) != end + COMMITMENT_BYTES + WRAPPED_BYTES:
        raise DamageError(f"{name} has {len(data)} bytes, which no key slot has")
    known = codec.from_json(data[start:end], _Named, name)
    if known.kind not in set(SlotKind) or known.kdf.name != "argon2id":
        return None
    return Slot(
        info=codec.from_json(data[start:end], SlotInfo, name),
        bound=data[:end],
        commitment=data[end : end + COMMITMENT_BYTES],
        wrapped=data[end + COMMITMENT_BYTES :],
    )


class _NamedKdf(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    kind: str
    kdf: _NamedKdf
