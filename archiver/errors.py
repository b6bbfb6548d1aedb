"""Errors by whose turn it is to act, each with its exit code.

A message says what, of which object, expected and found; lower case and without a full stop, since the
command line prints it behind ``archive: error:``.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command's exit code says."""

    DONE = 0
    IMPOSSIBLE = 1
    USAGE = 2
    PROBLEMS = 3
    NO_SOURCE = 4
    NO_ARCHIVE = 10
    LOCKED = 11
    WRONG_KEY = 12
    NEWER = 13
    DAMAGED = 14
    BUG = 70
    INTERRUPTED = 130


class ArchiveError(Exception):
    """An error that a person can act on.

    Args:
        message: What happened, and to which object.
        hint: What the person can do about it, or nothing.
    """

    exit_code = ExitCode.IMPOSSIBLE

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UserError(ArchiveError):
    """The user asked for something that cannot be."""


class UsageError(ArchiveError):
    """The command's words do not fit together."""

    exit_code = ExitCode.USAGE


class SourceError(ArchiveError):
    """A source is missing, unreadable or did not hold still."""

    exit_code = ExitCode.NO_SOURCE


class NoArchiveError(ArchiveError):
    """There is no archive at the named place."""

    exit_code = ExitCode.NO_ARCHIVE


class StorageError(ArchiveError):
    """The storage could not do what was asked: no room, no permission, no connection."""


class ObjectMissingError(StorageError):
    """The storage holds no object of this name."""

    exit_code = ExitCode.DAMAGED


class WrongKeyError(ArchiveError):
    """No key slot opens with what was given."""

    exit_code = ExitCode.WRONG_KEY


class NewerFormatError(ArchiveError):
    """The object was written by a later version of the format."""

    exit_code = ExitCode.NEWER


class DamageError(ArchiveError):
    """An object's bytes are not what they were when they were written."""

    exit_code = ExitCode.DAMAGED
