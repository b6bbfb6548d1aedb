"""Numbers, times and columns as people read them."""

from collections.abc import Sequence
from datetime import UTC, datetime

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(number_of_bytes: float) -> str:
    """``1234567`` as ``1.2 MB``."""
    value = float(number_of_bytes)
    for unit in _UNITS[:-1]:
        if abs(value) < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} {_UNITS[-1]}"


def when(moment_ms: int) -> str:
    """A moment in the reader's own time zone, to the second."""
    return datetime.fromtimestamp(moment_ms / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 source``, ``2 sources``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def columns(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows as lines with aligned columns; ``right`` are the columns that end flush."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
