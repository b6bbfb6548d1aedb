"""Whatever the bytes are, every function ends with a named error or a reason for what it skipped."""

import struct
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.sqlite.btree import cells
from formats.sqlite.freelist import trunks
from formats.sqlite.header import Encoding, parse_header
from formats.sqlite.overflow import Piece, chain, payload, pieces
from formats.sqlite.pages import BufferPages
from formats.sqlite.ptrmap import claims_for, fixed_pages, map_entries, map_pages
from formats.sqlite.record import values
from formats.sqlite.schema import entries, rowid_tables
from formats.sqlite.survey import reachable
from formats.sqlite.walk import table_leaves
from tests.support.sqlite_files import Kind, filled

HOSTS = [
    Kind(page_bytes=512),
    Kind(page_bytes=512, reserved_bytes=32, auto_vacuum=2, encoding="UTF-16le"),
    Kind(page_bytes=4096, auto_vacuum=1, encoding="UTF-16be"),
    Kind(page_bytes=65536),
]

# Where a page keeps what leads elsewhere: the next page of a chain, the right-most child, counts, cell pointers.
TELLING_OFFSETS = [0, 1, 3, 4, 5, 8, 10, 12, 14, 100, 101, 103, 108, 110, 112]
TELLING_NUMBERS = [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0xFFFF, 0xFFFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF]

flips = st.tuples(st.just("flip"), st.integers(0, 1 << 30), st.integers(0, 255))
redirections = st.tuples(
    st.sampled_from(TELLING_OFFSETS),
    st.integers(0, 1 << 20),
    st.one_of(st.sampled_from(TELLING_NUMBERS), st.integers(0, 80)),
)
copies = st.tuples(st.just("copy"), st.integers(0, 1 << 20), st.integers(0, 1 << 20))
cell_heads = st.tuples(st.just("cell"), st.integers(0, 1 << 20), st.binary(min_size=1, max_size=10))
cell_pointers = st.tuples(st.just("pointer"), st.integers(0, 1 << 20), st.integers(0, 0xFFFF))
damages = st.lists(st.one_of(flips, redirections, copies, cell_heads, cell_pointers), min_size=1, max_size=12)


class CountingPages(BufferPages):
    """Counts how often a page is asked for."""

    asked = 0

    def page(self, number: int) -> memoryview:
        self.asked += 1
        return super().page(number)


@cache
def _host(kind: Kind) -> bytes:
    return filled(kind)


def _damaged(kind: Kind, damages_done: list[tuple], *, spare_header: bool) -> bytearray:
    data = bytearray(_host(kind))
    header = bytes(data[:100])
    for what, place, value in damages_done:
        _damage(data, kind.page_bytes, what, place, value)
    if spare_header:
        data[:100] = header
    return data


def _damage(data: bytearray, size: int, what: str | int, place: int, value: int | bytes) -> None:
    """Change a byte, copy a page over another, or hit what a page leads elsewhere with."""
    start = place % (len(data) // size) * size
    if what == "flip":
        data[place % len(data)] = value
    elif what == "copy":
        source = value % (len(data) // size) * size
        data[start : start + size] = data[source : source + size]
    elif what == "cell":
        at = start + struct.unpack_from(">H", data, start + 8)[0] % (size - 10)
        data[at : at + len(value)] = value
    elif what == "pointer":
        struct.pack_into(">H", data, start + 8 + 2 * (value % 3), value % size)
    else:
        struct.pack_into(">I", data, start + what, value)


def _pages(data: bytearray) -> CountingPages:
    return CountingPages(data, parse_header(memoryview(data)))


def _record_pieces(pages: BufferPages, reasons: list[FormatError]) -> list[Piece]:
    """What a splitter takes: the pieces of every payload of every table, under one set of claims."""
    claims = claims_for(pages)
    found: list[Piece] = []
    usable = pages.header.usable_bytes
    for table in rowid_tables(pages, reasons.append):
        for node in table_leaves(pages, table.root, claims, reasons.append):
            for cell in cells(node.data, node.number, usable, reasons.append):
                try:
                    found += pieces(node.number, cell, chain(pages, cell, claims), usable)
                except FormatError as error:
                    reasons.append(error)
    return found


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(HOSTS), damages)
def test_pieces_never_overlap_nor_leave_their_page(kind: Kind, damages_done: list[tuple]) -> None:
    """However damaged a file is, its payloads' pieces are disjoint and inside the usable part of real pages."""
    pages = _pages(_damaged(kind, damages_done, spare_header=True))
    taken = bytearray(pages.count * kind.page_bytes)
    for piece in _record_pieces(pages, []):
        assert piece.length >= 0
        assert 0 < piece.page <= pages.count
        assert piece.offset + piece.length <= pages.header.usable_bytes
        start = (piece.page - 1) * kind.page_bytes + piece.offset
        assert not any(taken[start : start + piece.length])
        taken[start : start + piece.length] = b"\1" * piece.length


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(HOSTS), damages)
def test_each_walk_meets_a_page_at_most_once(kind: Kind, damages_done: list[tuple]) -> None:
    """A walk asks for no page more than once a visit and once a pointer, so its work is bounded by the file."""
    pages = _pages(_damaged(kind, damages_done, spare_header=True))
    reasons: list[FormatError] = []
    schema = list(entries(pages, reasons.append))
    # A page of a row is asked for twice: for the pointer to the next, and for its content.
    assert pages.asked <= 2 * pages.count
    pages.asked = 0
    numbers = [reached.number for reached in reachable(pages, claims_for(pages), reasons.append)]
    assert len(set(numbers)) == len(numbers)
    assert pages.asked <= 3 * pages.count
    pages.asked = 0
    list(trunks(pages, claims_for(pages), reasons.append))
    assert pages.asked <= pages.count
    assert len(reasons) + len(schema) <= len(_host(kind))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(HOSTS), damages)
