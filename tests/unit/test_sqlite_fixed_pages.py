"""Pages whose use follows from their number, where the lock-byte page is in the way."""

import mmap
from pathlib import Path

import apsw
import msgspec
import pytest

from formats.errors import FormatError
from formats.sqlite.btree import cells
from formats.sqlite.header import Header, parse_header
from formats.sqlite.overflow import payload
from formats.sqlite.pages import BufferPages
from formats.sqlite.ptrmap import MapEntry, Owner, claims_for, fixed_pages, map_entries, map_pages
from formats.sqlite.record import values
from formats.sqlite.survey import Use, reachable
from formats.sqlite.walk import table_leaves
from tests.support.sqlite_files import Kind, create, refuse

GIB = 1 << 30


def test_no_map_pages_without_auto_vacuum() -> None:
    """Only auto-vacuum databases have pointer-map pages."""
    header = parse_header(create(Kind()).serialize("main"))
    assert list(map_pages(header, 5000)) == []
    assert list(fixed_pages(header, 5000)) == []


def test_map_pages_make_way_for_the_lock_byte_page() -> None:
    """With pages of 1 KiB a map page would fall on the lock-byte page; it comes one later, the next ones do not."""
    header = parse_header(create(Kind(page_bytes=1024, auto_vacuum=1)).serialize("main"))
    found = list(map_pages(header, 1_048_980))
    assert found[:3] == [2, 207, 412]
    assert found[-3:] == [1_048_372, 1_048_578, 1_048_782]
    assert next(fixed_pages(header, 1_048_980)) == 1_048_577
    assert list(map_pages(header, 1_048_577))[-1] == 1_048_372


def test_the_largest_database_is_counted_without_being_there() -> None:
    """The fixed pages come one by one, so a header that claims four billion pages costs nothing."""
    header = msgspec.structs.replace(
        parse_header(create(Kind(page_bytes=512, auto_vacuum=1)).serialize("main")), page_count=0xFFFFFFFE
    )
    assert next(map_pages(header, 0xFFFFFFFE)) == 2


class SparsePages:
    """A database too large to be there, with the same bytes on every page."""

    def __init__(self, header: Header, count: int, content: bytes) -> None:
        self.header = header
        self.count = count
        self._content = content

    def page(self, number: int) -> bytes:
        assert 0 < number <= self.count
        return self._content


def test_a_map_page_beside_the_lock_byte_page() -> None:
    """A map page that made way covers one page less, and its first entry is of the page behind it."""
    header = parse_header(create(Kind(page_bytes=1024, auto_vacuum=1)).serialize("main"))
    pages = SparsePages(header, 1_048_980, b"\5\0\0\0\7" * 204 + bytes(4))
    before = [entry.page for entry in map_entries(pages, 1_048_372, refuse)]
    behind = [entry.page for entry in map_entries(pages, 1_048_578, refuse)]
    last = [entry.page for entry in map_entries(pages, 1_048_782, refuse)]
    assert (before[0], before[-1]) == (1_048_373, 1_048_576)
    assert (behind[0], behind[-1]) == (1_048_579, 1_048_781)
    assert (last[0], last[-1]) == (1_048_783, 1_048_980)


def test_the_lock_byte_page_has_no_owner() -> None:
    """The map leaves a place for the lock-byte page, and nothing in it."""
    header = parse_header(create(Kind(page_bytes=65536, auto_vacuum=1)).serialize("main"))
    pages = SparsePages(header, 20_000, b"\4\0\0\0\7" * 13107 + b"\0")
    numbers = [entry.page for entry in map_entries(pages, 13_110, refuse)]
    assert numbers == [number for number in range(13_111, 20_001) if number != 16_385]


def test_an_owner_that_does_not_exist() -> None:
    """An entry of no known kind is reported with its page and skipped."""
    header = parse_header(create(Kind(page_bytes=1024, auto_vacuum=1)).serialize("main"))
    reasons: list[FormatError] = []
    pages = SparsePages(header, 4, b"\6\0\0\0\0\1\0\0\0\0" + bytes(1014))
    assert list(map_entries(pages, 2, reasons.append)) == [MapEntry(page=4, owner=Owner.ROOT, parent=0)]
    assert [str(reason) for reason in reasons] == [
        "page 2, entry of page 3: kind of owner: expected 1 to 5, found 6"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        Kind(page_bytes=65536),
        Kind(page_bytes=65536, auto_vacuum=1),
        Kind(page_bytes=1024, auto_vacuum=2),
        Kind(page_bytes=4096),
    ],
    ids=str,
)
def test_a_database_across_the_lock_byte_page(tmp_path: Path, kind: Kind) -> None:
    """Beyond 1 GiB the pages in use, the rows and the pointer map are still those of SQLite."""
    connection = create(kind, str(tmp_path / "db"))
    connection.execute("PRAGMA journal_mode=off; PRAGMA synchronous=off")
    connection.execute(
        "INSERT INTO rows(rowid, c) VALUES(1, zeroblob(?)), (2, zeroblob(?))", (GIB // 2, GIB // 2)
    )
    connection.executemany(
        "INSERT INTO rows(rowid, c) VALUES(?, ?)", [(n, b"x" * n * 99) for n in range(3, 300)]
    )
    with (
        (tmp_path / "db").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as view,
    ):
        assert len(view) > GIB
        _compare(BufferPages(view, parse_header(view)), connection)
    connection.close()


def _compare(pages: BufferPages, connection: apsw.Connection) -> None:
    reached = {one.number: one.use for one in reachable(pages, claims_for(pages), refuse)}
    uses = {"internal": Use.INTERIOR, "leaf": Use.LEAF, "overflow": Use.OVERFLOW}
    listed = connection.execute("SELECT pageno, pagetype FROM dbstat")
    assert reached == {number: uses[kind] for number, kind in listed}
    fixed = set(fixed_pages(pages.header, pages.count))
    assert fixed | set(reached) == set(range(1, pages.count + 1))
    assert fixed.isdisjoint(reached)
    assert GIB // pages.header.page_bytes + 1 in fixed
    _compare_map(pages, reached)
    _compare_rows(pages, connection)


def _compare_map(pages: BufferPages, reached: dict[int, Use]) -> None:
    overflow = {Owner.FIRST_OVERFLOW, Owner.NEXT_OVERFLOW}
    count = 1
    for number in map_pages(pages.header, pages.count):
        for entry in map_entries(pages, number, refuse):
            count += 1
            assert (reached[entry.page] is Use.OVERFLOW) == (entry.owner in overflow)
    assert count == (len(reached) if pages.header.auto_vacuum else 1)


def _compare_rows(pages: BufferPages, connection: apsw.Connection) -> None:
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'rows'").fetchone()
    claims = claims_for(pages)
    found = {
        cell.rowid: list(values(payload(pages, node.number, cell, claims), pages.header.encoding))[2]
        for node in table_leaves(pages, root, claims, refuse)
        for cell in cells(node.data, node.number, pages.header.usable_bytes, refuse)
        if cell.rowid > 2
    }
    assert found == dict(connection.execute("SELECT rowid, c FROM rows WHERE rowid > 2"))
