"""The one error of this package: bytes that are not what their format promises."""

from collections.abc import Callable
from typing import TypeAlias


class FormatError(Exception):
    """Bytes break a rule of their format.

    The text is put together only when it is read, since a damaged file can raise many that nobody reads.

    Args:
        what: The rule that does not hold, lower case, without a full stop.
        where: The object: ``header``, ``page 7``, ``frame 3``.
        expected: What the rule asks for, if that can be said shortly.
        found: What the bytes say instead.
    """

    def __init__(self, what: str, *, where: str, expected: object = None, found: object = None) -> None:
        super().__init__(what, where, expected, found)
        self.what = what
        self.where = where
        self.expected = expected
        self.found = found

    def within(self, where: str) -> "FormatError":
        """The same error as one who knows the larger object tells it."""
        return FormatError(
            self.what, where=f"{where}, {self.where}", expected=self.expected, found=self.found
        )

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.expected is not None:
            text += f": expected {self.expected}"
        if self.found is not None:
            text += f"{':' if self.expected is None else ','} found {self.found}"
        return text


Report: TypeAlias = Callable[[FormatError], None]
"""Receives what was skipped, and why, from a function that goes on after it."""
