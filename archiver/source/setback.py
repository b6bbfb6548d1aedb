"""The two ways in which a try can fail, and which of them an error of SQLite means."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from archiver.errors import SourceError
from archiver.model import Method

_UNREADABLE = frozenset(
    {
        apsw.SQLITE_IOERR_READ,
        apsw.SQLITE_IOERR_SHORT_READ,
        apsw.SQLITE_IOERR_DATA,
        apsw.SQLITE_IOERR_CORRUPTFS,
    }
)


class UnsettledError(Exception):
    """The source was locked or changed; the same way may succeed after a pause."""


class UnfitError(Exception):
    """This way cannot succeed; another one may.

    Args:
        instead: The way to go.
        reason: Why this one failed.
    """

    def __init__(self, instead: Method, reason: str) -> None:
        super().__init__(reason)
        self.instead = instead


@contextmanager
def on_live_database() -> Iterator[None]:
    """Errors of SQLite on the source itself: wait, or take its bytes, or else try on a copy."""
    try:
        yield
    except (apsw.BusyError, apsw.ProtocolError) as error:
        raise UnsettledError(f"SQLite: {error}") from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise UnfitError(Method.RAW, f"SQLite: {error}") from error
    except apsw.Error as error:
        raise UnfitError(Method.RAW if _is_unreadable(error) else Method.COPY, f"SQLite: {error}") from error


@contextmanager
def on_copy() -> Iterator[None]:
    """Errors of SQLite on a copy that nobody else has: only the bytes are left to take.

    Raises:
        SourceError: It is the scratch folder that failed.
    """
    try:
        yield
    except apsw.Error as error:
        if isinstance(error, apsw.FullError | apsw.IOError) and not _is_unreadable(error):
            raise SourceError(f"SQLite cannot work on a copy in the scratch folder: {error}") from error
        raise UnfitError(Method.RAW, f"SQLite: {error}") from error


def _is_unreadable(error: apsw.Error) -> bool:
    return getattr(error, "extendedresult", 0) in _UNREADABLE
