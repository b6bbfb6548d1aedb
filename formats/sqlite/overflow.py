"""Payloads that do not fit on their page: the chain of overflow pages, and the pieces of a payload.

Source: https://sqlite.org/fileformat2.html, "Cell Payload Overflow Pages".
"""

import struct
from itertools import repeat

import msgspec

from formats.errors import FormatError
from formats.sqlite.btree import Cell
from formats.sqlite.pages import Claims, Pages

_U32 = struct.Struct(">I")


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A run of payload bytes inside one page."""

    page: int
    offset: int
    length: int


def chain(pages: Pages, cell: Cell, claims: Claims) -> list[int]:
    """The overflow pages of a cell, in order; none if all of its payload is local.

    The length of the chain follows from the payload, so the last page's pointer, which SQLite sets to 0, is not
    looked at; of the other pages nothing but the pointer is read.

    Raises:
        FormatError: The payload is larger than the database, or the chain meets a page that is taken or that
            does not exist. The pages up to there stay claimed.
    """
    spilled = cell.payload_bytes - cell.local_bytes
    needed = -(-spilled // (pages.header.usable_bytes - 4))
    if needed > pages.count:
        where = f"page {cell.overflow}"
        raise FormatError(
            "overflow chain", where=where, expected=f"at most {pages.count} pages", found=needed
        )
    numbers: list[int] = []
    for _ in repeat(None, needed):
        number = _U32.unpack_from(pages.page(numbers[-1]))[0] if numbers else cell.overflow
        claims.take(number)
        numbers.append(number)
    return numbers


def pieces(number: int, cell: Cell, overflow: list[int], usable: int) -> list[Piece]:
    """Where the payload of a cell lies, in its order.

    Args:
        number: The page of the cell.
        cell: A cell with a payload.
        overflow: Its ``chain``.
        usable: ``Header.usable_bytes``.
    """
    found = [Piece(number, cell.payload_offset, cell.local_bytes)]
    left = cell.payload_bytes - cell.local_bytes
    for page in overflow:
        found.append(Piece(page, 4, min(left, usable - 4)))
        left -= usable - 4
    return found


def payload(pages: Pages, number: int, cell: Cell, claims: Claims) -> bytes:
    """The whole payload of a cell on page ``number``.

    Raises:
        FormatError: As ``chain``.
    """
    where = pieces(number, cell, chain(pages, cell, claims), pages.header.usable_bytes)
    return b"".join(pages.page(piece.page)[piece.offset : piece.offset + piece.length] for piece in where)
