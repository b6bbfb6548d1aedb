"""Cuts the bytes of a source into leaves.

Databases are cut at fixed places, where their pages lie (specs/archive-v1.md, [AR-42]). Other files are cut after
lines that their content chooses: a line feed ends a leaf with a probability that grows with the line's length, so leaves
have about 64 KiB whatever the lines are like, and an inserted or appended line changes one leaf.
"""

import zlib
from collections.abc import Iterator

LEAF_BYTES = 128 << 10
MEAN_BYTES = 64 << 10
MIN_BYTES = 8 << 10
MAX_BYTES = 512 << 10


class LineCutter:
    """Cuts a stream of bytes after chosen lines."""

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
