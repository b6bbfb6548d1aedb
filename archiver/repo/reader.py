"""Reads blobs: finds the frame, opens it, checks the blob's id."""

import contextlib
from collections import OrderedDict

from archiver import hashing
from archiver.errors import DamageError, ObjectMissingError
from archiver.layout.packing import Location
from archiver.layout.prefix import Kind, object_name
from archiver.model import BlobId
from archiver.repo import compress, sealing
from archiver.repo.index import MAX_DEPTH, Index
from archiver.repo.keys import Keys
from archiver.storage.base import Storage

CACHED_BYTES = 24 << 20


class Reader:
    """Reads blobs of one archive and keeps the last few frames, since neighbours are asked for together.

    Args:
        storage: Where the packs are.
        keys: The archive's keys.
        index: Says where blobs lie.
    """

    def __init__(self, storage: Storage, keys: Keys, index: Index) -> None:
        self._storage = storage
        self._keys = keys
        self._index = index
        self._frames: OrderedDict[tuple[bytes, int], bytes] = OrderedDict()
        self._cached_bytes = 0
        self.read_bytes = 0

    def identify(self, data: bytes) -> BlobId:
        """The id that a blob would have."""
        return hashing.blob_id(self._keys.blob_id, data)

    def read(self, blob: BlobId) -> bytes:
        """The blob's bytes, checked against its id.

        Raises:
            DamageError: The index does not know it or what it is a patch of, or a pack was changed.
            ObjectMissingError: Its pack is gone.
        """
        return self._read(blob, MAX_DEPTH)

    def _read(self, blob: BlobId, patches: int) -> bytes:
        """The blob, from another place if it cannot be read from the first."""
        first = self._index.locate(blob)
        if first is None:
            raise DamageError(f"blob {blob.hex()} is in no index object of this archive")
        try:
            return self._read_at(blob, first, patches)
        except (DamageError, ObjectMissingError):
            for other in self._index.locations(blob):
                if other != first:
                    with contextlib.suppress(DamageError, ObjectMissingError):
                        return self._read_at(blob, other, patches)
            raise

    def _read_at(self, blob: BlobId, location: Location, patches: int) -> bytes:
        frame = self._frame(location)
        data = frame[location.offset : location.offset + location.length]
        if location.base is not None:
            if patches == 0:
                raise DamageError(f"blob {blob.hex()} hangs on more than {MAX_DEPTH} patches")
            data = compress.unpatch(data, self._read(location.base, patches - 1), f"blob {blob.hex()}")
        if self.identify(data) != blob:
            raise DamageError(f"blob {blob.hex()} in pack {location.pack.hex()} is not what its id says")
        return data

    def _frame(self, location: Location) -> bytes:
        key = (location.pack, location.frame_number)
        if key in self._frames:
            self._frames.move_to_end(key)
            return self._frames[key]
        name = object_name(Kind.PACK, location.pack.hex())
        sealed = self._storage.get_range(name, location.frame_offset, location.sealed_bytes)
        self.read_bytes += len(sealed)
        cipher = sealing.salted_opener(self._keys, Kind.PACK, location.salt, name)
        plaintext = cipher.open(sealed, location.frame_number)
        frame = compress.unpack(plaintext, location.plain_bytes, f"frame {location.frame_number} of {name}")
        self._frames[key] = frame
        self._cached_bytes += len(frame)
        while self._cached_bytes > CACHED_BYTES:
            self._cached_bytes -= len(self._frames.popitem(last=False)[1])
        return frame
