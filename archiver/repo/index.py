"""Where each blob lies: a local SQLite cache of the archive's index objects.

The cache can be thrown away at any time; it is made again from the archive. Its pages are encrypted and
authenticated (SQLite3 Multiple Ciphers, ChaCha20-Poly1305), so it tells a thief nothing, and a damaged page is noticed
instead of answering wrongly.
"""

import contextlib
import tempfile
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec

from archiver import hashing
from archiver.errors import DamageError, StorageError
from archiver.layout import codec
from archiver.layout.packing import IndexedFrame, IndexedPack, Location
from archiver.model import BlobId

SCHEMA_VERSION = 4
BUSY_MS = 60_000
MAX_DEPTH = 16
"""How many patches a reader follows ([AR-34])."""

_SCHEMA = f"""
CREATE TABLE objects (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE packs (id INTEGER PRIMARY KEY, object TEXT NOT NULL, name BLOB NOT NULL, bytes INTEGER NOT NULL,
                    salt BLOB NOT NULL);
CREATE INDEX packs_object ON packs (object);
CREATE INDEX packs_name ON packs (name);
CREATE TABLE frames (id INTEGER PRIMARY KEY, pack INTEGER NOT NULL, number INTEGER NOT NULL, listing BLOB NOT NULL);
CREATE INDEX frames_pack ON frames (pack, number);
CREATE TABLE blobs (id BLOB NOT NULL, frame INTEGER NOT NULL, PRIMARY KEY (id, frame)) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA_VERSION};
"""

_CACHE_KIB = 8_000
_NEAR_FRAMES = 64
_ADDED_BITS = 1 << 25
_DROPPED = bytes(hashing.BLOB_ID_BYTES)

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)


