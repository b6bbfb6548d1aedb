"""Gathers blobs into frames and frames into packs, and puts finished packs with their index.

Frames are compressed and checked in worker threads (zstd and BLAKE3 release the interpreter's lock) and sealed in the
order in which they were filled.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from types import TracebackType
from typing import NamedTuple, Self

from archiver import hashing
from archiver.errors import DamageError, ObjectMissingError
from archiver.layout import packing
from archiver.layout.packing import IndexedFrame, IndexedPack
from archiver.layout.prefix import Kind, parse_name
from archiver.model import BlobId
from archiver.repo import compress
from archiver.repo.index import Index
from archiver.repo.keys import Keys
from archiver.repo.reader import Reader
from archiver.repo.sealing import SealedObject, seal_value
from archiver.storage.base import Storage

FRAME_BYTES = 1 << 20
PACK_BYTES = 32 << 20
WORKERS = 2
MAX_WAITING = 4
MAX_PATCHES = 8
"""A blob is at most this many patches away from one that is stored whole."""
PATCH_GAIN = 4
"""A patch is worth its base's being needed if it is this many times smaller than the blob."""


class Stream(Enum):
    """Blobs of one stream share frames, since they resemble each other and are read together."""

    DATA = 0
    PAGE = 1
    LEAF = 2
    TREE = 3
    PATCH = 4


class Written(NamedTuple):
    """What a packer has stored so far."""

    blob_count: int
    plain_bytes: int
    stored_bytes: int


class _Packed(NamedTuple):
    """A frame that is compressed and checked: ready to be sealed."""

    plaintext: bytes
    plain_bytes: int
    lengths: list[int]
    ids: bytes
    bases: bytes


class Packer:
    """Stores blobs that the archive does not have.

    A blob is durable and in the index when ``flush`` returns. If the packer dies before, whole packs that it has put
    stay useful for the next one.

    Args:
        storage: Where packs and index objects go.
        keys: The archive's keys.
        index: Knows what is stored; is told of each new pack.
        reader: Reads the bases of patches.
    """

    def __init__(self, storage: Storage, keys: Keys, index: Index, reader: Reader) -> None:
        self._storage = storage
        self._keys = keys
        self._index = index
        self._reader = reader
        self._pending: set[BlobId] = set()
        self._open = {stream: _Filling() for stream in Stream}
        self._waiting: deque[Future[_Packed]] = deque()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="pack")
        self._pack = SealedObject(keys, Kind.PACK)
        self._frames: list[IndexedFrame] = []
        self._blob_count = self._plain_bytes = self._stored_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)

    @property
    def written(self) -> Written:
        """What was new so far; stored bytes count finished packs and their index objects."""
        return Written(self._blob_count, self._plain_bytes, self._stored_bytes)

    def put(self, data: bytes, stream: Stream, base: BlobId | None = None) -> BlobId:
        """Make sure that a blob is stored.

        Args:
            data: At least one byte.
            stream: Which blobs it resembles.
            base: A blob that ``data`` may be nearly the same as: then only the difference is stored.

        Returns:
            Its id.
        """
        blob = self.identify(data)
        self.add(blob, data, stream, base)
        return blob

    def add(self, blob: BlobId, data: bytes, stream: Stream, base: BlobId | None = None) -> None:
        """As ``put``, for a caller that has identified ``data`` already."""
        if blob in self._pending or self._index.has(blob):
            return
        self._pending.add(blob)
        self._blob_count += 1
        self._plain_bytes += len(data)
        patch = None if base is None else self._patch(data, base)
        if patch is None:
            self._fill(stream, blob, data, None)
        else:
            self._fill(Stream.PATCH, blob, patch, base)

    def identify(self, data: bytes) -> BlobId:
        """The id that a blob would have."""
        return hashing.blob_id(self._keys.blob_id, data)

    def flush(self) -> None:
        """Store all that is not stored yet."""
        for stream in Stream:
            self._submit(stream)
        while self._waiting:
            self._append(self._waiting.popleft().result())
        self._finish_pack()

    def _fill(self, stream: Stream, blob: BlobId, entry: bytes, base: BlobId | None) -> None:
        filling = self._open[stream]
        filling.add(blob, entry, base)
        if filling.plain_bytes >= FRAME_BYTES:
            self._submit(stream)

    def _patch(self, data: bytes, base: BlobId) -> bytes | None:
        """The difference between ``data`` and ``base``, checked; nothing if it is not much smaller than ``data``."""
        try:
            depth = self._index.patch_depth(base)
            if depth is None or depth >= MAX_PATCHES:
                return None
            before = self._reader.read(base)
        except (DamageError, ObjectMissingError):
            return None
        patch = compress.patch(data, before)
        if PATCH_GAIN * len(patch) > len(data):
            return None
        if compress.unpatch(patch, before, "a new patch") != data:
            raise DamageError(
                "a patch that was just made gives other bytes: this machine's memory or libraries fail"
            )
        return patch

    def _submit(self, stream: Stream) -> None:
        filling = self._open[stream]
        if not filling.blobs:
            return
        self._open[stream] = _Filling()
        self._waiting.append(self._workers.submit(_pack_frame, filling))
        while len(self._waiting) > MAX_WAITING:
            self._append(self._waiting.popleft().result())

    def _append(self, packed: _Packed) -> None:
        offset, sealed_bytes = self._pack.add(packed.plaintext)
        frame = IndexedFrame(
            offset, sealed_bytes, packed.plain_bytes, packed.lengths, packed.ids, packed.bases
        )
        self._frames.append(frame)
        if len(self._pack.data) >= PACK_BYTES:
            self._finish_pack()

    def _finish_pack(self) -> None:
        """Put the pack, then the index object that names it, and begin a new pack."""
        if not self._frames:
            return
        pack, frames = self._pack, self._frames
        name = pack.finish(packing.encode_directory(frames))
        self._storage.put(name, pack.data)
        entry = IndexedPack(_digest(name), len(pack.data), pack.salt, frames)
        index_name, index_data = seal_value(self._keys, Kind.INDEX, packing.encode_index([entry]))
        self._storage.put(index_name, index_data)
        self._index.add_object(index_name, [entry])
        self._stored_bytes += len(pack.data) + len(index_data)
        for frame in frames:
            self._pending.difference_update(frame.blobs())
        self._pack = SealedObject(self._keys, Kind.PACK)
        self._frames = []


class _Filling:
    """The entries of a frame that is not full yet."""

    def __init__(self) -> None:
        self.blobs: list[BlobId] = []
        self.bases: list[BlobId] = []
        self.parts: list[bytes] = []
        self.plain_bytes = 0

    def add(self, blob: BlobId, entry: bytes, base: BlobId | None) -> None:
        self.blobs.append(blob)
        self.parts.append(entry)
        self.plain_bytes += len(entry)
        if base is not None:
            self.bases.append(base)


def _pack_frame(filling: _Filling) -> _Packed:
    """Compress a frame, decompress it again, and compare it with what went in ([AR-32])."""
    content = b"".join(filling.parts)
    plaintext = compress.pack(content)
    if compress.unpack(plaintext, len(content), "a new frame") != content:
        raise DamageError(
            "a frame that was just compressed comes back changed: this machine's memory or libraries fail"
        )
    lengths = [len(part) for part in filling.parts]
    return _Packed(plaintext, len(content), lengths, b"".join(filling.blobs), b"".join(filling.bases))


def _digest(name: str) -> bytes:
    parsed = parse_name(name)
    return bytes.fromhex(parsed[1]) if parsed else b""
