"""Trees, chains and freelists that lie, each damaged on purpose in one place of a database made by SQLite."""

import struct

import apsw
import pytest

from formats.errors import FormatError
from formats.sqlite.btree import TABLE_INTERIOR, Cell, cells, children
from formats.sqlite.freelist import trunks
from formats.sqlite.overflow import chain, payload, pieces
from formats.sqlite.pages import BufferPages
from formats.sqlite.ptrmap import claims_for
from formats.sqlite.schema import entries
from formats.sqlite.survey import Use, reachable
from formats.sqlite.walk import MAX_DEPTH, table_leaves, tree
from tests.support.sqlite_files import Kind, create, opened, refuse

SIZE = 512
KIND = Kind(page_bytes=SIZE)


def _two_long_rows() -> tuple[bytearray, int]:
    """A database whose table ``rows`` is one page with two cells that spill, and that page's number."""
    connection = create(KIND)
    connection.execute("INSERT INTO rows(c) VALUES(zeroblob(3060)), (zeroblob(4076))")
    return bytearray(connection.serialize("main")), _root(connection, "rows")


def _root(connection: apsw.Connection, name: str) -> int:
    return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get


def _cells(pages: BufferPages, number: int) -> list[Cell]:
    return cells(pages.page(number), number, SIZE, refuse)


def _put(data: bytearray, page: int, offset: int, value: int) -> None:
    struct.pack_into(">I", data, (page - 1) * SIZE + offset, value)


def test_pieces_of_a_payload() -> None:
    """A payload's pieces are its local part and what follows the pointer of each overflow page."""
    data, root = _two_long_rows()
    pages = opened(data)
    cell = _cells(pages, root)[0]
    numbers = chain(pages, cell, claims_for(pages))
    first, *rest = pieces(root, cell, numbers, SIZE)
    assert (first.page, first.offset, first.length) == (root, cell.payload_offset, cell.local_bytes)
    assert [piece.page for piece in rest] == numbers
    assert {piece.offset for piece in rest} == {4}
    assert {piece.length for piece in rest[:-1]} == {SIZE - 4}
    assert sum(piece.length for piece in [first, *rest]) == cell.payload_bytes


def test_a_cyclic_chain() -> None:
    """A chain that comes back to itself ends where it does, with the page's number in the error."""
    data, root = _two_long_rows()
    pages = opened(data)
    cell = _cells(pages, root)[0]
    numbers = chain(pages, cell, claims_for(pages))
    _put(data, numbers[3], 0, numbers[1])
    with pytest.raises(FormatError, match=f"page {numbers[1]}: reached a second time"):
        chain(pages, cell, claims_for(pages))


def test_crossing_chains() -> None:
    """Of two chains that meet, the first is whole and the second is refused."""
    data, root = _two_long_rows()
    pages = opened(data)
    first, second = _cells(pages, root)
    shared = chain(pages, first, claims_for(pages))
    _put(data, chain(pages, second, claims_for(pages))[0], 0, shared[2])
    claims = claims_for(pages)
    assert chain(pages, first, claims) == shared
    with pytest.raises(FormatError, match=f"page {shared[2]}: reached a second time"):
        chain(pages, second, claims)


@pytest.mark.parametrize("target", [0, 9999, 0xFFFFFFFF])
def test_a_chain_that_leads_nowhere(target: int) -> None:
    """A chain that goes on at a page that does not exist is refused."""
    data, root = _two_long_rows()
    pages = opened(data)
    cell = _cells(pages, root)[0]
    _put(data, chain(pages, cell, claims_for(pages))[0], 0, target)
    with pytest.raises(FormatError, match=f"page {target}: no such page"):
        chain(pages, cell, claims_for(pages))


def test_a_chain_into_a_page_of_the_tree() -> None:
    """A chain that leads into a page that the walk has met is refused."""
    data, root = _two_long_rows()
    pages = opened(data)
    cell = _cells(pages, root)[0]
    _put(data, chain(pages, cell, claims_for(pages))[1], 0, root)
    claims = claims_for(pages)
    assert [node.number for node in table_leaves(pages, root, claims, refuse)] == [root]
    with pytest.raises(FormatError, match=f"page {root}: reached a second time"):
        chain(pages, cell, claims)


def test_a_payload_larger_than_the_database() -> None:
    """A payload that would need more pages than there are is refused before a page is read."""
    pages = opened(_two_long_rows()[0])
    cell = Cell(
        offset=0, child=0, rowid=1, payload_bytes=1 << 30, payload_offset=4, local_bytes=40, overflow=2
    )
    with pytest.raises(FormatError, match=f"overflow chain: expected at most {pages.count} pages"):
        chain(pages, cell, claims_for(pages))


