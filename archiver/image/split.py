"""Finds the records in a leaf of a database or of a WAL.

Everything is decided page by page, from the page alone. The local part of a row's payload on a table's leaf page, and
what an overflow page carries of a payload, are the same bytes wherever SQLite puts them: they depend on the row and on
the page size only. So they keep their ids through VACUUM, moves and copies, without following any chain (see
specs/decisions/0003-pages-split-alone.md).

A mistake here costs room and never bytes: whoever joins only strings together what is listed.
"""

from collections.abc import Iterator

from archiver.image.store import Span
from formats.errors import FormatError
from formats.sqlite.btree import INDEX_INTERIOR, INDEX_LEAF, TABLE_INTERIOR, TABLE_LEAF, cells

MIN_RECORD_BYTES = 512
WAL_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24

_FILE_HEADER_BYTES = 100
_POINTER_BYTES = 4
_TREE_PAGES = frozenset({INDEX_INTERIOR, INDEX_LEAF, TABLE_INTERIOR})


def records(leaf: memoryview, page_bytes: int, *, starts_file: bool) -> Iterator[Span]:
    """The records in a leaf that is a run of whole pages, in order.

    Args:
        leaf: The bytes.
        page_bytes: The database's page size.
        starts_file: Whether the first page is the database's first, which begins with the file's header.
    """
    for start in range(0, len(leaf), page_bytes):
        page = leaf[start : start + page_bytes]
        for span in _page_records(page, starts_file=starts_file and start == 0):
            yield _moved(span, start)


def wal_records(leaf: memoryview, page_bytes: int, header_bytes: int) -> Iterator[Span]:
    """The records in a leaf that is a run of whole WAL frames, in order.

    Frames that a checkpoint has left over are split like the others: what they hold was in the database once.

    Args:
        leaf: The bytes.
        page_bytes: The database's page size.
        header_bytes: What stands before the first frame: the WAL's header, or nothing.
    """
    for frame in range(header_bytes, len(leaf), FRAME_HEADER_BYTES + page_bytes):
        start = frame + FRAME_HEADER_BYTES
        page_number = int.from_bytes(leaf[frame : frame + 4], "big")
        page = leaf[start : start + page_bytes]
        if len(page) == page_bytes:
            for span in _page_records(page, starts_file=page_number == 1):
                yield _moved(span, start)


def _page_records(page: memoryview, *, starts_file: bool) -> Iterator[Span]:
    start = _FILE_HEADER_BYTES if starts_file else 0
    if page[start] != TABLE_LEAF:
        # The first bytes of an overflow page are the number of the next one, which changes when pages move.
        tree = page[start] in _TREE_PAGES
        yield from _stretch(page, start + _POINTER_BYTES, len(page), page=tree)
        return
    at = start
    for first, end in _payloads(page, 1 if starts_file else 2):
        yield from _stretch(page, at, first)
        yield Span(first, end, page=False)
        at = end
    yield from _stretch(page, at, len(page))


def _payloads(page: memoryview, number: int) -> list[tuple[int, int]]:
    """Where the local payloads lie that are worth a record, in the order of the page."""
    found = [
        (cell.payload_offset, cell.payload_offset + cell.local_bytes)
        for cell in cells(page, number, len(page), _ignore)
        if cell.local_bytes >= MIN_RECORD_BYTES
    ]
    found.sort()
    return found


def _stretch(data: memoryview, start: int, end: int, *, page: bool = False) -> Iterator[Span]:
    """What lies between records, as a record of its own if it is long; zeros at its ends are better kept as literals."""
    if end - start < MIN_RECORD_BYTES:
        return
    content = bytes(data[start:end]).rstrip(b"\0")
    end = start + len(content)
    start = end - len(content.lstrip(b"\0"))
    if end - start >= MIN_RECORD_BYTES:
        yield Span(start, end, page=page)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.page)


def _ignore(_error: FormatError) -> None:
    """A cell that cannot be read is no record."""
