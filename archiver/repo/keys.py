"""The keys of an open archive, and the slots that wrap its master key.

Source: specs/archive-v1.md, section 2.
"""

import hmac
import secrets
from functools import cached_property

from archiver.crypto import aead, kdf
from archiver.errors import DamageError
from archiver.layout import slot as layout
from archiver.layout.slot import Argon2id, Slot, SlotInfo, SlotKind

MASTER_BYTES = 32


class Keys:
    """The master key of one archive and what is derived from it.

    Args:
        archive_id: 32 bytes.
        master: 32 bytes, secret.
    """

    def __init__(self, archive_id: bytes, master: bytes) -> None:
        self.archive_id = archive_id
        self.master = master

    def purpose(self, purpose: str) -> bytes:
        """The 32-byte key for one purpose of section 2."""
        return kdf.purpose_key(self.master, self.archive_id, purpose)

    @cached_property
    def blob_id(self) -> bytes:
        """The key that blob ids are keyed with."""
        return self.purpose("blob-id")


def new_master() -> bytes:
    """A new master key."""
    return secrets.token_bytes(MASTER_BYTES)


def make_slot(keys: Keys, kind: SlotKind, secret: bytes, label: str, created_ms: int) -> Slot:
    """A slot that opens with ``secret``."""
    salt = secrets.token_bytes(32)
    info = SlotInfo(
        archive=keys.archive_id.hex(),
        kind=kind,
        label=label,
        created_ms=created_ms,
        kdf=Argon2id(salt=salt.hex()),
    )
    bound = layout.encode_info(info)
    key, commitment = _slot_key(info, secret, keys.archive_id)
    return Slot(info=info, bound=bound, commitment=commitment, wrapped=aead.wrap(key, keys.master, bound))


def open_slot(slot: Slot, archive_id: bytes, secret: bytes) -> bytes | None:
    """The master key, or nothing if the slot belongs to another archive or to another secret.

    Raises:
        DamageError: The secret fits and the slot was changed, or the slot states costs beyond all bounds.
    """
    if slot.info.archive != archive_id.hex():
        return None
    key, commitment = _slot_key(slot.info, secret, archive_id)
    if not hmac.compare_digest(commitment, slot.commitment):
        return None
    return aead.unwrap(key, slot.wrapped, slot.bound)


def _slot_key(info: SlotInfo, secret: bytes, archive_id: bytes) -> kdf.CommittedKey:
    costs = info.kdf
    try:
        stretched = kdf.stretch(
            secret, bytes.fromhex(costs.salt), costs.memory_kib, costs.passes, costs.lanes
        )
    except ValueError as error:
        raise DamageError(f"the key slot '{info.label}' cannot be used: {error}") from error
    return kdf.slot_key(stretched, archive_id)
