"""Make an archive."""

from typing import NamedTuple

from archiver.crypto import recovery
from archiver.repo import archive
from archiver.repo.slots import Unlocked
from archiver.storage.base import Storage


class Made(NamedTuple):
    """A new archive; ``recovery_code`` is shown once and kept nowhere."""

    unlocked: Unlocked
    recovery_code: str | None


def init(storage: Storage, password: str, now_ms: int, *, with_recovery: bool) -> Made:
    """Make an archive in ``storage``.

    Raises:
        UserError: There is one already, or the password is empty.
        StorageError: It cannot be written.
    """
    code = recovery.new_code() if with_recovery else None
    return Made(archive.create(storage, password, code, now_ms), code)
