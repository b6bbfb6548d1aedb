"""What we read of a database is what SQLite says of it, for every layout that SQLite can write."""

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.sqlite.btree import INDEX_INTERIOR, INDEX_LEAF, TABLE_INTERIOR, TABLE_LEAF, cells
from formats.sqlite.freelist import trunks
from formats.sqlite.header import Encoding
from formats.sqlite.overflow import payload
from formats.sqlite.pages import BufferPages
from formats.sqlite.ptrmap import Owner, claims_for, fixed_pages, map_entries, map_pages
from formats.sqlite.record import values
from formats.sqlite.schema import entries, rowid_tables
from formats.sqlite.survey import reachable
from formats.sqlite.walk import table_leaves, tree
from tests.support.sqlite_files import KINDS, Kind, create, filled, opened, refuse

ENCODINGS = {Encoding.UTF8: "UTF-8", Encoding.UTF16_LE: "UTF-16le", Encoding.UTF16_BE: "UTF-16be"}

columns = st.one_of(
    st.none(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.sampled_from([0, 1, -1, 127, 128, -32769, 1 << 23, 1 << 31, 1 << 47]),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.binary(max_size=40),
    st.builds(lambda size: b"\x0d" * size, st.integers(0, 3000)),
    st.builds(lambda size: "ü€𝄞"[size % 3] * size, st.integers(0, 1500)),
)
contents = st.lists(st.tuples(columns, columns, columns), max_size=30)
kinds = st.builds(
    Kind,
    page_bytes=st.sampled_from([512, 1024, 4096, 65536]),
    reserved_bytes=st.sampled_from([0, 1, 32]),
    auto_vacuum=st.integers(0, 2),
    encoding=st.sampled_from(sorted(ENCODINGS.values())),
)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def _loaded(data: bytes) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", data)
    return connection


def _root_of(connection: apsw.Connection, name: str) -> int:
    return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get


def _table_rows(pages: BufferPages, root: int) -> list[tuple]:
    claims = claims_for(pages)
    return [
        (cell.rowid, *values(payload(pages, node.number, cell, claims), pages.header.encoding))
        for node in table_leaves(pages, root, claims, refuse)
        for cell in cells(node.data, node.number, pages.header.usable_bytes, refuse)
    ]


def _index_rows(pages: BufferPages, root: int) -> list[tuple]:
    claims = claims_for(pages)
    return [
        tuple(values(payload(pages, node.number, cell, claims), pages.header.encoding))
        for node in tree(pages, root, claims, refuse)
        for cell in cells(node.data, node.number, pages.header.usable_bytes, refuse)
    ]


def _typed(rows: list[tuple]) -> list[str]:
    """Rows that compare by type as well, so that 1, 1.0 and True differ, as do 0.0 and -0.0."""
    return [repr(row) for row in rows]


@settings(max_examples=60, deadline=None)
@given(kinds, contents)
def test_rows_are_those_of_select(kind: Kind, rows: list[tuple]) -> None:
    """A table's cells, overflow chains joined, decode to the rows that SELECT returns, in their order."""
    connection = create(kind)
    connection.executemany("INSERT INTO rows VALUES(?, ?, ?)", rows)
    pages = opened(connection.serialize("main"))
    expected = list(connection.execute("SELECT rowid, * FROM rows ORDER BY rowid"))
    assert _typed(_table_rows(pages, _root_of(connection, "rows"))) == _typed(expected)


@settings(max_examples=40, deadline=None)
@given(kinds, contents)
def test_index_cells_are_the_rows_of_a_table_without_rowids(kind: Kind, rows: list[tuple]) -> None:
    """Leaf and interior cells of an index b-tree together hold each row of a WITHOUT ROWID table once."""
    connection = create(kind)
    connection.executemany(
        "INSERT OR IGNORE INTO keyed SELECT ?1, ?2 WHERE ?1 IS NOT NULL AND 0 IS NOT ?3", rows
    )
    pages = opened(connection.serialize("main"))
    expected = list(connection.execute("SELECT k, v FROM keyed"))
    assert sorted(_typed(_index_rows(pages, _root_of(connection, "keyed")))) == sorted(_typed(expected))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), unique=True, max_size=50))
