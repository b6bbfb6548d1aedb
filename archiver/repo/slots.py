"""The key slots of an archive: which there are, and adding and removing them.

A slot is written, read back and opened before it counts; an old one goes only after that.
"""

from typing import NamedTuple

from archiver import hashing
from archiver.crypto import recovery
from archiver.errors import DamageError, UserError, WrongKeyError
from archiver.layout import slot as layout
from archiver.layout.prefix import Kind, object_name
from archiver.layout.slot import Slot, SlotKind
from archiver.repo import sealing
from archiver.repo.keys import Keys, make_slot, open_slot
from archiver.storage.base import Storage


class StoredSlot(NamedTuple):
    """A slot and the object that holds it; ``slot_id`` is the hex part of the object's name."""

    slot_id: str
    name: str
    slot: Slot


class Unlocked(NamedTuple):
    """The keys, and the slot that gave them."""

    keys: Keys
    slot_id: str


def stored_slots(storage: Storage, archive_id: bytes) -> tuple[list[StoredSlot], list[DamageError]]:
    """The archive's slots that this program understands, oldest first, and what is wrong with others.

    One bad slot must not lock out the good ones, so damage is returned and left to the caller.
    """
    slots: list[StoredSlot] = []
    damage: list[DamageError] = []
    for listed in storage.list("keys/"):
        try:
            stored = _load(storage, listed.name)
        except DamageError as error:
            damage.append(error)
            continue
        if stored is not None and stored.slot.info.archive == archive_id.hex():
            slots.append(stored)
    return sorted(slots, key=lambda stored: (stored.slot.info.created_ms, stored.slot_id)), damage


def unlock(storage: Storage, archive_id: bytes, password: str) -> Unlocked:
    """Open the archive's keys with a passphrase or a recovery code.

    Raises:
        WrongKeyError: No slot opens with it.
        DamageError: There is no slot, or the one that fits was changed.
    """
    slots, damage = stored_slots(storage, archive_id)
    for stored in slots:
        secret = _secret(stored.slot.info.kind, password)
        master = None if secret is None else open_slot(stored.slot, archive_id, secret)
        if master is not None:
            return Unlocked(Keys(archive_id, master), stored.slot_id)
    if damage:
        raise damage[0]
    if not slots:
        raise DamageError(f"{storage.location} has no key slot for this archive: nothing can open it")
    raise WrongKeyError(
        f"no key slot of {storage.location} opens with this password",
        hint="a recovery code works wherever the password is asked for",
    )


def add_slot(storage: Storage, keys: Keys, kind: SlotKind, password: str, label: str, created_ms: int) -> str:
    """Add a slot, read it back and open it.

    Returns:
        The slot's id.

    Raises:
        UserError: The password is empty.
        DamageError: What was stored does not open.
    """
    secret = _secret(kind, password)
    if not secret:
        raise UserError("an empty password protects nothing", hint="choose a passphrase of several words")
    data = layout.encode(make_slot(keys, kind, secret, label, created_ms))
    slot_id = hashing.digest(data).hex()
    name = object_name(Kind.KEY, slot_id)
    storage.put(name, data)
    stored = layout.decode(storage.get(name), name)
    if stored is None or open_slot(stored, keys.archive_id, secret) != keys.master:
        raise DamageError(
            f"the key slot {name} that was just written does not open", hint="the older slots still do"
        )
    return slot_id


def remove_slot(storage: Storage, archive_id: bytes, slot_id: str) -> None:
    """Remove one slot, but never the last.

    Raises:
        UserError: There is no such slot, or it is the last one.
    """
    slots, _ = stored_slots(storage, archive_id)
    doomed = next((stored for stored in slots if stored.slot_id == slot_id), None)
    if doomed is None:
        raise UserError(f"there is no key slot {slot_id}")
    if len(slots) > 1:
        data = storage.get(doomed.name)
        storage.delete(doomed.name)
        if stored_slots(storage, archive_id)[0]:
            return
        # Somebody removed the other slot at the same moment; each of the two puts its own back.
        storage.put(doomed.name, data)
    raise UserError(
        "this is the last key slot: without it nobody could open the archive again",
        hint="add another one first: archive key add",
    )


def _secret(kind: SlotKind, password: str) -> bytes | None:
    return (
        recovery.code_secret(password) if kind is SlotKind.RECOVERY else recovery.passphrase_secret(password)
    )


def _load(storage: Storage, name: str) -> StoredSlot | None:
    data = storage.get(name)
    sealing.check_name(data, Kind.KEY, name)
    slot = layout.decode(data, name)
    return None if slot is None else StoredSlot(name.rpartition("/")[2], name, slot)