def test_nothing_but_format_errors(kind: Kind, damages_done: list[tuple]) -> None:
    """Every reader ends on every damaged file, header included, with results, reasons or a FormatError."""
    data = _damaged(kind, damages_done, spare_header=False)
    try:
        pages = _pages(data)
    except FormatError:
        return
    reasons: list[FormatError] = []
    _record_pieces(pages, reasons)
    list(reachable(pages, claims_for(pages), reasons.append))
    list(trunks(pages, claims_for(pages), reasons.append))
    for number in map_pages(pages.header, pages.count):
        list(map_entries(pages, number, reasons.append))
    assert set(fixed_pages(pages.header, pages.count)) <= set(range(2, pages.count + 1))
    assert all(str(reason) for reason in reasons)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(HOSTS), damages)
def test_rows_of_a_damaged_file(kind: Kind, damages_done: list[tuple]) -> None:
    """Payloads and records of a damaged file decode or raise FormatError."""
    pages = _pages(_damaged(kind, damages_done, spare_header=True))
    claims = claims_for(pages)
    for number in range(1, pages.count + 1):
        for cell in cells(pages.page(number), number, pages.header.usable_bytes, lambda _: None):
            with suppress(FormatError):
                list(values(payload(pages, number, cell, claims), pages.header.encoding))


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from([2, 5, 10, 13]),
    st.lists(st.integers(0, 511), max_size=6),
    st.binary(max_size=600),
    st.sampled_from([480, 512]),
)
def test_any_bytes_as_a_page(kind: int, pointers: list[int], filling: bytes, usable: int) -> None:
    """Cell pointers to anywhere in any bytes give cells that are disjoint and inside the page."""
    head = struct.pack(f">BHHHBI{len(pointers)}H", kind, 0, len(pointers), 0, 0, 0, *pointers)
    if kind in {10, 13}:
        head = head[:8] + head[12:]
    page = (head + filling).ljust(512, b"\x84")[:512]
    end = len(head)
    for cell in sorted(cells(page, 2, usable, lambda _: None), key=lambda cell: cell.offset):
        assert cell.offset >= end
        end = cell.payload_offset + cell.local_bytes + (4 if cell.overflow else 0)
    assert end <= usable


@given(st.binary(max_size=60))
def test_any_bytes_as_a_record(data: bytes) -> None:
    """Any bytes are a record or a FormatError, for each of the three encodings."""
    for encoding in Encoding:
        with suppress(FormatError):
            list(values(data, encoding))


@given(st.binary(max_size=120))
def test_any_bytes_as_a_header(data: bytes) -> None:
    """Any bytes behind the magic string are a header or a FormatError."""
    for candidate in (data, b"SQLite format 3\0" + data, b"SQLite format 3\0" + data[:5] + b"@  " + data[5:]):
        with suppress(FormatError):
            header = parse_header(candidate)
            assert 480 <= header.usable_bytes <= header.page_bytes <= 65536


@pytest.mark.parametrize("kind", HOSTS, ids=str)
def test_every_truncation(kind: Kind) -> None:
    """A file cut off anywhere is read as far as it goes."""
    data = _host(kind)
    for size in range(0, len(data), max(len(data) // 60, 1)):
        reasons: list[FormatError] = []
        try:
            pages = _pages(bytearray(data[:size]))
        except FormatError:
            assert size < 100
        else:
            _record_pieces(pages, reasons)
            list(reachable(pages, claims_for(pages), reasons.append))
