"""Where the leaves of an image end, and which records are in them.

Databases are cut at fixed places, where their pages lie (specs/archive-v1.md, [AR-42]), and WALs where their frames lie.
Other files are cut after lines that their content chooses (specs/decisions/0001-lines-cut-text.md).
"""

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from archiver.image import split
from archiver.image.store import Span
from formats.errors import FormatError
from formats.sqlite.header import parse_header
from formats.sqlite.wal import parse_wal_header

LEAF_BYTES = 64 << 10
MEAN_BYTES = 64 << 10
MIN_BYTES = 8 << 10
MAX_BYTES = 512 << 10

Records = Callable[[memoryview, int], Iterator[Span]]
"""The records in a leaf, from its bytes and its number."""


class Cut(NamedTuple):
    """Fixed places: the first leaf has ``first_bytes``, the others ``leaf_bytes``."""

    first_bytes: int
    leaf_bytes: int
    records: Records


def pages(page_bytes: int) -> Cut:
    """The cut of a database."""
    return Cut(LEAF_BYTES, LEAF_BYTES, partial(_page_records, page_bytes))


def fitting(start: bytes) -> Cut:
    """The cut of a raw file, told by its first bytes: a database, a WAL, or something else."""
    try:
        return pages(parse_header(start).page_bytes)
    except FormatError:
        pass
    try:
        page_bytes = parse_wal_header(start[: split.WAL_HEADER_BYTES]).page_bytes
    except FormatError:
        return Cut(LEAF_BYTES, LEAF_BYTES, _no_records)
    frames = (split.FRAME_HEADER_BYTES + page_bytes) * max(1, LEAF_BYTES // page_bytes)
    return Cut(split.WAL_HEADER_BYTES + frames, frames, partial(_wal_records, page_bytes))


def _page_records(page_bytes: int, leaf: memoryview, number: int) -> Iterator[Span]:
    return split.records(leaf, page_bytes, starts_file=number == 0)


def _wal_records(page_bytes: int, leaf: memoryview, number: int) -> Iterator[Span]:
    return split.wal_records(leaf, page_bytes, split.WAL_HEADER_BYTES if number == 0 else 0)


def _no_records(_leaf: memoryview, _number: int) -> Iterator[Span]:
    return iter(())


class LineCutter:
    """Cuts a stream of bytes after chosen lines.

    A line feed ends a leaf with a probability that grows with the line's length, so leaves have about 64 KiB whatever
    the lines are like, and an inserted or appended line changes one leaf.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._line = 0
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take in ``data``; give the leaves that are complete."""
        self._buffer += data
        while (cut := self._next_cut()) > 0:
            yield bytes(self._buffer[:cut])
            del self._buffer[:cut]
            self._line = self._searched = 0

    def rest(self) -> bytes:
        """What is left at the end; may be empty."""
        return bytes(self._buffer)

    def _next_cut(self) -> int:
        """Where the first leaf ends, or 0 if more bytes are needed to tell."""
        while (end := self._buffer.find(b"\n", self._searched) + 1) > 0:
            if end > MAX_BYTES:
                return self._line if self._line >= MIN_BYTES else MAX_BYTES
            start, self._line, self._searched = self._line, end, end
            if end >= MIN_BYTES and _ends_leaf(self._buffer[start:end]):
                return end
        self._searched = len(self._buffer)
        if len(self._buffer) <= MAX_BYTES:
            return 0
        return self._line if self._line >= MIN_BYTES else MAX_BYTES


def _ends_leaf(line: bytearray) -> bool:
    return zlib.crc32(line) < (len(line) << 32) // MEAN_BYTES
