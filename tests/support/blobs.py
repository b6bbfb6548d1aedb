"""Blobs in a dictionary: the smallest thing that images can be written to and read from."""

from archiver import hashing
from archiver.errors import DamageError
from archiver.model import BlobId

KEY = bytes(32)


class BlobsInMemory:
    """Stores blobs under their ids."""

    def __init__(self) -> None:
        self.blobs: dict[BlobId, bytes] = {}
        self.read_count = 0

    def put(self, data: bytes, _stream: object, _base: BlobId | None = None) -> BlobId:
        blob = hashing.blob_id(KEY, data)
        self.blobs[blob] = data
        return blob

    def add(self, blob: BlobId, data: bytes, _stream: object, _base: BlobId | None = None) -> None:
        self.blobs[blob] = data

    def identify(self, data: bytes) -> BlobId:
        return hashing.blob_id(KEY, data)

    def read(self, blob: BlobId) -> bytes:
        self.read_count += 1
        if blob not in self.blobs:
            raise DamageError(f"blob {blob.hex()} is missing")
        return self.blobs[blob]