def test_rowids_of_all_sizes(rowids: list[int]) -> None:
    """Rowids read as SQLite's, negative and of nine bytes included."""
    connection = create(Kind(page_bytes=512))
    connection.executemany("INSERT INTO rows(rowid, a) VALUES(?, 'x')", [(rowid,) for rowid in rowids])
    pages = opened(connection.serialize("main"))
    assert [row[0] for row in _table_rows(pages, _root_of(connection, "rows"))] == sorted(rowids)


@each_kind
def test_payloads_at_every_boundary(kind: Kind) -> None:
    """The split between page and overflow chain is SQLite's, at the sizes where the rule changes its mind."""
    usable = kind.page_bytes - kind.reserved_bytes
    middle = (usable - 12) * 32 // 255 - 23
    edges = [usable - 35, middle + usable - 4, middle + 2 * (usable - 4), 2 * (usable - 4), usable]
    sizes = [edge + shift for edge in edges for shift in range(-9, 10)]
    connection = create(kind)
    connection.executemany("INSERT INTO rows VALUES(?, NULL, zeroblob(?))", [(size, size) for size in sizes])
    connection.executemany("INSERT INTO keyed VALUES(zeroblob(?), NULL)", [(size,) for size in sizes])
    pages = opened(connection.serialize("main"))
    expected = list(connection.execute("SELECT rowid, * FROM rows"))
    assert _table_rows(pages, _root_of(connection, "rows")) == expected
    _assert_pages_are_those_of_dbstat(pages, connection)


@each_kind
def test_header_says_what_the_pragmas_say(kind: Kind) -> None:
    """The header's fields are those that SQLite's pragmas report."""
    data = filled(kind)
    connection = _loaded(data)
    connection.execute("PRAGMA user_version=4711; PRAGMA application_id=1234")
    header = opened(connection.serialize("main")).header
    found = {
        "page_size": header.page_bytes,
        "page_count": header.page_count,
        "freelist_count": header.freelist_count,
        "auto_vacuum": 2 if header.incremental_vacuum else int(header.auto_vacuum),
        "encoding": ENCODINGS[header.encoding],
        "user_version": header.user_version,
        "application_id": header.application_id,
        "schema_version": header.schema_cookie,
    }
    assert found == {name: connection.pragma(name) for name in found}
    assert header.usable_bytes == kind.page_bytes - kind.reserved_bytes
    assert header.sqlite_version == apsw.SQLITE_VERSION_NUMBER


@each_kind
def test_schema_is_that_of_select(kind: Kind) -> None:
    """Every row of the schema is read; the tables that have rowids are told from those that have none."""
    data = filled(kind)
    pages = opened(data)
    select = "SELECT type, name, tbl_name, rootpage, coalesce(sql, '') FROM sqlite_schema"
    found = [(entry.kind, entry.name, entry.table, entry.root, entry.sql) for entry in entries(pages, refuse)]
    assert found == list(_loaded(data).execute(select))
    assert [entry.name for entry in rowid_tables(pages, refuse)] == ["sqlite_schema", "rows"]


def test_a_long_schema() -> None:
    """A schema of many pages, with statements that spill into overflow pages, is read whole."""
    connection = create(Kind(page_bytes=512))
    for index in range(200):
        connection.execute(f"CREATE TABLE t{index}({', '.join(f'column_{n}' for n in range(index + 1))})")
    pages = opened(connection.serialize("main"))
    expected = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    assert [entry.name for entry in entries(pages, refuse)] == expected


@each_kind
def test_pages_are_those_of_dbstat(kind: Kind) -> None:
    """The pages reached from the schema, their use and their tree are those that dbstat lists."""
    data = filled(kind)
    _assert_pages_are_those_of_dbstat(opened(data), _loaded(data))


def _assert_pages_are_those_of_dbstat(pages: BufferPages, connection: apsw.Connection) -> None:
    found = {
        (reached.number, reached.use, reached.root) for reached in reachable(pages, claims_for(pages), refuse)
    }
    uses = {"internal": "interior", "leaf": "leaf", "overflow": "overflow"}
    listed = connection.execute(
        "SELECT pageno, pagetype, coalesce(rootpage, 1) FROM dbstat LEFT JOIN sqlite_schema USING (name)"
    )
    assert found == {(number, uses[kind], root) for number, kind, root in listed}


