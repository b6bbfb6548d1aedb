"""Check packs: they are there, whole, and every blob in them is what its id says."""

from collections.abc import Iterable, Iterator

from archiver import hashing
from archiver.crypto.aead import FrameCipher
from archiver.errors import ArchiveError
from archiver.layout.packing import Location
from archiver.layout.prefix import Kind, object_name
from archiver.model import BlobId
from archiver.monitor import Monitor
from archiver.repo import compress, sealing
from archiver.repo.index import Index
from archiver.repo.keys import Keys
from archiver.repo.reader import Reader
from archiver.storage.base import Listed, Storage


class PackChecker:
    """Checks packs against the index, and takes out of it what cannot be read.

    Args:
        storage: Where the packs are.
        keys: The archive's keys.
        index: The union of the archive's index objects, for this check alone.
        reader: Reads through this index; for the bases of patches.

    Attributes:
        bad_blobs: What was taken out.
        lost_packs: Packs that are missing or cut off.
        read_bytes: Bytes of the packs that were read.
    """

    def __init__(self, storage: Storage, keys: Keys, index: Index, reader: Reader) -> None:
        self._storage = storage
        self._keys = keys
        self._index = index
        self._reader = reader
        self.bad_blobs: set[BlobId] = set()
        self.lost_packs: set[bytes] = set()
        self.read_bytes = 0

    def check_presence(self, listing: Iterable[Listed]) -> Iterator[tuple[str, str]]:
        """Every pack of the index is there, with the right length; yields object and message where not."""
        sizes = {listed.name: listed.size_bytes for listed in listing}
        for pack, pack_bytes in list(self._index.packs()):
            name = object_name(Kind.PACK, pack.hex())
            if name not in sizes:
                yield name, "the pack is missing"
            elif sizes[name] != pack_bytes:
                yield name, f"the pack has {sizes[name]} bytes, the index says {pack_bytes}"
            else:
                continue
            self.lost_packs.add(pack)
            self._drop(pack, self._blobs_of(pack))

    def check_data(self, pack: bytes, monitor: Monitor) -> Iterator[tuple[str, str]]:
        """Read a pack whole, check its name, open every frame and hash every blob; yields what is wrong.

        A pack that does not match its name is still searched for the frames that are sound.
        """
        name = object_name(Kind.PACK, pack.hex())
        try:
            data = self._storage.get(name)
        except ArchiveError as error:
            self._drop(pack, self._blobs_of(pack))
            yield name, str(error)
            return
        self.read_bytes += len(data)
        monitor.advance(len(data), name)
        try:
            sealing.open_value(self._keys, Kind.PACK, data, name)
        except ArchiveError as error:
            yield name, str(error)
        view, bad = memoryview(data), []
        for frame in self._index.frames_of(pack):
            unreadable = self._bad_blobs(view, frame, name)
            if unreadable:
                bad += unreadable
                yield name, f"{len(unreadable)} blob(s) of frame {frame[0][1].frame_number} cannot be read"
        self._drop(pack, bad)

    def _blobs_of(self, pack: bytes) -> list[BlobId]:
        return [blob for frame in self._index.frames_of(pack) for blob, _ in frame]

    def _drop(self, pack: bytes, blobs: list[BlobId]) -> None:
        """Take unreadable blobs out of the index, so that only those count as lost that no other pack has."""
        if not blobs:
            return
        self._index.drop_listings(pack, blobs)
        self.bad_blobs.update(blobs)

    def _bad_blobs(self, data: memoryview, blobs: list[tuple[BlobId, Location]], name: str) -> list[BlobId]:
        """Which of the blobs that share a frame are not in it."""
        first = blobs[0][1]
        cipher = sealing.salted_opener(self._keys, Kind.PACK, first.salt, name)
        try:
            content = memoryview(_content(cipher, data, first, name))
        except ArchiveError:
            return [blob for blob, _ in blobs]
        return [blob for blob, where in blobs if not self._is_sound(blob, where, content)]

    def _is_sound(self, blob: BlobId, where: Location, content: memoryview) -> bool:
        """Whether an entry of a frame is, or makes, the blob that its id says."""
        entry = content[where.offset : where.offset + where.length]
        if where.base is None:
            return hashing.blob_id(self._keys.blob_id, entry) == blob
        try:
            data = compress.unpatch(entry, self._reader.read(where.base), f"blob {blob.hex()}")
        except ArchiveError:
            return False
        return hashing.blob_id(self._keys.blob_id, data) == blob


def _content(cipher: FrameCipher, data: memoryview, where: Location, name: str) -> bytes:
    frame = data[where.frame_offset : where.frame_offset + where.sealed_bytes]
    return compress.unpack(
        cipher.open(frame, where.frame_number), where.plain_bytes, f"frame {where.frame_number} of {name}"
    )
