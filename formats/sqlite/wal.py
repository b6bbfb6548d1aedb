"""The write-ahead log: its frames, which of them count, and what is left behind them from before.

Source: https://sqlite.org/fileformat2.html, "The Write-Ahead Log".
"""

import struct
from collections.abc import Iterable, Iterator

import msgspec

from formats.errors import FormatError
from formats.sqlite.pages import Data

WAL_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24

_MAGIC = 0x377F0682
_VERSION = 3007000
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MASK = 0xFFFFFFFF


class WalHeader(msgspec.Struct, frozen=True):
    """The first 32 bytes of a write-ahead log.

    Attributes:
        big_endian: The order in which the checksums read the bytes, after the machine that made the log.
        page_bytes: Size of the pages in the frames.
        sequence: Counts the checkpoints.
        salts: Made anew when the log starts over; a frame with others is from before.
        checksum: Of the fields above, and where the frames' checksums start from.
    """

    big_endian: bool
    page_bytes: int
    sequence: int
    salts: tuple[int, int]
    checksum: tuple[int, int]

    @property
    def frame_bytes(self) -> int:
        """Size of a frame with its header."""
        return FRAME_HEADER_BYTES + self.page_bytes


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One page as a transaction left it.

    Attributes:
        index: Place in the log, from 0.
        page: The page's number.
        commit_pages: Size of the database in pages if the frame ends a transaction, otherwise 0.
        salts: As the frame gives them.
        checksum: As the frame gives it.
        offset: Where the page's bytes start in the log.
        chained: Whether the checksum continues that of the frame before.
    """

    index: int
    page: int
    commit_pages: int
    salts: tuple[int, int]
    checksum: tuple[int, int]
    offset: int
    chained: bool


def parse_wal_header(wal: Data) -> WalHeader:
    """Read the header from the start of a log.

    Raises:
        FormatError: It is not the header of a log; SQLite then takes the log to be empty.
    """
    if len(wal) < WAL_HEADER_BYTES:
        raise FormatError("too short", where="wal header", expected=WAL_HEADER_BYTES, found=len(wal))
    magic, version, page_bytes, sequence, *rest = _HEADER.unpack_from(wal)
    salts, stored = (rest[0], rest[1]), (rest[2], rest[3])
    if magic & ~1 != _MAGIC:
        raise FormatError("not a write-ahead log", where="wal header", found=f"{magic:#x}")
    if version != _VERSION:
        raise FormatError("version", where="wal header", expected=_VERSION, found=version)
    if not 512 <= page_bytes <= 65536 or page_bytes & (page_bytes - 1):
        raise FormatError("page size", where="wal header", expected="a power of two", found=page_bytes)
    found = checksum(wal[:24], big_endian=bool(magic & 1))
    if found != stored:
        raise FormatError("checksum", where="wal header", expected=stored, found=found)
    return WalHeader(bool(magic & 1), page_bytes, sequence, salts, stored)


def checksum(data: Data, *, big_endian: bool, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """SQLite's running checksum of ``data``, whose length is a multiple of 8, continued from ``start``."""
    first, second = start
    words = iter(struct.unpack(f"{'>' if big_endian else '<'}{len(data) // 4}I", data))
    for word, following in zip(words, words, strict=True):
        first = first + word + second & _MASK
        second = second + following + first & _MASK
    return first, second


def valid_frames(wal: Data, header: WalHeader) -> Iterator[Frame]:
    """The frames up to the first that is cut off, of other salts, for no page, or whose checksum does not fit."""
    for frame in _frames(wal, header, 0, header.checksum):
        if not (frame.chained and frame.page and frame.salts == header.salts):
            return
        yield frame


def committed_frames(wal: Data, header: WalHeader) -> Iterator[Frame]:
    """The valid frames up to the last that ends a transaction: what a reader of the database sees."""
    pending: list[Frame] = []
    for frame in valid_frames(wal, header):
        pending.append(frame)
        if frame.commit_pages:
            yield from pending
            pending.clear()


def leftover_frames(wal: Data, header: WalHeader, index: int) -> Iterator[Frame]:
    """All whole frames from ``index`` on, whatever they are: behind the valid ones, what the log held before.

    A frame that is ``chained`` holds what was written together with the frame before it; of the first one left
    over that cannot be known, since what it continued is overwritten.
    """
    start = header.checksum
    if index:
        before = WAL_HEADER_BYTES + (index - 1) * header.frame_bytes
        if before + header.frame_bytes > len(wal):
            return
        start = _FRAME.unpack_from(wal, before)[4:]
    yield from _frames(wal, header, index, start)


def newest_pages(committed: Iterable[Frame]) -> dict[int, Frame]:
    """The last frame of each page, of the pages that the last transaction left in the database."""
    newest: dict[int, Frame] = {}
    size = 0
    for frame in committed:
        newest[frame.page] = frame
        size = frame.commit_pages or size
    return {page: frame for page, frame in newest.items() if page <= size}


def _frames(wal: Data, header: WalHeader, index: int, start: tuple[int, int]) -> Iterator[Frame]:
    first = WAL_HEADER_BYTES + index * header.frame_bytes
    for at in range(first, len(wal) - header.frame_bytes + 1, header.frame_bytes):
        page, commit_pages, *rest = _FRAME.unpack_from(wal, at)
        stored = rest[2], rest[3]
        body = at + FRAME_HEADER_BYTES
        found = checksum(wal[at : at + 8], big_endian=header.big_endian, start=start)
        found = checksum(wal[body : at + header.frame_bytes], big_endian=header.big_endian, start=found)
        yield Frame(index, page, commit_pages, (rest[0], rest[1]), stored, body, found == stored)
        index, start = index + 1, stored
