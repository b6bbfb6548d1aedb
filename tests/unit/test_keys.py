"""Key slots: what opens an archive, and what must not."""

import struct

import msgspec
import pytest

from archiver import hashing
from archiver.crypto import recovery
from archiver.errors import DamageError, NewerFormatError, UserError, WrongKeyError
from archiver.layout import slot as layout
from archiver.layout.prefix import Kind, object_name, prefix
from archiver.layout.slot import SlotKind
from archiver.ops import keys as operations
from archiver.repo import archive, slots
from archiver.storage.memory import MemoryStorage

PASSWORD = "correct horse battery staple"
CODE = "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ"


@pytest.fixture
def storage() -> MemoryStorage:
    found = MemoryStorage()
    archive.create(found, PASSWORD, None, 1)
    return found


def _open(storage, password=PASSWORD):
    return archive.open_archive(storage, lambda _: password, None)


def _plant(storage, data: bytes) -> None:
    storage.put(object_name(Kind.KEY, hashing.digest(data).hex()), data)


def _slot_bytes(info: dict) -> bytes:
    text = msgspec.json.encode(info)
    return prefix(Kind.KEY) + struct.pack(">I", len(text)) + text + bytes(80)


def _info(storage, **changed) -> dict:
    kdf = {"name": "argon2id", "salt": "00" * 32, "memory_kib": 65536, "passes": 3, "lanes": 4}
    info = {
        "archive": archive.read_archive_id(storage).hex(),
        "kind": "passphrase",
        "label": "x",
        "created_ms": 0,
    }
    return {**info, "kdf": kdf, **changed}


def test_the_right_password_opens_and_a_wrong_one_does_not(storage):
    """Only the password of a slot opens the archive; another one is a wrong key, not damage."""
    with _open(storage) as opened:
        assert len(opened.keys.master) == 32
    with pytest.raises(WrongKeyError):
        _open(storage, "correct horse battery stable")


@pytest.mark.spec("AR-13")
def test_a_passphrase_is_the_same_however_it_is_typed(storage):
    """Composed and decomposed accents are one passphrase."""
    with _open(storage) as opened:
        operations.add_passphrase(opened, "Zürich", "composed", 2)
    _open(storage, "Zu\u0308rich").index.close()


@pytest.mark.spec("AR-13")
def test_a_recovery_code_opens_as_people_type_it(storage):
    """Lower case, spaces for hyphens and look-alike letters are read as meant; a typing mistake is noticed."""
    with _open(storage) as opened:
        _, code = operations.add_recovery(opened, "paper", 2)
    sloppy = code.lower().replace("-", " ").replace("0", "o").replace("1", "l")
    _open(storage, sloppy).index.close()
    last = "0" if code[-1] != "0" else "1"
    assert recovery.code_secret(code[:-1] + last) is None


def test_recovery_codes_have_160_bits_and_a_check():
    """A code is nine groups of four and differs from the next."""
    code = recovery.new_code()
    assert [len(group) for group in code.split("-")] == [4] * 9
    assert code != recovery.new_code()


@pytest.mark.spec("AR-11")
def test_a_planted_slot_cannot_eat_the_machine(storage):
    """A slot that asks for more than 1 GiB is refused before anything is derived, and named as damage."""
    storage.delete(next(iter(storage.list("keys/"))).name)
    costs = {"name": "argon2id", "salt": "00" * 32, "memory_kib": 1 << 30, "passes": 3, "lanes": 4}
    _plant(storage, _slot_bytes(_info(storage, kdf=costs)))
    with pytest.raises(DamageError, match="out of bounds"):
        _open(storage)


@pytest.mark.spec("AR-14")
@pytest.mark.parametrize(
    "changed", [{"archive": "11" * 32}, {"kind": "public-key"}, {"kdf": {"name": "scrypt"}}], ids=str
)
def test_slots_that_are_not_understood_are_passed_over(storage, changed):
    """Slots of another archive, of a later kind or with a later KDF do not stop the ones that fit."""
    _plant(storage, _slot_bytes(_info(storage, **changed)))
    _open(storage).index.close()


