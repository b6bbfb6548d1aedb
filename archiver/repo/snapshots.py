"""Snapshots of an open archive: stored, listed, found by what people call them, and read."""

from collections.abc import Iterator
from typing import NamedTuple

from archiver import hashing
from archiver.errors import ArchiveError, DamageError, NewerFormatError, ObjectMissingError, UserError
from archiver.layout import manifest as layout
from archiver.layout.manifest import Manifest, SourceEntry
from archiver.layout.prefix import Kind, object_name
from archiver.model import BlobId, SnapshotId
from archiver.repo import sealing
from archiver.repo.archive import Archive
from archiver.repo.packer import Packer, Stream

ENTRIES_MEAN = 32
ENTRIES_MAX = 128


class Snapshot(NamedTuple):
    """A snapshot's id and its manifest."""

    snapshot_id: SnapshotId
    manifest: Manifest


class Loaded(NamedTuple):
    """All snapshots of an archive, as far as they can be read."""

    snapshots: list[Snapshot]
    damage: list[ArchiveError]


def load(archive: Archive, snapshot_id: SnapshotId) -> Snapshot:
    """One snapshot.

    Raises:
        ObjectMissingError: It is gone.
        DamageError: Its manifest was changed.
        NewerFormatError: Its manifest needs a later reader.
    """
    name = object_name(Kind.SNAPSHOT, snapshot_id)
    value = sealing.open_value(archive.keys, Kind.SNAPSHOT, archive.storage.get(name), name)
    return Snapshot(snapshot_id, layout.decode(value, name))


def load_all(archive: Archive) -> Loaded:
    """All snapshots that can be read, oldest first, and what is wrong with the others."""
    found: list[Snapshot] = []
    damage: list[ArchiveError] = []
    for snapshot_id in archive.snapshot_ids():
        try:
            found.append(load(archive, snapshot_id))
        except (DamageError, NewerFormatError, ObjectMissingError) as error:
            damage.append(error)
    return Loaded(sorted(found, key=_age), damage)


def by_prefix(archive: Archive, prefix: str) -> SnapshotId | None:
    """The only snapshot whose id starts with ``prefix``, or nothing if none does.

    Raises:
        UserError: Several do.
    """
    found = [snapshot_id for snapshot_id in archive.snapshot_ids() if snapshot_id.startswith(prefix.lower())]
    if len(found) > 1:
        raise UserError(f"{len(found)} snapshots start with '{prefix}'", hint="give more of the id")
    return found[0] if found else None


def at_or_before(snapshots: list[Snapshot], moment_ms: int) -> Snapshot | None:
    """The last snapshot that began at ``moment_ms`` or before, of ``snapshots`` in order of age."""
    earlier = [snapshot for snapshot in snapshots if snapshot.manifest.started_ms <= moment_ms]
    return earlier[-1] if earlier else None


def entries(archive: Archive, manifest: Manifest) -> Iterator[SourceEntry]:
    """The sources of a snapshot, in order of path.

    Raises:
        DamageError: A list of them is missing or was changed.
    """
    for blob_hex in manifest.sources:
        value = archive.reader.read(BlobId(bytes.fromhex(blob_hex)))
        yield from layout.decode_entries(value, f"the source list {blob_hex}")


def put_entries(packer: Packer, sources: list[SourceEntry]) -> list[str]:
    """Store the lists of source entries; ids in hex.

    The lists end where the paths say so, so that one changed source changes one short list.
    """
    return [packer.put(layout.encode_entries(part), Stream.TREE).hex() for part in _parts(sources)]


def commit(archive: Archive, manifest: Manifest) -> tuple[SnapshotId, int]:
    """Store the manifest: the moment from which the snapshot exists. Everything it names must be durable.

    Returns:
        The snapshot's id, and the bytes that its manifest takes.
    """
    name, data = sealing.seal_value(archive.keys, Kind.SNAPSHOT, layout.encode(manifest))
    archive.storage.put(name, data)
    return SnapshotId(name.rpartition("/")[2]), len(data)


def _parts(sources: list[SourceEntry]) -> Iterator[list[SourceEntry]]:
    part: list[SourceEntry] = []
    for entry in sorted(sources, key=lambda entry: entry.path):
        part.append(entry)
        ends = int.from_bytes(hashing.digest(entry.path.encode())[:4], "big") % ENTRIES_MEAN == 0
        if ends or len(part) == ENTRIES_MAX:
            yield part
            part = []
    if part:
        yield part


def _age(snapshot: Snapshot) -> tuple[int, str]:
    return snapshot.manifest.started_ms, snapshot.snapshot_id