def test_the_last_overflow_page_may_look_like_a_leaf() -> None:
    """The pointer that nobody follows can make an overflow page look like a leaf; it is one all the same."""
    data, root = _two_long_rows()
    pages = opened(data)
    cell = _cells(pages, root)[0]
    last = chain(pages, cell, claims_for(pages))[-1]
    expected = payload(pages, root, cell, claims_for(pages))
    _put(data, last, 0, 0x0D000001)
    assert payload(pages, root, cell, claims_for(pages)) == expected
    reached = {one.number: one.use for one in reachable(pages, claims_for(pages), refuse)}
    assert reached[last] is Use.OVERFLOW


def test_cells_on_top_of_each_other() -> None:
    """Eighty pointers to one cell give the cell once, and a reason for each of the others."""
    data, root = _two_long_rows()
    page = bytearray(opened(data).page(root))
    (at,) = struct.unpack_from(">H", page, 8)
    struct.pack_into(">H", page, 3, 80)
    struct.pack_into(">80H", page, 8, *[at] * 80)
    reasons: list[FormatError] = []
    assert [cell.offset for cell in cells(bytes(page), root, SIZE, reasons.append)] == [at]
    assert {str(reason) for reason in reasons} == {f"page {root}, cell at {at}: overlaps what lies before it"}
    assert len(reasons) == 79


@pytest.mark.parametrize("count", [85, 300, 65535])
def test_more_cells_than_a_page_holds(count: int) -> None:
    """A page that counts more cells than there is room for gives none."""
    data, root = _two_long_rows()
    page = bytearray(opened(data).page(root))
    struct.pack_into(">H", page, 3, count)
    reasons: list[FormatError] = []
    assert cells(bytes(page), root, SIZE, reasons.append) == []
    assert [str(reason) for reason in reasons] == [f"page {root}: cells: expected at most 84, found {count}"]


@pytest.mark.parametrize("pointer", [0, 9, 511, 510, 0xFFFF])
def test_a_cell_pointer_outside_the_cells(pointer: int) -> None:
    """A pointer into the page's head, or to where no cell fits, costs that cell and no other."""
    data, root = _two_long_rows()
    page = bytearray(opened(data).page(root))
    struct.pack_into(">H", page, 10, pointer)
    reasons: list[FormatError] = []
    assert [cell.rowid for cell in cells(bytes(page), root, SIZE, reasons.append)] == [1]
    assert len(reasons) == 1
    assert reasons[0].where.startswith(f"page {root}, cell at {pointer}")


@pytest.mark.parametrize(
    ("at", "stored", "message"),
    [
        (SIZE - 12, b"\x0b\x01", "leaves the page"),
        (SIZE - 3, b"\x9f\x00\x01", "leaves the page"),
        (SIZE - 60, b"\x98\x0f\x01" + bytes(50), "goes on at no page"),
        (SIZE - 2, b"\x81\x81", "the data end inside an integer"),
    ],
    ids=["by one byte", "far", "nowhere", "integer"],
)
def test_a_cell_that_does_not_fit(at: int, stored: bytes, message: str) -> None:
    """A cell that would leave the page, or whose payload goes on nowhere, is skipped for that reason."""
    data, root = _two_long_rows()
    page = bytearray(opened(data).page(root))
    page[at : at + len(stored)] = stored
    struct.pack_into(">H", page, 3, 1)
    struct.pack_into(">H", page, 8, at)
    reasons: list[FormatError] = []
    assert cells(bytes(page), root, SIZE, reasons.append) == []
    assert [reason.what for reason in reasons] == [message]


def _interior(children_below: list[int]) -> bytes:
    """A page of the inside of a table, made from the specification's words."""
    *left, right = children_below
    pointers = [SIZE - 5 * (index + 1) for index in range(len(left))]
    page = bytearray(SIZE)
    struct.pack_into(">BHHHBI", page, 0, TABLE_INTERIOR, 0, len(left), 0, 0, right)
    struct.pack_into(f">{len(left)}H", page, 12, *pointers)
    for at, child in zip(pointers, left, strict=True):
        struct.pack_into(">IB", page, at, child, 1)
    return bytes(page)