def test_a_damaged_slot_does_not_lock_out_the_others(storage):
    """With one slot changed, the other one still opens; the changed one alone is damage."""
    with _open(storage) as opened:
        operations.add_passphrase(opened, "another", "second", 2)
        first = opened.slot_id
    name = f"keys/{first}"
    storage.objects[name] = storage.objects[name][:-1] + b"\0"
    _open(storage, "another").index.close()
    with pytest.raises(DamageError, match=first):
        _open(storage)


@pytest.mark.spec("AR-12")
def test_a_slot_that_was_changed_under_a_new_name_is_damage(storage):
    """Changing what a slot says in the clear is noticed by its wrapping, even when the object is renamed to match."""
    stored = slots.stored_slots(storage, archive.read_archive_id(storage))[0][0]
    wrapped = bytes([stored.slot.wrapped[0] ^ 1]) + stored.slot.wrapped[1:]
    changed = layout.encode(msgspec.structs.replace(stored.slot, wrapped=wrapped))
    storage.delete(stored.name)
    _plant(storage, changed)
    with pytest.raises(DamageError, match="was changed"):
        _open(storage)


def test_a_later_slot_version_asks_for_an_update(storage):
    """A slot of format version 2 is newer, not damaged."""
    data = bytearray(_slot_bytes(_info(storage)))
    data[9] = 2
    _plant(storage, bytes(data))
    with pytest.raises(NewerFormatError):
        _open(storage)


def test_the_last_slot_cannot_be_removed(storage):
    """Removing works down to one slot and no further."""
    with _open(storage) as opened:
        added = operations.add_passphrase(opened, "another", "second", 2)
        assert operations.remove(opened, added[:6]) == added
        with pytest.raises(UserError, match="last key slot"):
            operations.remove(opened, opened.slot_id)
    _open(storage).index.close()


def test_two_who_remove_the_two_slots_at_once_leave_one(storage):
    """If the other slot vanishes at the same moment, the one that was removed comes back."""
    with _open(storage) as opened:
        added = operations.add_passphrase(opened, "another", "second", 2)

        class Racing(MemoryStorage):
            def delete(self, name: str) -> None:
                super().delete(name)
                super().delete(f"keys/{added}")

        racing = Racing()
        racing.objects = storage.objects
        with pytest.raises(UserError, match="last key slot"):
            slots.remove_slot(racing, opened.keys.archive_id, opened.slot_id)
    _open(storage).index.close()


def test_change_replaces_the_passphrase_that_was_used(storage):
    """After a change the new passphrase opens and the old one does not."""
    with _open(storage) as opened:
        changed = operations.change(opened, "new one", 2)
        assert changed.removed == opened.slot_id
    _open(storage, "new one").index.close()
    with pytest.raises(WrongKeyError):
        _open(storage)


def test_change_with_a_recovery_code_keeps_the_code(storage):
    """Whoever forgot the passphrase sets a new one with the code, and the code stays good."""
    with _open(storage) as opened:
        _, code = operations.add_recovery(opened, "paper", 2)
    with _open(storage, code) as opened:
        assert operations.change(opened, "new one", 3).removed is None
    _open(storage, code).index.close()
    _open(storage, "new one").index.close()


def test_an_empty_password_is_refused(storage):
    """An empty password would protect nothing."""
    with _open(storage) as opened, pytest.raises(UserError, match="empty"):
        operations.add_passphrase(opened, "", "x", 2)


def test_slots_differ_though_the_password_is_the_same(storage):
    """Two slots of one password share neither salt nor wrapping."""
    with _open(storage) as opened:
        slots.add_slot(storage, opened.keys, SlotKind.PASSPHRASE, PASSWORD, "twin", 2)
        one, two = operations.list_slots(opened)
    assert one.slot.info.kdf.salt != two.slot.info.kdf.salt
    assert one.slot.wrapped != two.slot.wrapped


def test_init_refuses_a_place_that_has_an_archive(storage):
    """A second ``init`` changes nothing."""
    before = dict(storage.objects)
    with pytest.raises(UserError, match="already"):
        archive.create(storage, "x", None, 2)
    assert storage.objects == before
