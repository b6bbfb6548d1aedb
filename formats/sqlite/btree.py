"""B-tree pages: cell pointers, cells, and how much of a payload lies on the page.

Source: https://sqlite.org/fileformat2.html, "B-tree Pages" and "Cell Payload Overflow Pages".
"""

import struct
from functools import lru_cache

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.pages import Data
from formats.sqlite.varint import signed, varint

INDEX_INTERIOR = 2
TABLE_INTERIOR = 5
INDEX_LEAF = 10
TABLE_LEAF = 13

_U16 = struct.Struct(">H")
_U32 = struct.Struct(">I")


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One cell of a page; offsets count from the start of the page.

    Attributes:
        offset: Where the cell starts.
        child: The page with the smaller keys; 0 on leaves.
        rowid: 0 in index b-trees, which have none.
        payload_bytes: Of the whole payload; 0 on interior pages of tables.
        payload_offset: Where its local part starts.
        local_bytes: Length of its local part.
        overflow: The first page of the rest, or 0.
    """

    offset: int
    child: int
    rowid: int
    payload_bytes: int
    payload_offset: int
    local_bytes: int
    overflow: int


class _Shape(msgspec.Struct, frozen=True, gc=False):
    """What the cells of one kind of page have, for one usable size."""

    usable: int
    has_child: bool
    has_payload: bool
    has_rowid: bool
    max_local: int
    min_local: int


def page_kind(page: Data, number: int) -> int:
    """One of the four kinds of b-tree page.

    Raises:
        FormatError: The page is of no such kind.
    """
    kind = page[100 if number == 1 else 0]
    if kind in {TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR}:
        return kind
    raise FormatError("not a b-tree page", where=f"page {number}", expected="2, 5, 10 or 13", found=kind)


def cells(page: Data, number: int, usable: int, report: Report) -> list[Cell]:
    """The cells of a b-tree page in key order, without those that are damaged.

    No two of them overlap, whatever the page says: of two that would, the one further back is skipped.

    Args:
        page: All bytes of the page.
        number: Its number; page 1 starts with the database header.
        usable: ``Header.usable_bytes``.
        report: Receives the cells that were skipped, or the page if none of it can be read.
    """
    found: list[Cell] = []
    try:
        shape = _shape(page_kind(page, number), usable)
        start, pointers = _pointers(page, number, usable, has_child=shape.has_child)
    except FormatError as error:
        report(error)
        return found
    for at in pointers:
        try:
            found.append(_cell(page, at, shape))
        except FormatError as error:
            report(error.within(f"page {number}, cell at {at}"))
    return _apart(found, number, start, report)


def children(page: Data, number: int, usable: int, report: Report) -> list[int]:
    """The pages below an interior page, in key order; their numbers are not checked.

    Args:
        page: All bytes of the page.
        number: Its number.
        usable: ``Header.usable_bytes``.
        report: Receives the cells that were skipped, or the page if none of it can be read.
    """
    below: list[int] = []
    try:
        _, pointers = _pointers(page, number, usable, has_child=True)
    except FormatError as error:
        report(error)
        return below
    for at in pointers:
        if at + 4 <= usable:
            below.append(_U32.unpack_from(page, at)[0])
        else:
            report(FormatError("leaves the page", where=f"page {number}, cell at {at}"))
    below.append(_U32.unpack_from(page, 108 if number == 1 else 8)[0])
    return below


def _pointers(page: Data, number: int, usable: int, *, has_child: bool) -> tuple[int, tuple[int, ...]]:
    """Where cells may start, and where they say that they do."""
    base = 100 if number == 1 else 0
    (count,) = _U16.unpack_from(page, base + 3)
    # A cell takes four bytes at least, and two for its pointer.
    most = (usable - 8) // 6
    if count > most:
        raise FormatError("cells", where=f"page {number}", expected=f"at most {most}", found=count)
    first = base + (12 if has_child else 8)
    return first + 2 * count, struct.unpack_from(f">{count}H", page, first)


def _cell(page: Data, offset: int, shape: _Shape) -> Cell:
    at = offset + 4 if shape.has_child else offset
    payload_bytes = rowid = overflow = 0
    if shape.has_payload:
        payload_bytes, at = varint(page, at)
    if shape.has_rowid:
        rowid, at = varint(page, at)
    local = payload_bytes if payload_bytes <= shape.max_local else _local_bytes(payload_bytes, shape)
    end = at + local if local == payload_bytes else at + local + 4
    if end > shape.usable:
        raise FormatError("leaves the page", where="payload", expected=f"at most {shape.usable}", found=end)
    if local != payload_bytes:
        overflow = _overflow(page, at + local)
    child = _U32.unpack_from(page, offset)[0] if shape.has_child else 0
    return Cell(offset, child, signed(rowid), payload_bytes, at, local, overflow)


def _local_bytes(payload_bytes: int, shape: _Shape) -> int:
    # What spills fills whole overflow pages if the remainder fits beside the other cells.
    local = shape.min_local + (payload_bytes - shape.min_local) % (shape.usable - 4)
    return local if local <= shape.max_local else shape.min_local


def _overflow(page: Data, at: int) -> int:
    number: int = _U32.unpack_from(page, at)[0]
    if number == 0:
        raise FormatError("goes on at no page", where="payload")
    return number


def _apart(found: list[Cell], number: int, start: int, report: Report) -> list[Cell]:
    """The cells in the order given, without those that start before ``start`` or inside another."""
    skipped: set[int] = set()
    end = start
    for index, cell in sorted(enumerate(found), key=lambda pair: pair[1].offset):
        if cell.offset < end:
            skipped.add(index)
            where = f"page {number}, cell at {cell.offset}"
            report(FormatError("overlaps what lies before it", where=where))
        else:
            end = cell.payload_offset + cell.local_bytes + (4 if cell.overflow else 0)
    return [cell for index, cell in enumerate(found) if index not in skipped] if skipped else found


@lru_cache(maxsize=64)
def _shape(kind: int, usable: int) -> _Shape:
    min_local = (usable - 12) * 32 // 255 - 23
    return _Shape(
        usable=usable,
        has_child=kind in {INDEX_INTERIOR, TABLE_INTERIOR},
        has_payload=kind != TABLE_INTERIOR,
        has_rowid=kind in {TABLE_INTERIOR, TABLE_LEAF},
        max_local=usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23,
        min_local=min_local,
    )