@each_kind
def test_cells_are_those_of_dbstat(kind: Kind) -> None:
    """Each b-tree page has as many cells, and as many payload bytes on it, as dbstat counts."""
    data = filled(kind)
    pages, connection = opened(data), _loaded(data)
    listed = connection.execute("SELECT pageno, ncell, payload FROM dbstat WHERE pagetype <> 'overflow'")
    for number, count, local_bytes in listed:
        found = cells(pages.page(number), number, pages.header.usable_bytes, refuse)
        assert (len(found), sum(cell.local_bytes for cell in found)) == (count, local_bytes)


@each_kind
def test_every_page_has_one_use(kind: Kind) -> None:
    """Trees, freelist and fixed pages share out all pages of a database, and the freelist is as long as SQLite says."""
    data = filled(kind)
    pages = opened(data)
    claims = claims_for(pages)
    used = [reached.number for reached in reachable(pages, claims, refuse)]
    free = [number for trunk in trunks(pages, claims, refuse) for number in (trunk.number, *trunk.leaves)]
    assert len(free) == _loaded(data).pragma("freelist_count")
    assert sorted([*used, *free, *fixed_pages(pages.header, pages.count)]) == list(range(1, pages.count + 1))


@each_kind
def test_a_large_freelist(kind: Kind) -> None:
    """A freelist of several trunks is read to its end."""
    connection = create(kind)
    connection.execute("PRAGMA auto_vacuum=2")
    pages_to_free = 300 if kind.page_bytes < 8192 else 20
    connection.execute("INSERT INTO rows VALUES(1, 2, zeroblob(?))", (pages_to_free * kind.page_bytes,))
    connection.execute("DELETE FROM rows")
    pages = opened(connection.serialize("main"))
    free = [
        number
        for trunk in trunks(pages, claims_for(pages), refuse)
        for number in (trunk.number, *trunk.leaves)
    ]
    assert len(set(free)) == len(free) == connection.pragma("freelist_count")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.auto_vacuum], ids=str)
def test_pointer_map_is_the_tree_upside_down(kind: Kind) -> None:
    """The pointer map names for each page the parent that dbstat's paths give it."""
    data = filled(kind, rows=200)
    pages = opened(data)
    found = {
        entry.page: (entry.owner, entry.parent)
        for number in map_pages(pages.header, pages.count)
        for entry in map_entries(pages, number, refuse)
    }
    owned = _owners(_loaded(data))
    free = {page for page, (owner, _) in found.items() if owner is Owner.FREE}
    assert {page: owner for page, owner in found.items() if page not in free} == owned
    assert len(free) == pages.header.freelist_count


def _owners(connection: apsw.Connection) -> dict[int, tuple[Owner, int]]:
    """Owner and parent of every page but the first and those of the freelist, from the paths of dbstat."""
    listed = list(connection.execute("SELECT name, path, pageno FROM dbstat"))
    numbers = {(name, path): number for name, path, number in listed}
    found = {}
    for name, path, number in listed:
        cell, _, index = path.partition("+")
        above = path.rstrip("/").rpartition("/")[0] + "/"
        if path == "/":
            found[number] = (Owner.ROOT, 0)
        elif not index:
            found[number] = (Owner.BTREE, numbers[name, above])
        elif int(index, 16) == 0:
            found[number] = (Owner.FIRST_OVERFLOW, numbers[name, above])
        else:
            found[number] = (Owner.NEXT_OVERFLOW, numbers[name, f"{cell}+{int(index, 16) - 1:06x}"])
    del found[1]
    return found


def test_the_kinds_cover_every_kind_of_page() -> None:
    """The databases above have interior pages of tables and of indexes, and overflow pages below both."""
    pages = opened(filled(Kind(page_bytes=512), rows=200))
    reached = list(reachable(pages, claims_for(pages), refuse))
    kinds_seen = {pages.page(one.number)[0] for one in reached if one.use != "overflow" and one.number > 1}
    assert kinds_seen == {INDEX_INTERIOR, INDEX_LEAF, TABLE_INTERIOR, TABLE_LEAF}
