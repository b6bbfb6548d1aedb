"""The first 16 bytes of every object, the names of objects, and the archive's header.

Source: specs/archive-v1.md, section 1.
"""

from enum import Enum

from archiver import hashing
from archiver.errors import DamageError, NewerFormatError
from archiver.model import Bytes, ObjectName

MAGIC = b"\x89CHATAR\n"
VERSION = 1
PREFIX_BYTES = 16
ARCHIVE_ID_BYTES = 32
HEADER_NAME = ObjectName("archive")
HEADER_BYTES = PREFIX_BYTES + ARCHIVE_ID_BYTES + hashing.NAME_BYTES


class Kind(Enum):
    """The kinds of objects: the byte in the prefix, and the folder they lie in."""

    HEADER = (b"H", "")
    KEY = (b"K", "keys")
    PACK = (b"P", "packs")
    INDEX = (b"I", "index")
    SNAPSHOT = (b"S", "snapshots")

    @property
    def letter(self) -> bytes:
        """The kind byte."""
        return self.value[0]

    @property
    def folder(self) -> str:
        """The first part of the object's name."""
        return self.value[1]


def prefix(kind: Kind) -> bytes:
    """The 16 bytes that an object of this kind and of our version starts with."""
    return MAGIC + kind.letter + bytes([VERSION]) + bytes(6)


def check_prefix(data: Bytes, kind: Kind, name: str) -> None:
    """See that ``data`` starts as an object of this kind does.

    Raises:
        DamageError: It is something else.
        NewerFormatError: A later version wrote it.
    """
    head = bytes(data[:PREFIX_BYTES])
    if len(head) < PREFIX_BYTES or head[:8] != MAGIC or head[8:9] != kind.letter:
        raise DamageError(f"{name} does not start as an object of kind {kind.name.lower()} does")
    if head[9] > VERSION:
        raise NewerFormatError(
            f"{name} has format version {head[9]}, this program reads up to {VERSION}",
            hint="update archive; the data is not at fault",
        )
    if head != prefix(kind):
        raise DamageError(f"{name} has an impossible prefix: {head.hex()}")


def object_name(kind: Kind, digest_hex: str) -> ObjectName:
    """The storage name of the object whose stored bytes have this BLAKE3."""
    if kind is Kind.PACK:
        return ObjectName(f"packs/{digest_hex[:2]}/{digest_hex}")
    return ObjectName(f"{kind.folder}/{digest_hex}")


def parse_name(name: str) -> tuple[Kind, str] | None:
    """The kind and the hex digest that a storage name stands for, or nothing if it is none of the archive's."""
    digest_hex = name.rpartition("/")[2]
    if len(digest_hex) != 2 * hashing.NAME_BYTES or not set(digest_hex) <= set("0123456789abcdef"):
        return None
    for kind in (Kind.KEY, Kind.PACK, Kind.INDEX, Kind.SNAPSHOT):
        if object_name(kind, digest_hex) == name:
            return kind, digest_hex
    return None


def encode_header(archive_id: bytes) -> bytes:
    """The object ``archive``: prefix, id, sum."""
    head = prefix(Kind.HEADER) + archive_id
    return head + hashing.digest(head)


def decode_header(data: bytes) -> bytes:
    """The 32-byte archive id.

    Raises:
        DamageError: The length or the sum is not right.
        NewerFormatError: A later version wrote it.
    """
    check_prefix(data, Kind.HEADER, HEADER_NAME)
    head = data[: PREFIX_BYTES + ARCHIVE_ID_BYTES]
    if len(data) != HEADER_BYTES or hashing.digest(head) != data[len(head) :]:
        raise DamageError(f"the header object '{HEADER_NAME}' does not match its own sum")
    return head[PREFIX_BYTES:]
