"""SQLite's integers of one to nine bytes."""

from formats.errors import FormatError
from formats.sqlite.pages import Data


def varint(data: Data, at: int) -> tuple[int, int]:
    """The unsigned integer that starts at ``at``, and the offset behind it.

    Raises:
        FormatError: The data end inside it.

    Source: https://sqlite.org/fileformat2.html, "B-tree Pages".
    """
    try:
        value = data[at]
        if value < 0x80:
            return value, at + 1
        value &= 0x7F
        for index in range(at + 1, at + 8):
            byte = data[index]
            if byte < 0x80:
                return value << 7 | byte, index + 1
            value = value << 7 | byte & 0x7F
        return value << 8 | data[at + 8], at + 9
    except IndexError:
        raise FormatError("the data end inside an integer", where=f"offset {at}") from None


def signed(value: int) -> int:
    """A 64-bit integer read as two's complement, as rowids are."""
    return value - (1 << 64) if value >> 63 else value