class Index:
    """The union of some index objects.

    Args:
        path: The cache file; made when absent, and made anew when it cannot be read. ``None`` keeps the index in a
            temporary file that goes with the object.
        key: 32 bytes that the file is encrypted with.
    """

    def __init__(self, path: Path | None, key: bytes) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if path is None:
            # SQLite's own temporary databases may be kept in memory, which would grow with the archive.
            self._folder = tempfile.TemporaryDirectory(prefix="archive-")
            path = Path(self._folder.name) / "index.db"
        self._path = path
        self._key = key
        self._db = self._opened()
        self._near: dict[BlobId, Location] = {}
        self._near_frames: OrderedDict[int, list[BlobId]] = OrderedDict()
        self._added = None if self._one("SELECT 1 FROM blobs LIMIT 1") else _Added()

    def close(self) -> None:
        """Close the cache; the object cannot be used after."""
        self._db.close()
        if self._folder is not None:
            self._folder.cleanup()

    def has(self, blob: BlobId) -> bool:
        """Whether the blob is stored."""
        if self._added is not None and blob not in self._added:
            return False
        try:
            return self._db.execute("SELECT 1 FROM blobs WHERE id = ?", (blob,)).get is not None
        except _DAMAGED as error:
            raise self._damaged() from error

    def locate(self, blob: BlobId) -> Location | None:
        """Where the blob lies, if it is stored.

        Neighbours are mostly asked for together, so all blobs of the last few frames are kept at hand.
        """
        if blob not in self._near:
            row = self._one("SELECT frame FROM blobs WHERE id = ?", blob)
            if row is None:
                return None
            self._come_near(row[0])
        return self._near[blob]

    def locations(self, blob: BlobId) -> list[Location]:
        """All places where the blob lies; several after a lost pack was stored again ([AR-31])."""
        frames = self._all("SELECT frame FROM blobs WHERE id = ?", blob)
        return [where for (frame,) in frames for found, where in self._load(frame) if found == blob]

    def patch_depth(self, blob: BlobId) -> int | None:
        """How many patches a blob is away from one that is stored whole; nothing if it is not stored.

        Raises:
            DamageError: The patches go round in a circle, or on for ever.
        """
        for depth in range(MAX_DEPTH + 1):
            where = self.locate(blob)
            if where is None:
                return None
            if where.base is None:
                return depth
            blob = where.base
        raise DamageError(f"blob {blob.hex()} hangs on more than {MAX_DEPTH} patches")

    def object_names(self) -> set[str]:
        """The index objects that are in the cache."""
        return {name for (name,) in self._all("SELECT name FROM objects")}

    def packs(self) -> list[tuple[bytes, int]]:
        """Name and length of every pack, each once."""
        return self._all("SELECT DISTINCT name, bytes FROM packs ORDER BY id")

    def frames_of(self, pack: bytes) -> Iterator[list[tuple[BlobId, Location]]]:
        """The blobs that are read from ``pack``, and where they lie, frame by frame."""
        sql = "SELECT f.id FROM packs p JOIN frames f ON f.pack = p.id WHERE p.name = ? ORDER BY f.pack, f.number"
        for (frame,) in self._all(sql, pack):
            found = list(self._load(frame))
            if found:
                yield found

    def blob_count(self) -> int:
        """How many blobs are stored."""
        row = self._one("SELECT count(DISTINCT id) FROM blobs")
        return 0 if row is None else int(row[0])

    def add_object(self, name: str, packs: list[IndexedPack]) -> None:
        """Take in an index object, whole or not at all; again is fine."""
        with self._transaction():
            if self._one("SELECT 1 FROM objects WHERE name = ?", name) is not None:
                return
            for pack in packs:
                self._add_pack(name, pack)
            self._db.execute("INSERT INTO objects VALUES (?)", (name,))

    def drop_object(self, name: str) -> None:
        """Forget an index object that the archive no longer has."""
        with self._transaction():
            for (pack,) in self._all("SELECT id FROM packs WHERE object = ?", name):
                self._drop_pack(pack)
            self._db.execute("DELETE FROM objects WHERE name = ?", (name,))

    def drop_packs_except(self, names: Collection[bytes]) -> list[bytes]:
        """Forget packs that are not among ``names``, so that their blobs are stored again.

        The index objects that listed them are forgotten as loaded, so they count again when the packs come back.

        Returns:
            The names of the packs that were forgotten.
        """
        lost = [name for name, _ in self.packs() if name not in names]
        with self._transaction():
            for name in lost:
                for pack, index_object in self._all("SELECT id, object FROM packs WHERE name = ?", name):
                    self._drop_pack(pack)
                    self._db.execute("DELETE FROM objects WHERE name = ?", (index_object,))
        return lost

    def drop_listings(self, pack: bytes, blobs: Collection[BlobId]) -> None:
        """Forget that these blobs lie in ``pack``: they cannot be read from there."""
        sql = "SELECT f.id, f.listing FROM packs p JOIN frames f ON f.pack = p.id WHERE p.name = ?"
        with self._transaction():
            for frame, listing in self._all(sql, pack):
                kept = _without(_listed(listing), blobs)
                self._db.execute(
                    "UPDATE frames SET listing = ? WHERE id = ?", (codec.to_msgpack(kept), frame)
                )
                self._db.executemany(
                    "DELETE FROM blobs WHERE id = ? AND frame = ?", ((blob, frame) for blob in blobs)
                )
        self._go_away()

    def _add_pack(self, index_object: str, pack: IndexedPack) -> None:
        values = (index_object, pack.name, pack.pack_bytes, pack.salt)
        self._db.execute("INSERT INTO packs (object, name, bytes, salt) VALUES (?, ?, ?, ?)", values)
        pack_row = self._db.last_insert_rowid()
        rows: list[tuple[BlobId, int]] = []
        for number, frame in enumerate(pack.frames):
            listed = (pack_row, number, codec.to_msgpack(frame))
            self._db.execute("INSERT INTO frames (pack, number, listing) VALUES (?, ?, ?)", listed)
            frame_row = self._db.last_insert_rowid()
            rows += [(blob, frame_row) for blob in frame.blobs()]
        # In the order of their ids, neighbours go to the same page of the table.
        rows.sort()
        self._db.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", rows)
        if self._added is not None:
            self._added.update(row[0] for row in rows)

    def _drop_pack(self, pack: int) -> None:
        for frame, listing in self._all("SELECT id, listing FROM frames WHERE pack = ?", pack):
            doomed = ((blob, frame) for blob in _listed(listing).blobs())
            self._db.executemany("DELETE FROM blobs WHERE id = ? AND frame = ?", doomed)
        self._db.execute("DELETE FROM frames WHERE pack = ?", (pack,))
        self._db.execute("DELETE FROM packs WHERE id = ?", (pack,))
        self._go_away()

    def _load(self, frame: int) -> Iterator[tuple[BlobId, Location]]:
        """The blobs of a frame, and where they lie."""
        sql = "SELECT p.name, p.salt, f.number, f.listing FROM frames f JOIN packs p ON p.id = f.pack WHERE f.id = ?"
        for pack, salt, number, listing in self._all(sql, frame):
            found = _listed(listing)
            where = (pack, salt, number, found.offset, found.sealed_bytes, found.plain_bytes)
            for entry in found.entries():
                if entry.blob != _DROPPED:
                    yield entry.blob, Location(*where, entry.offset, entry.length, entry.base)

    def _come_near(self, frame: int) -> None:
        found = dict(self._load(frame))
        self._near.update(found)
        self._near_frames[frame] = list(found)
        if len(self._near_frames) > _NEAR_FRAMES:
            _, far = self._near_frames.popitem(last=False)
            for blob in far:
                self._near.pop(blob, None)

    def _go_away(self) -> None:
        self._near.clear()
        self._near_frames.clear()

    def _opened(self) -> apsw.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return self._connected()
        except _DAMAGED:
            self._remove_file()
            return self._connected()

    def _connected(self) -> apsw.Connection:
        try:
            db = apsw.Connection(str(self._path))
        except apsw.Error as error:
            raise StorageError(f"cannot open the index cache {self._path}: {error}") from error
        try:
            db.set_busy_timeout(BUSY_MS)
            db.pragma("cipher", "chacha20")
            db.pragma("key", f"raw:{self._key.hex()}")
            db.pragma("journal_mode", "WAL")
            db.pragma("synchronous", "OFF")
            db.pragma("cache_size", -_CACHE_KIB)
            _prepare_schema(db)
        except BaseException:
            db.close()
            raise
        return db

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        return next(iter(self._all(sql, *values)), None)

    def _all(self, sql: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except _DAMAGED as error:
            raise self._damaged() from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._db:
                yield
        except _DAMAGED as error:
            raise self._damaged() from error

    def _damaged(self) -> StorageError:
        self._remove_file()
        return StorageError(
            f"the index cache {self._path} was damaged and has been removed",
            hint="nothing is lost; run the command again, the cache is made anew",
        )

    def _remove_file(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


class _Added:
    """Which blobs an index that began empty may hold: no for certain, or perhaps.

    The first snapshot asks for every record whether it is stored; this answers without asking the database.
    """

    def __init__(self) -> None:
        self._bits = bytearray(_ADDED_BITS // 8)

    def __contains__(self, blob: BlobId) -> bool:
        place = int.from_bytes(blob[:4], "big") % _ADDED_BITS
        return bool(self._bits[place >> 3] & 1 << (place & 7))

    def update(self, blobs: Iterable[BlobId]) -> None:
        bits = self._bits
        for blob in blobs:
            place = int.from_bytes(blob[:4], "big") % _ADDED_BITS
            bits[place >> 3] |= 1 << (place & 7)


def _listed(listing: bytes) -> IndexedFrame:
    return codec.from_msgpack(listing, IndexedFrame, "a frame in the index cache")


def _without(frame: IndexedFrame, blobs: Collection[BlobId]) -> IndexedFrame:
    """The frame with ids of zeros in the places of ``blobs``: the others keep their places."""
    doomed = set(blobs)
    ids = b"".join(_DROPPED if blob in doomed else blob for blob in frame.blobs())
    return msgspec.structs.replace(frame, ids=ids)


def _prepare_schema(db: apsw.Connection) -> None:
    """Make the tables unless they are there; a cache of another version is damage, and so made anew."""
    with db:
        version = db.pragma("user_version")
        if version == 0:
            db.execute(_SCHEMA)
        elif version != SCHEMA_VERSION:
            raise apsw.NotADBError(f"the cache has version {version}")
