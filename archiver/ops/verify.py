"""Prove that an archive holds what it says.

The index cache is not trusted here: the index is read from the archive again. Structure is always checked: every
object is there and of the right length, every manifest, source list and tree node opens and fits its parent, and every
leaf is in the index. With data, every byte of every pack is opened and every blob is hashed.
"""

import math
import random

import msgspec

from archiver.errors import ArchiveError, DamageError, ExitCode, NewerFormatError, ObjectMissingError
from archiver.layout import packing
from archiver.layout.prefix import HEADER_NAME, Kind, decode_header, object_name, parse_name
from archiver.monitor import Monitor
from archiver.ops import verify_packs, verify_trees
from archiver.repo import sealing, slots, snapshots
from archiver.repo.archive import Archive, read_archive_id
from archiver.repo.index import Index
from archiver.repo.reader import Reader
from archiver.repo.snapshots import Snapshot
from archiver.storage.base import Listed, Storage


class Damage(msgspec.Struct, frozen=True):
    """One object that is not as it was written, or that a later version wrote; ``object`` is its storage name."""

    object: str
    message: str
    newer: bool = False


class Verified(msgspec.Struct, frozen=True):
    """What was checked, and what was found.

    Attributes:
        objects: Objects of the archive.
        snapshots: Snapshots whose trees were walked.
        packs: Packs that the index names.
        packs_read: Packs whose every byte was opened and hashed.
        blobs: Blobs that the index names.
        read_bytes: Bytes of the packs that were read.
        damage: Objects that are missing or changed, or that only a later version can check.
        hit: The sources, by snapshot, that cannot be restored whole.
        notes: What is odd but harms nothing.
    """

    objects: int
    snapshots: int = 0
    packs: int = 0
    packs_read: int = 0
    blobs: int = 0
    read_bytes: int = 0
    damage: tuple[Damage, ...] = ()
    hit: tuple[verify_trees.Hit, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What was found, in a word: what a later version wrote is no reason to fear for the data."""
        if self.hit or any(not damage.newer for damage in self.damage):
            return ExitCode.DAMAGED
        return ExitCode.NEWER if self.damage else ExitCode.DONE


def verify(archive: Archive, chosen: Snapshot | None, data_share: float, monitor: Monitor) -> Verified:
    """Check an archive.

    Args:
        archive: The open archive.
        chosen: Only this snapshot and the packs that it needs, or everything.
        data_share: Which share of the packs to read whole: 0 for none, 1 for all.
        monitor: Hears of progress.
    """
    listing = list(archive.storage.list())
    damage = _check_slots(archive)
    index = Index(None, archive.keys.purpose("cache"))
    try:
        damage += _load_index(archive, index, listing)
        blob_count = index.blob_count()
        reader = Reader(archive.storage, archive.keys, index)
        packs = verify_packs.PackChecker(archive.storage, archive.keys, index, reader)
        damage += [Damage(*found) for found in packs.check_presence(listing)]
        loaded, lost = _load_snapshots(archive, chosen)
        trees = verify_trees.TreeChecker(reader, index, packs.bad_blobs)
        needed = trees.needed_packs(loaded) if chosen is not None else {name for name, _ in index.packs()}
        damage += lost
        sample = _sample(sorted(needed - packs.lost_packs), data_share)
        monitor.begin("verifying", sum(size for name, size in index.packs() if name in set(sample)))
        for name in sample:
            damage += [Damage(*found) for found in packs.check_data(name, monitor)]
        hit = [found for snapshot in loaded for found in trees.check(snapshot)]
        damage += [Damage(*found) for found in trees.damage]
        return Verified(
            objects=sum(1 for listed in listing if _is_ours(listed.name)),
            snapshots=len(loaded),
            packs=len(needed),
            packs_read=len(sample),
            blobs=blob_count,
            read_bytes=packs.read_bytes,
            damage=tuple(dict.fromkeys(damage)),
            hit=tuple(hit),
            notes=tuple(_notes(listing, index, loaded)),
        )
    finally:
        index.close()


def verify_names(storage: Storage, monitor: Monitor) -> Verified:
    """Check without any key that every object matches its name.

    Raises:
        NoArchiveError: There is no object at all.
    """
    listing = list(storage.list())
    ours = [listed for listed in listing if _is_ours(listed.name)]
    if not ours:
        read_archive_id(storage)
    monitor.begin("checking names", sum(listed.size_bytes for listed in ours))
    damage: list[Damage] = []
    read_bytes = 0
    for listed in ours:
        try:
            read_bytes += _check_object(storage, listed.name)
        except (DamageError, NewerFormatError, ObjectMissingError) as error:
            damage.append(_damage(listed.name, error))
        monitor.advance(listed.size_bytes, listed.name)
    if HEADER_NAME not in {listed.name for listed in ours}:
        damage.append(Damage(HEADER_NAME, f"the header object '{HEADER_NAME}' is missing"))
    return Verified(
        objects=len(ours), read_bytes=read_bytes, damage=tuple(damage), notes=tuple(_strangers(listing))
    )


def _check_object(storage: Storage, name: str) -> int:
    data = storage.get(name)
    parsed = parse_name(name)
    if parsed is None:
        decode_header(data)
    else:
        sealing.check_name(data, parsed[0], name)
    return len(data)


def _damage(name: str, error: ArchiveError) -> Damage:
    return Damage(name, str(error), newer=isinstance(error, NewerFormatError))


def _check_slots(archive: Archive) -> list[Damage]:
    _, damage = slots.stored_slots(archive.storage, archive.keys.archive_id)
    return [Damage("keys", str(error)) for error in damage]


def _load_index(archive: Archive, index: Index, listing: list[Listed]) -> list[Damage]:
    """Fill ``index`` from the archive's index objects."""
    damage = []
    for listed in listing:
        parsed = parse_name(listed.name)
        if parsed is None or parsed[0] is not Kind.INDEX:
            continue
        try:
            value = sealing.open_value(
                archive.keys, Kind.INDEX, archive.storage.get(listed.name), listed.name
            )
            index.add_object(listed.name, packing.decode_index(value, listed.name))
        except ArchiveError as error:
            damage.append(_damage(listed.name, error))
    return damage


def _load_snapshots(archive: Archive, chosen: Snapshot | None) -> tuple[list[Snapshot], list[Damage]]:
    if chosen is not None:
        return [chosen], []
    found, damage = [], []
    for snapshot_id in archive.snapshot_ids():
        try:
            found.append(snapshots.load(archive, snapshot_id))
        except ArchiveError as error:
            damage.append(_damage(object_name(Kind.SNAPSHOT, snapshot_id), error))
    return sorted(found, key=lambda snapshot: snapshot.manifest.started_ms), damage


def _sample(packs: list[bytes], share: float) -> list[bytes]:
    """A random share of the packs, at least one unless the share is 0."""
    return packs if share >= 1 else sorted(random.SystemRandom().sample(packs, math.ceil(len(packs) * share)))


def _notes(listing: list[Listed], index: Index, loaded: list[Snapshot]) -> list[str]:
    indexed = {name for name, _ in index.packs()}
    stray = [
        listed.name
        for listed in listing
        if (parsed := parse_name(listed.name))
        and parsed[0] is Kind.PACK
        and bytes.fromhex(parsed[1]) not in indexed
    ]
    notes = (
        [f"{len(stray)} pack(s) that no index object names: left by an interrupted snapshot, harmless"]
        if stray
        else []
    )
    ids = {snapshot.snapshot_id for snapshot in loaded}
    if len(loaded) > 1:
        orphans = [s.snapshot_id[:8] for s in loaded if s.manifest.parent and s.manifest.parent not in ids]
        notes += [f"snapshot {orphan} continues one that is not in the archive" for orphan in orphans]
    return notes + _strangers(listing)


def _strangers(listing: list[Listed]) -> list[str]:
    strangers = [listed.name for listed in listing if not _is_ours(listed.name)]
    return (
        [f"{len(strangers)} file(s) that are none of the archive's, such as {strangers[0]}"]
        if strangers
        else []
    )


def _is_ours(name: str) -> bool:
    return name == HEADER_NAME or parse_name(name) is not None
