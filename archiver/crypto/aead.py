"""Sealing and opening of one object's frames, and of a wrapped master key.

Source: specs/archive-v1.md, sections 2 and 3.
"""

import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from archiver.errors import DamageError
from archiver.model import Bytes

NONCE_BYTES = 12
FINAL = (1 << 64) - 1
"""The number of an object's final frame, whatever the number of those before it."""


class FrameCipher:
    """Seals or opens the frames of one object.

    Args:
        key: The object's key (32 bytes), used for this object alone.
        bound: What every frame is bound to: the object's prefix and the archive's id.
        name: The object, for errors.
    """

    def __init__(self, key: bytes, bound: bytes, name: str) -> None:
        self._cipher = AESGCM(key)
        self._bound = bound
        self._name = name

    def seal(self, plaintext: Bytes, number: int) -> bytes:
        """Frame ``number`` sealed; the caller seals each number once, and ``FINAL`` last."""
        return self._cipher.encrypt(_nonce(number), plaintext, self._data(number))

    def open(self, sealed: Bytes, number: int) -> bytes:
        """The plaintext of frame ``number``.

        Raises:
            DamageError: The bytes are not what was sealed as this frame of this object.
        """
        try:
            return self._cipher.decrypt(_nonce(number), sealed, self._data(number))
        except (InvalidTag, ValueError) as error:
            which = "the final frame" if number == FINAL else f"frame {number}"
            raise DamageError(
                f"{which} of {self._name} was changed, cut off or moved: it does not open"
            ) from error

    def _data(self, number: int) -> bytes:
        return self._bound + struct.pack(">QB", number, number == FINAL)


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")


def wrap(key: bytes, master: bytes, bound: bytes) -> bytes:
    """The master key sealed under a slot key; nonce zero, since a slot key wraps once."""
    return AESGCM(key).encrypt(bytes(NONCE_BYTES), master, bound)


def unwrap(key: bytes, wrapped: bytes, bound: bytes) -> bytes:
    """The master key.

    Raises:
        DamageError: The slot's bytes were changed.
    """
    try:
        return AESGCM(key).decrypt(bytes(NONCE_BYTES), wrapped, bound)
    except InvalidTag as error:
        raise DamageError("a key slot was changed: the secret fits, its contents do not") from error
