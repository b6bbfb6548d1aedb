"""The table that names all others.

Source: https://sqlite.org/fileformat2.html, "Storage Of The SQL Database Schema".
"""

from collections.abc import Iterator
from itertools import chain

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.btree import TABLE_INTERIOR, TABLE_LEAF, Cell, cells, page_kind
from formats.sqlite.overflow import payload
from formats.sqlite.pages import Claims, Pages
from formats.sqlite.ptrmap import claims_for
from formats.sqlite.record import values
from formats.sqlite.walk import table_leaves

MAX_ROW_BYTES = 1 << 20
"""A longer row of the schema is skipped: nobody writes a CREATE statement of this size."""


class Entry(msgspec.Struct, frozen=True):
    """One row of the schema.

    Attributes:
        kind: ``table``, ``index``, ``view`` or ``trigger``.
        name: Its own name.
        table: The table that it belongs to.
        root: The root page of its b-tree, or 0: views, triggers and virtual tables have none.
        sql: The statement that made it; empty for an index that a constraint made.
    """

    kind: str
    name: str
    table: str
    root: int
    sql: str


SCHEMA = Entry(kind="table", name="sqlite_schema", table="sqlite_schema", root=1, sql="")
"""The schema's own table, which it does not name."""


def entries(pages: Pages, report: Report) -> Iterator[Entry]:
    """All rows of the schema that can be read."""
    claims = claims_for(pages)
    for node in table_leaves(pages, SCHEMA.root, claims, report):
        for cell in cells(node.data, node.number, pages.header.usable_bytes, report):
            try:
                yield _entry(pages, node.number, cell, claims)
            except FormatError as error:
                report(error.within(f"page {node.number}, cell at {cell.offset}"))


def rowid_tables(pages: Pages, report: Report) -> Iterator[Entry]:
    """The tables whose rows have rowids, the schema's own first.

    A WITHOUT ROWID table is told by its root page, which is that of an index.
    """
    for entry in chain([SCHEMA], entries(pages, report)):
        try:
            if entry.root and _is_table_root(pages, entry.root):
                yield entry
        except FormatError as error:
            report(error)


def _is_table_root(pages: Pages, root: int) -> bool:
    return page_kind(pages.page(root), root) in {TABLE_INTERIOR, TABLE_LEAF}


def _entry(pages: Pages, number: int, cell: Cell, claims: Claims) -> Entry:
    if cell.payload_bytes > MAX_ROW_BYTES:
        most = f"at most {MAX_ROW_BYTES} bytes"
        raise FormatError("too long", where="row", expected=most, found=cell.payload_bytes)
    match list(values(payload(pages, number, cell, claims), pages.header.encoding)):
        case [str(kind), str(name), str(table), int() | None as root, str() | None as sql]:
            return Entry(kind, name, table, root or 0, sql or "")
    raise FormatError("not a row of the schema", where="row")
