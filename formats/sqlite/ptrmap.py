"""Pointer-map pages of auto-vacuum databases, and which pages have a fixed use.

Source: https://sqlite.org/fileformat2.html, "Pointer Map or Ptrmap Pages" and "The Lock-Byte Page".
"""

import struct
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.header import Header, lock_byte_page
from formats.sqlite.pages import Claims, Pages

_ENTRY = struct.Struct(">BI")


class Owner(IntEnum):
    """What a pointer map says of a page, and so what the number beside it means."""

    ROOT = 1
    """The root of a b-tree; no parent."""
    FREE = 2
    """In the freelist; no parent."""
    FIRST_OVERFLOW = 3
    """The parent is the b-tree page of the cell."""
    NEXT_OVERFLOW = 4
    """The parent is the overflow page before it."""
    BTREE = 5
    """The parent is the b-tree page above it."""


class MapEntry(msgspec.Struct, frozen=True, gc=False):
    """What the pointer map says of page ``page``."""

    page: int
    owner: Owner
    parent: int


def map_pages(header: Header, count: int) -> Iterator[int]:
    """The pointer-map pages of a database of ``count`` pages, in order."""
    if header.auto_vacuum:
        lock = lock_byte_page(header.page_bytes)
        for number in range(2, count + 1, header.usable_bytes // 5 + 1):
            shifted = number + 1 if number == lock else number
            if shifted <= count:
                yield shifted


def fixed_pages(header: Header, count: int) -> Iterator[int]:
    """The pages that neither a b-tree nor a chain nor the freelist may use."""
    lock = lock_byte_page(header.page_bytes)
    if lock <= count:
        yield lock
    yield from map_pages(header, count)


def claims_for(pages: Pages) -> Claims:
    """Claims in which nothing but the fixed pages is taken."""
    return Claims(pages.count, fixed_pages(pages.header, pages.count))


def map_entries(pages: Pages, number: int, report: Report) -> Iterator[MapEntry]:
    """What the pointer-map page ``number`` (of ``map_pages``) says, for the pages that the database has.

    Raises:
        FormatError: There is no such page.
    """
    data = pages.page(number)
    lock = lock_byte_page(pages.header.page_bytes)
    for page in range(number + 1, _last(pages, number) + 1):
        if page == lock:
            continue
        owner, parent = _ENTRY.unpack_from(data, 5 * (page - number - 1))
        if Owner.ROOT <= owner <= Owner.BTREE:
            yield MapEntry(page, Owner(owner), parent)
        else:
            where = f"page {number}, entry of page {page}"
            report(FormatError("kind of owner", where=where, expected="1 to 5", found=owner))


def _last(pages: Pages, number: int) -> int:
    covered = pages.header.usable_bytes // 5
    # A map page that had to make way for the lock-byte page covers one page less.
    shift = (number - 2) % (covered + 1)
    return min(pages.count, number + covered - shift)
