"""BLAKE3: names of objects and ids of blobs."""

from blake3 import blake3

from archiver.model import BlobId, Bytes

BLOB_ID_BYTES = 16
NAME_BYTES = 32


def digest(data: Bytes) -> bytes:
    """The 32-byte BLAKE3 of ``data``."""
    return blake3(data).digest()


def hasher() -> blake3:
    """A running BLAKE3, for bytes that come in pieces."""
    return blake3()


def blob_id(key: bytes, data: Bytes) -> BlobId:
    """The id of a blob: 16 bytes of BLAKE3 keyed with the 32-byte blob-id key.

    Source: specs/archive-v1.md, section 4.
    """
    return BlobId(blake3(data, key=key).digest(BLOB_ID_BYTES))
