"""Manage the key slots of an open archive."""

from typing import NamedTuple

from archiver.crypto import recovery
from archiver.errors import UserError
from archiver.layout.slot import SlotKind
from archiver.repo import slots
from archiver.repo.archive import Archive
from archiver.repo.slots import StoredSlot


class Changed(NamedTuple):
    """The slot that was added, and the one that was removed for it, if any."""

    added: str
    removed: str | None


def list_slots(archive: Archive) -> list[StoredSlot]:
    """The slots of the archive, oldest first.

    Raises:
        DamageError: One was changed.
    """
    found, damage = slots.stored_slots(archive.storage, archive.keys.archive_id)
    if damage:
        raise damage[0]
    return found


def add_passphrase(archive: Archive, password: str, label: str, now_ms: int) -> str:
    """Add a slot that opens with ``password``; gives the slot's id."""
    return slots.add_slot(archive.storage, archive.keys, SlotKind.PASSPHRASE, password, label, now_ms)


def add_recovery(archive: Archive, label: str, now_ms: int) -> tuple[str, str]:
    """Add a slot with a new recovery code; gives the slot's id and the code."""
    code = recovery.new_code()
    return slots.add_slot(archive.storage, archive.keys, SlotKind.RECOVERY, code, label, now_ms), code


def remove(archive: Archive, prefix: str) -> str:
    """Remove the slot whose id starts with ``prefix``; gives its id.

    Raises:
        UserError: None or several do, or it is the last slot.
    """
    found, _ = slots.stored_slots(archive.storage, archive.keys.archive_id)
    matching = [stored.slot_id for stored in found if stored.slot_id.startswith(prefix)]
    if len(matching) != 1:
        raise UserError(
            f"{len(matching) or 'no'} key slots start with '{prefix}'", hint="see them: archive key list"
        )
    slots.remove_slot(archive.storage, archive.keys.archive_id, matching[0])
    return matching[0]


def change(archive: Archive, password: str, now_ms: int) -> Changed:
    """Let ``password`` take the place of the passphrase that opened the archive.

    The new slot is stored and opened before the old one goes. When a recovery code opened the archive, no slot
    goes: the code stays good, and the forgotten passphrase can be removed by its id.
    """
    used = next((stored for stored in list_slots(archive) if stored.slot_id == archive.slot_id), None)
    label = "passphrase" if used is None or used.slot.info.kind is SlotKind.RECOVERY else used.slot.info.label
    added = add_passphrase(archive, password, label, now_ms)
    if used is None or used.slot.info.kind is SlotKind.RECOVERY:
        return Changed(added, None)
    slots.remove_slot(archive.storage, archive.keys.archive_id, used.slot_id)
    return Changed(added, used.slot_id)