def _appended(data: bytearray, extra: list[bytes]) -> BufferPages:
    """The database with more pages behind it."""
    whole = bytearray(data + b"".join(extra))
    struct.pack_into(">I", whole, 28, len(whole) // SIZE)
    return opened(whole)


def test_a_tree_that_bites_its_tail() -> None:
    """A page below itself is met once; the rest of the tree is read."""
    data, leaf = _two_long_rows()
    top = len(data) // SIZE + 1
    pages = _appended(data, [_interior([top, leaf, top])])
    reasons: list[FormatError] = []
    assert [node.number for node in tree(pages, top, claims_for(pages), reasons.append)] == [top, leaf]
    assert [reason.where for reason in reasons] == [f"page {top}"] * 2


def test_a_tree_deeper_than_sqlite_allows() -> None:
    """The walk stops at the depth at which SQLite calls a tree corrupt."""
    data, leaf = _two_long_rows()
    top = len(data) // SIZE + 1
    pages = _appended(data, [_interior([top + level + 1]) for level in range(30)] + [_interior([leaf])])
    reasons: list[FormatError] = []
    assert len(list(tree(pages, top, claims_for(pages), reasons.append))) == MAX_DEPTH - 1
    expected = f"page {top + MAX_DEPTH - 1}: tree too deep: expected at most 20 levels"
    assert [str(reason) for reason in reasons] == [expected]


def test_a_tree_of_two_kinds() -> None:
    """A page of an index below a table is left out."""
    connection = create(KIND)
    data = bytearray(connection.serialize("main"))
    table, index = _root(connection, "rows"), _root(connection, "by_b")
    top = len(data) // SIZE + 1
    pages = _appended(data, [_interior([index, table])])
    reasons: list[FormatError] = []
    assert [node.number for node in tree(pages, top, claims_for(pages), reasons.append)] == [top, table]
    assert [str(reason) for reason in reasons] == [f"page {index}: page of the other kind of tree: found 10"]


def test_children_and_cells_of_an_interior_page_agree() -> None:
    """The children of an interior page are those of its cells, then the right-most."""
    page = _interior([7, 8, 9])
    assert children(page, 5, SIZE, refuse) == [7, 8, 9]
    assert [(cell.child, cell.rowid, cell.payload_bytes) for cell in cells(page, 5, SIZE, refuse)] == [
        (7, 1, 0),
        (8, 1, 0),
    ]


def _with_freelist() -> bytearray:
    connection = create(KIND)
    connection.execute("INSERT INTO rows(c) VALUES(zeroblob(100000)); DELETE FROM rows")
    return bytearray(connection.serialize("main"))


def test_a_freelist_in_a_circle() -> None:
    """A freelist that comes back to its start ends there, and is reported twice: for that, and for its length."""
    data = _with_freelist()
    pages = opened(data)
    first, second = list(trunks(pages, claims_for(pages), refuse))[:2]
    _put(data, second.number, 0, first.number)
    header = pages.header
    struct.pack_into(">I", data, 36, header.freelist_count + 1)
    reasons: list[FormatError] = []
    pages = opened(data)
    assert list(trunks(pages, claims_for(pages), reasons.append)) == [first, second]
    assert [reason.where for reason in reasons] == [f"page {first.number}", "header"]


def test_a_freelist_trunk_that_lists_too_much() -> None:
    """A trunk that counts more leaves than fit on a page is not read."""
    data = _with_freelist()
    first = opened(data).header.freelist_trunk
    _put(data, first, 4, 0xFFFFFFFF)
    pages = opened(data)
    reasons: list[FormatError] = []
    assert list(trunks(pages, claims_for(pages), reasons.append)) == []
    assert (
        str(reasons[0]) == f"page {first}: leaves of a freelist trunk: expected at most 126, found 4294967295"
    )


def test_a_free_leaf_that_is_in_use() -> None:
    """A page that both a tree and the freelist claim belongs to the one that came first."""
    data = _with_freelist()
    pages = opened(data)
    trunk = next(trunks(pages, claims_for(pages), refuse))
    _put(data, trunk.number, 8, 1)
    claims = claims_for(pages)
    list(reachable(pages, claims, refuse))
    reasons: list[FormatError] = []
    assert next(trunks(pages, claims, reasons.append)).leaves == trunk.leaves[1:]
    assert [reason.where for reason in reasons] == ["page 1"]


def test_a_schema_row_without_bounds() -> None:
    """A statement of more than a megabyte is skipped with a reason; the others are read."""
    connection = create(KIND)
    connection.execute(f"CREATE TABLE wide(a DEFAULT '{'x' * (1 << 20)}'); CREATE TABLE after(a)")
    reasons: list[FormatError] = []
    names = [entry.name for entry in entries(opened(connection.serialize("main")), reasons.append)]
    assert names == ["rows", "keyed", "by_b", "seen", "after"]
    assert [(reason.what, reason.expected) for reason in reasons] == [("too long", "at most 1048576 bytes")]


def test_a_page_full_of_the_smallest_cells() -> None:
    """The most cells that SQLite puts on a page are all read."""
    connection = create(KIND)
    connection.execute("CREATE TABLE small(a)")
    connection.executemany("INSERT INTO small VALUES(?)", [(None,)] * 500)
    pages = opened(connection.serialize("main"))
    leaves = table_leaves(pages, _root(connection, "small"), claims_for(pages), refuse)
    counts = [len(_cells(pages, node.number)) for node in leaves]
    assert sum(counts) == 500
    listed = connection.execute("SELECT max(ncell) FROM dbstat WHERE name = 'small' AND pagetype = 'leaf'")
    assert max(counts) == listed.get
