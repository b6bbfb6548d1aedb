"""Keys from secrets and keys from keys.

Source: specs/archive-v1.md, section 2.
"""

from typing import NamedTuple

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
MAX_MEMORY_KIB = 1 << 20
MAX_PASSES = 16
MAX_LANES = 16


class CommittedKey(NamedTuple):
    """A key and the 32 bytes that commit to it without telling it."""

    key: bytes
    commitment: bytes


def hkdf(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """HKDF-SHA256 (RFC 5869)."""
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(key)


def stretch(secret: bytes, salt: bytes, memory_kib: int, passes: int, lanes: int) -> bytes:
    """Argon2id (RFC 9106) of a person's secret: 32 bytes, slowly.

    Raises:
        ValueError: The costs are beyond what [AR-11] allows.
    """
    if not (
        8 * lanes <= memory_kib <= MAX_MEMORY_KIB and 1 <= passes <= MAX_PASSES and 1 <= lanes <= MAX_LANES
    ):
        raise ValueError(f"Argon2id costs out of bounds: {memory_kib} KiB, {passes} passes, {lanes} lanes")
    return Argon2id(
        salt=salt, length=KEY_BYTES, iterations=passes, lanes=lanes, memory_cost=memory_kib
    ).derive(secret)


def purpose_key(master: bytes, archive_id: bytes, purpose: str) -> bytes:
    """The 32-byte key for one purpose, which tells nothing of the others."""
    return hkdf(master, archive_id, b"archive v1 purpose " + purpose.encode(), KEY_BYTES)


def slot_key(stretched: bytes, archive_id: bytes) -> CommittedKey:
    """The key that wraps the master key in a slot."""
    both = hkdf(stretched, archive_id, b"archive v1 slot", 2 * KEY_BYTES)
    return CommittedKey(both[:KEY_BYTES], both[KEY_BYTES:])


def object_key(purpose: bytes, salt: bytes, archive_id: bytes, kind_and_version: bytes) -> CommittedKey:
    """The key of one sealed object; ``kind_and_version`` are the two bytes of its prefix."""
    both = hkdf(purpose, salt, b"archive v1 object " + archive_id + kind_and_version, 2 * KEY_BYTES)
    return CommittedKey(both[:KEY_BYTES], both[KEY_BYTES:])
