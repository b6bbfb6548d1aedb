"""An archive: made, opened, and what can be asked of it while it is open."""

import secrets
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from archiver.errors import DamageError, NoArchiveError, ObjectMissingError, UserError
from archiver.layout import packing
from archiver.layout.prefix import (
    ARCHIVE_ID_BYTES,
    HEADER_NAME,
    Kind,
    decode_header,
    encode_header,
    parse_name,
)
from archiver.layout.slot import SlotKind
from archiver.model import SnapshotId
from archiver.repo import sealing, slots
from archiver.repo.index import Index
from archiver.repo.keys import Keys, new_master
from archiver.repo.packer import Packer
from archiver.repo.reader import Reader
from archiver.repo.slots import Unlocked
from archiver.storage.base import Storage


class Archive:
    """An open archive.

    Args:
        storage: Where its objects are.
        unlocked: Its keys.
        cache_folder: Where its index cache is kept; ``None`` keeps it in a temporary file.
    """

    def __init__(self, storage: Storage, unlocked: Unlocked, cache_folder: Path | None) -> None:
        self.storage = storage
        self.keys = unlocked.keys
        self.slot_id = unlocked.slot_id
        path = None if cache_folder is None else cache_folder / self.keys.archive_id.hex()[:32] / "index.db"
        self.index = Index(path, self.keys.purpose("cache"))
        self.reader = Reader(storage, self.keys, self.index)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.index.close()

    def refresh_index(self) -> None:
        """Bring the cache up to the index objects that the archive has now.

        Raises:
            DamageError: An index object was changed.
        """
        stored = {listed.name for listed in self.storage.list("index/") if parse_name(listed.name)}
        known = self.index.object_names()
        for name in sorted(known - stored):
            self.index.drop_object(name)
        for name in sorted(stored - known):
            value = sealing.open_value(self.keys, Kind.INDEX, self.storage.get(name), name)
            self.index.add_object(name, packing.decode_index(value, name))

    def packer(self) -> Packer:
        """What stores new blobs; a context manager."""
        return Packer(self.storage, self.keys, self.index, self.reader)

    def lost_packs(self) -> list[str]:
        """Forget what packs that are gone or cut off held, so that it is stored again; their digests in hex."""
        whole = {
            parsed[1]: listed.size_bytes
            for listed in self.storage.list("packs/")
            if (parsed := parse_name(listed.name))
        }
        sound = {name for name, pack_bytes in self.index.packs() if whole.get(name.hex()) == pack_bytes}
        return sorted(name.hex() for name in self.index.drop_packs_except(sound))

    def snapshot_ids(self) -> list[SnapshotId]:
        """The ids of all snapshots, in no order that counts."""
        names = (parse_name(listed.name) for listed in self.storage.list("snapshots/"))
        return [SnapshotId(parsed[1]) for parsed in names if parsed is not None]


def refuse_existing(storage: Storage) -> None:
    """See that there is no archive yet.

    Raises:
        UserError: There is one.
    """
    try:
        read_archive_id(storage)
    except NoArchiveError:
        return
    raise UserError(
        f"there is an archive at {storage.location} already", hint="use it, or choose another --repo"
    )


def create(storage: Storage, password: str, recovery_code: str | None, created_ms: int) -> Unlocked:
    """Make an archive: key slots first, the header last, so that there is an archive only when it can be opened.

    Args:
        storage: Where; it must not hold an archive.
        password: Of the first slot.
        recovery_code: Of the second slot, if there is to be one.
        created_ms: Now.

    Raises:
        UserError: There is an archive already.
    """
    refuse_existing(storage)
    keys = Keys(secrets.token_bytes(ARCHIVE_ID_BYTES), new_master())
    slot_id = slots.add_slot(storage, keys, SlotKind.PASSPHRASE, password, "passphrase", created_ms)
    if recovery_code is not None:
        slots.add_slot(storage, keys, SlotKind.RECOVERY, recovery_code, "recovery code", created_ms)
    if not storage.put(HEADER_NAME, encode_header(keys.archive_id)):
        refuse_existing(storage)
    return Unlocked(keys, slot_id)


def read_archive_id(storage: Storage) -> bytes:
    """The id of the archive that ``storage`` holds.

    Raises:
        NoArchiveError: It holds none.
        DamageError: The header was changed, or objects are there without it.
        NewerFormatError: A later version wrote it.
    """
    try:
        return decode_header(storage.get(HEADER_NAME))
    except ObjectMissingError:
        if next(iter(storage.list("snapshots/")), None) is not None:
            raise DamageError(
                f"{storage.location} has snapshots but lost its header object '{HEADER_NAME}'",
                hint="copy that object back from any other copy of this archive",
            ) from None
        raise NoArchiveError(
            f"there is no archive at {storage.location}", hint="make one: archive init"
        ) from None


def open_archive(storage: Storage, password: Callable[[bytes], str], cache_folder: Path | None) -> Archive:
    """Open the archive at ``storage`` and bring its index cache up to date.

    Args:
        storage: Where it is.
        password: Called with the archive's id when the archive is there and whole.
        cache_folder: See ``Archive``.

    Raises:
        NoArchiveError: There is none.
        WrongKeyError: No slot opens with the password.
        DamageError: The header, every fitting slot or an index object was changed.
        NewerFormatError: A later version wrote it.
    """
    archive_id = read_archive_id(storage)
    archive = Archive(storage, slots.unlock(storage, archive_id, password(archive_id)), cache_folder)
    try:
        archive.refresh_index()
    except BaseException:
        archive.index.close()
        raise
    return archive
