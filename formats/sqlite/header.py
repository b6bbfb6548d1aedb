"""The first 100 bytes of a database, and what they say of its pages."""

import struct
from enum import IntEnum

import msgspec

from formats.errors import FormatError

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100
LOCK_BYTE = 1 << 30
"""SQLite locks the byte at this offset of the file, so it keeps nothing in the page around it."""

_START = struct.Struct(">16sH6B")
_COUNTS = struct.Struct(">6I")
_SETTINGS = struct.Struct(">5I")
_WRITER = struct.Struct(">2I")


class Encoding(IntEnum):
    """How a database writes its text; an empty one has not chosen yet and counts as UTF-8."""

    UTF8 = 1
    UTF16_LE = 2
    UTF16_BE = 3


class Header(msgspec.Struct, frozen=True):
    """What the header says, unchecked where SQLite can read a database without it.

    Attributes:
        page_bytes: 512 to 65536, a power of two.
        usable_bytes: What is left of a page before its reserved bytes; at least 480.
        write_version: 1 for a rollback journal, 2 for a write-ahead log.
        read_version: As ``write_version``.
        page_count: Size of the database in pages; out of date unless ``version_valid_for`` is the change counter.
        freelist_trunk: First page of the freelist, or 0.
        freelist_count: Pages in the freelist, trunks included.
        largest_root: Not 0 in auto-vacuum databases only.
        incremental_vacuum: Whether an auto-vacuum database waits for the command to shrink.
        version_valid_for: The change counter when ``sqlite_version`` was written.
        sqlite_version: Of the last writer, such as 3039004.

    Source: https://sqlite.org/fileformat2.html, "The Database Header".
    """

    page_bytes: int
    usable_bytes: int
    write_version: int
    read_version: int
    change_counter: int
    page_count: int
    freelist_trunk: int
    freelist_count: int
    schema_cookie: int
    schema_format: int
    largest_root: int
    encoding: Encoding
    user_version: int
    incremental_vacuum: bool
    application_id: int
    version_valid_for: int
    sqlite_version: int

    @property
    def auto_vacuum(self) -> bool:
        """Whether the database has pointer-map pages."""
        return self.largest_root != 0


def parse_header(data: bytes | memoryview) -> Header:
    """Read the header from the start of a database.

    Raises:
        FormatError: These are not the first bytes of an SQLite database, or pages cannot be told from them.
    """
    if len(data) < HEADER_BYTES:
        raise FormatError("too short for a header", where="header", expected=HEADER_BYTES, found=len(data))
    magic, size, write, read, reserved, *fractions = _START.unpack_from(data)
    counter, count, trunk, free, cookie, schema = _COUNTS.unpack_from(data, 24)
    root, encoding, user, incremental, application = _SETTINGS.unpack_from(data, 52)
    valid_for, version = _WRITER.unpack_from(data, 92)
    _require("not an SQLite database", MAGIC, magic)
    _require("payload fractions", [64, 32, 32], fractions)
    page_bytes = _page_bytes(size)
    return Header(
        page_bytes=page_bytes,
        usable_bytes=_usable_bytes(page_bytes, reserved),
        write_version=write,
        read_version=read,
        change_counter=counter,
        page_count=count,
        freelist_trunk=trunk,
        freelist_count=free,
        schema_cookie=cookie,
        schema_format=schema,
        largest_root=root,
        encoding=_encoding(encoding),
        user_version=user,
        incremental_vacuum=incremental != 0,
        application_id=application,
        version_valid_for=valid_for,
        sqlite_version=version,
    )


def lock_byte_page(page_bytes: int) -> int:
    """The number of the page that SQLite leaves alone, whether or not the database reaches that far."""
    return LOCK_BYTE // page_bytes + 1


def _require(what: str, expected: object, found: object) -> None:
    if found != expected:
        raise FormatError(what, where="header", expected=expected, found=found)


def _page_bytes(stored: int) -> int:
    size = 65536 if stored == 1 else stored
    if size < 512 or size & (size - 1):
        raise FormatError("page size", where="header", expected="a power of two from 512, or 1", found=stored)
    return size


def _usable_bytes(page_bytes: int, reserved: int) -> int:
    usable = page_bytes - reserved
    if usable < 480:
        raise FormatError("usable bytes of a page", where="header", expected="480 or more", found=usable)
    return usable


def _encoding(stored: int) -> Encoding:
    if stored > Encoding.UTF16_BE:
        raise FormatError("text encoding", where="header", expected="0 to 3", found=stored)
    return Encoding(stored or Encoding.UTF8)
