"""The database header: what is refused, and how long a database is."""

import apsw
import pytest

from formats.errors import FormatError
from formats.sqlite.header import Encoding, lock_byte_page, parse_header
from tests.support.sqlite_files import Kind, create, opened

SAMPLE = create(Kind()).serialize("main")


def _changed(at: int, new: bytes) -> bytes:
    return SAMPLE[:at] + new + SAMPLE[at + len(new) :]


@pytest.mark.parametrize(
    ("at", "new", "message"),
    [
        (0, b"sqlite", "header: not an SQLite database"),
        (16, b"\0\0", "header: page size: expected a power of two from 512, or 1, found 0"),
        (16, b"\1\0", "header: page size: expected a power of two from 512, or 1, found 256"),
        (16, b"\x10\1", "header: page size: expected a power of two from 512, or 1, found 4097"),
        (16, b"\2\0\1\1\x21", "header: usable bytes of a page: expected 480 or more, found 479"),
        (21, b"\x41", "header: payload fractions: expected [64, 32, 32], found [65, 32, 32]"),
        (56, b"\0\0\0\4", "header: text encoding: expected 0 to 3, found 4"),
    ],
)
def test_refused(at: int, new: bytes, message: str) -> None:
    """A header from which pages cannot be told is refused, and the message says what is wrong with it."""
    with pytest.raises(FormatError) as caught:
        parse_header(_changed(at, new))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("length", [0, 1, 99])
def test_too_short(length: int) -> None:
    """A file of less than 100 bytes has no header."""
    with pytest.raises(FormatError, match=f"expected 100, found {length}"):
        parse_header(SAMPLE[:length])


def test_the_largest_page_is_stored_as_one() -> None:
    """A page size of 65536 does not fit in two bytes; SQLite stores 1."""
    data = create(Kind(page_bytes=65536)).serialize("main")
    assert data[16:18] == b"\0\1"
    assert parse_header(data).page_bytes == 65536


def test_no_encoding_yet() -> None:
    """A database that has not chosen its encoding reads as UTF-8."""
    assert parse_header(_changed(56, bytes(4))).encoding is Encoding.UTF8


def test_journal_modes() -> None:
    """Databases with a write-ahead log are told by the versions in their header."""
    rollback = parse_header(SAMPLE)
    assert (rollback.write_version, rollback.read_version) == (1, 1)
    wal = parse_header(_changed(18, b"\2\2"))
    assert (wal.write_version, wal.read_version) == (2, 2)


def test_bytes_behind_the_last_page_are_not_pages() -> None:
    """What follows the size in the header is no part of the database, as for SQLite."""
    data = SAMPLE + bytes(3 * 4096)
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", data)
    assert opened(data).count == connection.pragma("page_count") == len(SAMPLE) // 4096


def test_an_old_writer_leaves_the_size_out_of_date() -> None:
    """A size in the header counts only if the change counter is the one it was written with."""
    data = _changed(92, b"\0\0\0\1") + bytes(3 * 4096)
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", data)
    assert opened(data).count == connection.pragma("page_count") == len(data) // 4096


def test_a_file_cut_short_has_the_pages_that_are_left() -> None:
    """The header's size does not make pages out of nothing."""
    pages = opened(SAMPLE[: 4096 * 2 + 100])
    assert pages.count == 2
    with pytest.raises(FormatError, match="page 3: no such page: expected 1 to 2"):
        pages.page(3)


@pytest.mark.parametrize(("page_bytes", "number"), [(512, 2097153), (4096, 262145), (65536, 16385)])
def test_lock_byte_page(page_bytes: int, number: int) -> None:
    """The lock-byte page holds the byte at 1 GiB."""
    assert lock_byte_page(page_bytes) == number
    assert (number - 1) * page_bytes == 1 << 30
