"""Pages by number, and who holds each."""

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from formats.errors import FormatError
from formats.sqlite.header import Header

Data: TypeAlias = bytes | memoryview
"""Bytes to read; a memory view is flat and of unsigned bytes."""


class Pages(Protocol):
    """The pages of one database.

    Attributes:
        header: The database's header.
        count: Pages there are; their numbers are 1 to ``count``.
    """

    header: Header
    count: int

    def page(self, number: int) -> Data:
        """The ``header.page_bytes`` bytes of a page.

        Raises:
            FormatError: There is no page of this number.
        """


class BufferPages:
    """The pages of a database that lies in memory, or in a mapped file (as a memory view of it).

    A database is as long as its header says if the header is up to date, but never longer than the buffer.
    The pages are views into the buffer: a mapped file can be closed once they are gone.
    """

    def __init__(self, buffer: bytes | bytearray | memoryview, header: Header) -> None:
        self.header = header
        self.count = _count(header, len(buffer))
        self._view = memoryview(buffer)
        self._page_bytes = header.page_bytes

    def page(self, number: int) -> memoryview:
        """A view of the page ``number``."""
        if not 0 < number <= self.count:
            raise FormatError("no such page", where=f"page {number}", expected=f"1 to {self.count}")
        end = number * self._page_bytes
        return self._view[end - self._page_bytes : end]


def _count(header: Header, size_bytes: int) -> int:
    # Writers before 3.7.0 left the size in the header alone, and only they leave the counters apart.
    whole = size_bytes // header.page_bytes
    if header.page_count and header.change_counter == header.version_valid_for:
        return min(header.page_count, whole)
    return whole


class Claims:
    """Says of each page whether something holds it already, so that no walk meets a page twice.

    This is what bounds every walk over a hostile file: cycles and crossing chains end where they meet a page
    that is taken, and the work of all walks with one ``Claims`` is at most one visit a page. A chain that failed
    keeps its pages, or a thousand cells could make it be followed a thousand times.

    Args:
        count: Pages of the database; one byte of memory each.
        fixed: Pages that nothing may hold; ``ptrmap.claims_for`` knows them.
    """

    def __init__(self, count: int, fixed: Iterable[int] = ()) -> None:
        self._taken = bytearray(count + 1)
        for number in fixed:
            self._taken[number] = 1

    def take(self, number: int) -> None:
        """Claim a page.

        Raises:
            FormatError: There is no such page, or it is taken.
        """
        if not 0 < number < len(self._taken):
            raise FormatError("no such page", where=f"page {number}", expected=f"1 to {len(self._taken) - 1}")
        if self._taken[number]:
            raise FormatError("reached a second time, or reserved by SQLite", where=f"page {number}")
        self._taken[number] = 1
