"""Sealed objects: built frame by frame, opened whole or one frame at a time.

Source: specs/archive-v1.md, section 3.
"""

import hmac
import secrets

from archiver import hashing
from archiver.crypto import aead, kdf
from archiver.errors import DamageError
from archiver.layout import sealed
from archiver.layout.prefix import PREFIX_BYTES, Kind, check_prefix, object_name, parse_name, prefix
from archiver.model import Bytes, ObjectName
from archiver.repo import compress
from archiver.repo.keys import Keys


class SealedObject:
    """One object being built in memory: frames first, then ``finish``.

    Args:
        keys: The archive's keys.
        kind: What the object is.
    """

    def __init__(self, keys: Keys, kind: Kind) -> None:
        self.salt = secrets.token_bytes(sealed.SALT_BYTES)
        key = _object_key(keys, kind, self.salt)
        self._kind = kind
        self._cipher = _cipher(keys, kind, key, f"the new {kind.name.lower()}")
        self._frame_count = 0
        self.data = bytearray(prefix(kind) + self.salt + key.commitment)

    def add(self, plaintext: Bytes) -> tuple[int, int]:
        """Seal the next frame, open it again, and append it.

        Returns:
            Its offset in the object and its sealed length.
        """
        offset = len(self.data)
        self.data += self._sealed(plaintext, self._frame_count)
        self._frame_count += 1
        return offset, len(self.data) - offset

    def finish(self, value: bytes) -> ObjectName:
        """Append the final frame with ``value`` and the trailer; ``data`` is then the whole object.

        Returns:
            The name it must be stored under.
        """
        offset = len(self.data)
        self.data += self._sealed(sealed.final_plaintext(compress.compress(value), offset), aead.FINAL)
        self.data += sealed.trailer(offset)
        return object_name(self._kind, hashing.digest(self.data).hex())

    def _sealed(self, plaintext: Bytes, number: int) -> bytes:
        frame = self._cipher.seal(plaintext, number)
        if self._cipher.open(frame, number) != plaintext:
            raise DamageError(
                "a frame that was just sealed opens to other bytes: this machine's memory or libraries fail"
            )
        return frame


def seal_value(keys: Keys, kind: Kind, value: bytes) -> tuple[ObjectName, bytearray]:
    """An object that is only a final frame: its name and its bytes."""
    building = SealedObject(keys, kind)
    name = building.finish(value)
    return name, building.data


def open_value(keys: Keys, kind: Kind, data: bytes, name: str) -> bytes:
    """The value in the final frame of an object that was read whole.

    Raises:
        DamageError: The bytes do not match the name, or were changed, or belong to another archive.
        NewerFormatError: A later version wrote it.
    """
    check_name(data, kind, name)
    offset = sealed.final_offset(data[-sealed.TRAILER_BYTES :], len(data), name)
    cipher = frame_opener(keys, kind, data[: sealed.FRAMES_START], name)
    return _final_value(cipher, data[offset : -sealed.TRAILER_BYTES], name)


def frame_opener(keys: Keys, kind: Kind, head: bytes, name: str) -> aead.FrameCipher:
    """What opens the frames of the object that starts with ``head`` (80 bytes), for those who read it whole.

    Raises:
        DamageError: It was sealed for another archive, with another key, or is not such an object.
        NewerFormatError: A later version wrote it.
    """
    check_prefix(head, kind, name)
    if len(head) < sealed.FRAMES_START:
        raise DamageError(f"{name} is cut off after {len(head)} bytes")
    salt = head[PREFIX_BYTES : PREFIX_BYTES + sealed.SALT_BYTES]
    key = _object_key(keys, kind, salt)
    if not hmac.compare_digest(key.commitment, head[PREFIX_BYTES + sealed.SALT_BYTES : sealed.FRAMES_START]):
        raise DamageError(f"{name} was sealed for another archive or with another key")
    return _cipher(keys, kind, key, name)


def salted_opener(keys: Keys, kind: Kind, salt: bytes, name: str) -> aead.FrameCipher:
    """What opens the frames of an object whose salt the index told."""
    return _cipher(keys, kind, _object_key(keys, kind, salt), name)


def check_name(data: Bytes, kind: Kind, name: str) -> None:
    """See that an object's stored bytes match its name.

    Raises:
        DamageError: They do not.
        NewerFormatError: They do, and a later version wrote it.
    """
    parsed = parse_name(name)
    if parsed is None or parsed[1] != hashing.digest(data).hex():
        raise DamageError(f"the bytes of {name} do not match its name: it was changed, cut off or swapped")
    check_prefix(data, kind, name)


def _object_key(keys: Keys, kind: Kind, salt: bytes) -> kdf.CommittedKey:
    return kdf.object_key(keys.purpose(kind.name.lower()), salt, keys.archive_id, prefix(kind)[8:10])


def _cipher(keys: Keys, kind: Kind, key: kdf.CommittedKey, name: str) -> aead.FrameCipher:
    return aead.FrameCipher(key.key, prefix(kind) + keys.archive_id, name)


def _final_value(cipher: aead.FrameCipher, frame: Bytes, name: str) -> bytes:
    packed = sealed.final_packed(cipher.open(frame, aead.FINAL), name)
    return compress.decompress(packed, sealed.FINAL_PLAIN_LIMIT, f"the final frame of {name}")
