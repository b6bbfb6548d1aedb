"""zstd, with bounded output.

Contexts are kept per thread: they are costly to make and not safe to share.
"""

import threading

import zstandard

from archiver.errors import DamageError
from archiver.model import Bytes

LEVEL = 3
PATCHED_LIMIT_BYTES = 16 << 20
STORED = b"\x00"
ZSTD = b"\x01"

_local = threading.local()


def compress(data: Bytes) -> bytes:
    """``data`` as one zstd frame."""
    compressor: zstandard.ZstdCompressor | None = getattr(_local, "compressor", None)
    if compressor is None:
        compressor = _local.compressor = zstandard.ZstdCompressor(level=LEVEL)
    return compressor.compress(data)


def decompress(data: Bytes, limit_bytes: int, name: str) -> bytes:
    """What was compressed, at most ``limit_bytes`` of it.

    Raises:
        DamageError: It is not one zstd frame, or holds more than the limit; ``name`` is named.
    """
    decompressor: zstandard.ZstdDecompressor | None = getattr(_local, "decompressor", None)
    if decompressor is None:
        decompressor = _local.decompressor = zstandard.ZstdDecompressor()
    try:
        if zstandard.frame_content_size(data) > limit_bytes:
            raise DamageError(f"{name} would decompress to more than {limit_bytes} bytes")
        return decompressor.decompress(data, max_output_size=limit_bytes)
    except zstandard.ZstdError as error:
        raise DamageError(f"{name} does not decompress: {error}") from error


def patch(data: Bytes, base: bytes) -> bytes:
    """``data`` as one zstd frame that refers to ``base``."""
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(base)).compress(data)


def unpatch(data: Bytes, base: bytes, name: str) -> bytes:
    """What was compressed with ``patch``.

    Raises:
        DamageError: It does not decompress with this base, or holds more than any blob may; ``name`` is named.
    """
    try:
        if zstandard.frame_content_size(data) > PATCHED_LIMIT_BYTES:
            raise DamageError(f"{name} would decompress to more than {PATCHED_LIMIT_BYTES} bytes")
        decompressor = zstandard.ZstdDecompressor(dict_data=_dictionary(base))
        return decompressor.decompress(data, max_output_size=PATCHED_LIMIT_BYTES)
    except zstandard.ZstdError as error:
        raise DamageError(f"{name} does not decompress: {error}") from error


def pack(data: Bytes) -> bytes:
    """A frame's plaintext: a byte that says how, then the content, never much longer than ``data``."""
    packed = compress(data)
    return ZSTD + packed if len(packed) < len(data) else STORED + data


def unpack(plaintext: bytes, plain_bytes: int, name: str) -> bytes:
    """The content of a frame's plaintext, which must be ``plain_bytes`` long.

    Raises:
        DamageError: It is not.
    """
    how, content = plaintext[:1], memoryview(plaintext)[1:]
    if how not in (STORED, ZSTD):
        raise DamageError(f"{name} is packed in an unknown way ({how.hex()})")
    data = bytes(content) if how == STORED else decompress(content, plain_bytes, name)
    if len(data) != plain_bytes:
        raise DamageError(f"{name} holds {len(data)} bytes, expected {plain_bytes}")
    return data


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
