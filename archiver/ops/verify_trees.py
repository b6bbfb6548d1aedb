"""Check that every source of a snapshot can be joined from blobs that are there."""

import contextlib
from collections.abc import Collection, Iterator

import msgspec

from archiver.errors import ArchiveError
from archiver.image import read
from archiver.layout import manifest as layout
from archiver.layout.leaf import Record
from archiver.layout.manifest import Image, SourceEntry
from archiver.layout.node import SPLIT, Child, Node
from archiver.model import BlobId
from archiver.repo.index import MAX_DEPTH, Index
from archiver.repo.reader import Reader
from archiver.repo.snapshots import Snapshot

ALL_SOURCES = "*"


class Hit(msgspec.Struct, frozen=True):
    """A source of a snapshot that cannot be restored whole; ``source`` is ``*`` when a source list itself is lost."""

    snapshot: str
    source: str
    store: str


class TreeChecker:
    """Walks the trees of snapshots; each shared subtree once.

    Args:
        reader: Reads through ``index``.
        index: The union of the archive's index objects, for this check alone.
        bad_blobs: Blobs that were taken out of the index with the packs that they were in.
    """

    def __init__(self, reader: Reader, index: Index, bad_blobs: Collection[BlobId]) -> None:
        self._reader = reader
        self._index = index
        self._bad = bad_blobs
        self._sound: dict[BlobId, bool] = {}
        self.damage: list[tuple[str, str]] = []

    def check(self, snapshot: Snapshot) -> Iterator[Hit]:
        """The sources of a snapshot that are damaged."""
        for blob_hex in snapshot.manifest.sources:
            entries = self._entries(blob_hex)
            if entries is None:
                yield Hit(snapshot.snapshot_id, ALL_SOURCES, "")
                continue
            for entry in entries:
                if not self.is_sound(entry):
                    yield Hit(snapshot.snapshot_id, entry.path, entry.store)

    def is_sound(self, entry: SourceEntry) -> bool:
        """Whether every image of a source can be joined."""
        return not [image for image in entry.images.values() if not self._image_is_sound(image)]

    def needed_packs(self, snapshots: list[Snapshot]) -> set[bytes]:
        """The packs that hold blobs of these snapshots, as far as their trees can be read."""
        packs: set[bytes] = set()
        for snapshot in snapshots:
            for blob_hex in snapshot.manifest.sources:
                self._add_pack(packs, BlobId(bytes.fromhex(blob_hex)))
                for entry in self._entries(blob_hex) or []:
                    for image in entry.images.values():
                        self._add_packs_of(packs, image)
        return packs

    def _entries(self, blob_hex: str) -> list[SourceEntry] | None:
        blob = BlobId(bytes.fromhex(blob_hex))
        name = f"source list {blob_hex}"
        try:
            return layout.decode_entries(self._reader.read(blob), name)
        except ArchiveError as error:
            self._report(name, str(error))
            return None

    def _image_is_sound(self, image: Image) -> bool:
        if image.root_blob is None:
            return image.size_bytes == 0
        return self._node_is_sound(image.root_blob, None, image.size_bytes)

    def _node_is_sound(self, blob: BlobId, level: int | None, covered_bytes: int) -> bool:
        known = self._sound.get(blob)
        if known is None:
            known = self._sound[blob] = self._walk(blob, level, covered_bytes)
        return known

    def _walk(self, blob: BlobId, level: int | None, covered_bytes: int) -> bool:
        try:
            node = read.read_node(self._reader, blob, level, covered_bytes)
        except ArchiveError as error:
            self._report(f"node {blob.hex()}", str(error))
            return False
        return not [child for child in node.children if not self._child_is_sound(node, child)]

    def _child_is_sound(self, node: Node, child: Child) -> bool:
        if node.level > 0:
            return self._node_is_sound(child.blob, node.level - 1, child.covered_bytes)
        if child.kind == SPLIT:
            return self._split_is_sound(child)
        return self._is_there(child.blob, child.covered_bytes)

    def _split_is_sound(self, child: Child) -> bool:
        known = self._sound.get(child.blob)
        if known is None:
            try:
                records = [
                    part for part in read.read_split(self._reader, child).parts() if isinstance(part, Record)
                ]
            except ArchiveError as error:
                self._report(f"leaf {child.id.hex()}", str(error))
                records, known = [], False
            lacking = [record for record in records if not self._is_there(record.blob, record.length)]
            known = self._sound[child.blob] = known is None and not lacking
        return known

    def _is_there(self, blob: BlobId, length: int) -> bool:
        where = self._index.locate(blob)
        if where is None or (where.base is None and where.length != length):
            self._report_blob(blob, "it is in no index object, or with another length")
            return False
        return where.base is None or self._bases_are_there(where.base)

    def _bases_are_there(self, blob: BlobId) -> bool:
        """Whether all is there that a patch needs, down to the blob that is stored whole."""
        waiting: BlobId | None = blob
        for _ in range(MAX_DEPTH):
            if waiting is None:
                return True
            where = self._index.locate(waiting)
            if where is None:
                self._report_blob(waiting, "others are patches of it, and it is in no index object")
                return False
            waiting = where.base
        self._report_blob(blob, f"it hangs on more than {MAX_DEPTH} patches")
        return False

    def _report_blob(self, blob: BlobId, message: str) -> None:
        """Name a blob, unless the pack that it was in is named already."""
        if blob not in self._bad:
            self._report(f"blob {blob.hex()}", message)

    def _add_packs_of(self, packs: set[bytes], image: Image) -> None:
        if image.root_blob is None:
            return
        pending: list[tuple[BlobId, int | None, int]] = [(image.root_blob, None, image.size_bytes)]
        while pending:
            blob, level, covered_bytes = pending.pop()
            self._add_pack(packs, blob)
            try:
                node = read.read_node(self._reader, blob, level, covered_bytes)
            except ArchiveError:
                continue
            for child in node.children:
                if node.level > 0:
                    pending.append((child.blob, node.level - 1, child.covered_bytes))
                else:
                    self._add_packs_of_leaf(packs, child)

    def _add_packs_of_leaf(self, packs: set[bytes], child: Child) -> None:
        self._add_pack(packs, child.blob)
        if child.kind == SPLIT:
            with contextlib.suppress(ArchiveError):
                for blob in read.read_split(self._reader, child).record_ids():
                    self._add_pack(packs, blob)

    def _add_pack(self, packs: set[bytes], blob: BlobId) -> None:
        where = self._index.locate(blob)
        for _ in range(MAX_DEPTH):
            if where is None:
                return
            packs.add(where.pack)
            where = None if where.base is None else self._index.locate(where.base)

    def _report(self, name: str, message: str) -> None:
        self.damage.append((name, message))
