"""Where each blob lies: a local SQLite cache of the archive's index objects.

The cache can be thrown away at any time; it is made again from the archive. Its pages are encrypted and
authenticated (SQLite3 Multiple Ciphers, ChaCha20-Poly1305), so it tells a thief nothing, and a damaged page is noticed
instead of answering wrongly.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import apsw

from archiver.errors import DamageError, StorageError
from archiver.layout.packing import IndexedPack, Location
from archiver.model import BlobId

SCHEMA_VERSION = 3
BUSY_MS = 60_000
MAX_DEPTH = 16
"""How many patches a reader follows ([AR-34])."""

_SCHEMA = f"""
CREATE TABLE objects (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE packs (id INTEGER PRIMARY KEY, object TEXT NOT NULL, name BLOB NOT NULL, bytes INTEGER NOT NULL,
                    salt BLOB NOT NULL);
CREATE INDEX packs_object ON packs (object);
CREATE INDEX packs_name ON packs (name);
CREATE TABLE frames (id INTEGER PRIMARY KEY, pack INTEGER NOT NULL, number INTEGER NOT NULL, offset INTEGER NOT NULL,
                     sealed INTEGER NOT NULL, plain INTEGER NOT NULL);
CREATE INDEX frames_pack ON frames (pack);
CREATE TABLE blobs (id BLOB NOT NULL, frame INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
                    base BLOB, PRIMARY KEY (id, frame)) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA_VERSION};
"""

_LOCATION = "p.name, p.salt, f.number, f.offset, f.sealed, f.plain, b.offset, b.length, b.base"

_ADDED_BITS = 1 << 25
_KEPT_FRAMES = 10_000

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)


class Index:
    """The union of some index objects.

    Args:
        path: The cache file; made when absent, and made anew when it cannot be read. ``None`` keeps the index in a
            temporary file that goes with the object.
        key: 32 bytes that the file is encrypted with.
    """

    def __init__(self, path: Path | None, key: bytes) -> None:
        self._path = path
        self._key = key
        self._db = self._opened()
        self._frames: dict[int, tuple[bytes, bytes, int, int, int, int]] = {}
        self._added = None if self._one("SELECT 1 FROM blobs LIMIT 1") else _Added()

    def close(self) -> None:
        """Close the cache; the object cannot be used after."""
        self._db.close()

    def has(self, blob: BlobId) -> bool:
        """Whether the blob is stored."""
        if self._added is not None and blob not in self._added:
            return False
        try:
            return self._db.execute("SELECT 1 FROM blobs WHERE id = ?", (blob,)).get is not None
        except _DAMAGED as error:
            raise self._damaged() from error

    def locate(self, blob: BlobId) -> Location | None:
        """Where the blob lies, if it is stored."""
        return next(self.locations(blob), None)

    def locations(self, blob: BlobId) -> Iterator[Location]:
        """All places where the blob lies; several after a lost pack was stored again ([AR-31])."""
        for frame, offset, length, base in self._rows(
            "SELECT frame, offset, length, base FROM blobs WHERE id = ?", blob
        ):
            yield Location(*self._frame(frame), offset, length, base)

    def length(self, blob: BlobId) -> int | None:
        """How long the stored blob is; 0 for a patch, which tells it only when it is read; nothing if it is not stored."""
        row = self._one("SELECT length, base FROM blobs WHERE id = ?", blob)
        return None if row is None else 0 if row[1] is not None else int(row[0])

    def patch_depth(self, blob: BlobId) -> int | None:
        """How many patches a blob is away from one that is stored whole; nothing if it is not stored.

        Raises:
            DamageError: The patches go round in a circle, or on for ever.
        """
        for depth in range(MAX_DEPTH + 1):
            row = self._one("SELECT base FROM blobs WHERE id = ?", blob)
            if row is None:
                return None
            if row[0] is None:
                return depth
            blob = BlobId(row[0])
        raise DamageError(f"blob {blob.hex()} hangs on more than {MAX_DEPTH} patches")

    def object_names(self) -> set[str]:
        """The index objects that are in the cache."""
        return {name for (name,) in self._rows("SELECT name FROM objects")}

    def packs(self) -> Iterator[tuple[bytes, int]]:
        """Name and length of every pack, each once."""
        return self._rows("SELECT DISTINCT name, bytes FROM packs ORDER BY id")

    def blobs_of(self, pack: bytes) -> Iterator[tuple[BlobId, Location]]:
        """The blobs that are read from ``pack``, and where they lie, frame by frame."""
        self._index_frames()
        rows = self._rows(
            f"SELECT b.id, {_LOCATION} FROM packs p JOIN frames f ON f.pack = p.id JOIN blobs b ON b.frame = f.id"  # noqa: S608  a constant
            " WHERE p.name = ? ORDER BY f.pack, f.number",
            pack,
        )
        return ((BlobId(row[0]), Location(*row[1:])) for row in rows)

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
        self._index_frames()
        with self._transaction():
            for (pack,) in self._rows("SELECT id FROM packs WHERE object = ?", name):
                self._drop_pack(pack)
            self._db.execute("DELETE FROM objects WHERE name = ?", (name,))

    def drop_packs_except(self, names: Collection[bytes]) -> list[bytes]:
        """Forget packs that are not among ``names``, so that their blobs are stored again.

        The index objects that listed them are forgotten as loaded, so they count again when the packs come back.

        Returns:
            The names of the packs that were forgotten.
        """
        lost = [name for name, _ in self.packs() if name not in names]
        if lost:
            self._index_frames()
        with self._transaction():
            for name in lost:
                for pack, index_object in self._rows("SELECT id, object FROM packs WHERE name = ?", name):
                    self._drop_pack(pack)
                    self._db.execute("DELETE FROM objects WHERE name = ?", (index_object,))
        return lost

    def drop_listings(self, pack: bytes, blobs: Iterable[BlobId]) -> None:
        """Forget that these blobs lie in ``pack``: they cannot be read from there."""
        frames = "SELECT f.id FROM frames f JOIN packs p ON p.id = f.pack WHERE p.name = ?"
        with self._transaction():
            self._db.executemany(
                f"DELETE FROM blobs WHERE id = ? AND frame IN ({frames})",  # noqa: S608  a constant
                ((blob, pack) for blob in blobs),
            )

    def _add_pack(self, index_object: str, pack: IndexedPack) -> None:
        values = (index_object, pack.name, pack.pack_bytes, pack.salt)
        self._db.execute("INSERT INTO packs (object, name, bytes, salt) VALUES (?, ?, ?, ?)", values)
        pack_row = self._db.last_insert_rowid()
        rows = []
        for number, frame in enumerate(pack.frames):
            row = (pack_row, number, frame.offset, frame.sealed_bytes, frame.plain_bytes)
            self._db.execute(
                "INSERT INTO frames (pack, number, offset, sealed, plain) VALUES (?, ?, ?, ?, ?)", row
            )
            frame_row = self._db.last_insert_rowid()
            rows += [
                (entry.blob, frame_row, entry.offset, entry.length, entry.base) for entry in frame.entries()
            ]
        # In the order of their ids, neighbours go to the same page of the table.
        rows.sort(key=itemgetter(0))
        self._db.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?)", rows)
        if self._added is not None:
            self._added.update(row[0] for row in rows)

    def _frame(self, frame: int) -> tuple[bytes, bytes, int, int, int, int]:
        """Pack, salt, number, offset, sealed and plain length of a frame; blobs are many, frames are few."""
        found = self._frames.get(frame)
        if found is None:
            sql = (
                "SELECT p.name, p.salt, f.number, f.offset, f.sealed, f.plain FROM frames f"
                " JOIN packs p ON p.id = f.pack WHERE f.id = ?"
            )
            found = self._frames[frame] = next(self._rows(sql, frame))
            if len(self._frames) > _KEPT_FRAMES:
                del self._frames[next(iter(self._frames))]
        return found

    def _index_frames(self) -> None:
        """Make blobs findable by their frames: only checks and repairs look that way, and keeping it up costs writers."""
        with self._transaction():
            self._db.execute("CREATE INDEX IF NOT EXISTS blobs_frame ON blobs (frame)")

    def _drop_pack(self, pack: int) -> None:
        self._frames.clear()
        self._db.execute("DELETE FROM blobs WHERE frame IN (SELECT id FROM frames WHERE pack = ?)", (pack,))
        self._db.execute("DELETE FROM frames WHERE pack = ?", (pack,))
        self._db.execute("DELETE FROM packs WHERE id = ?", (pack,))

    def _opened(self) -> apsw.Connection:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return self._connected()
        except _DAMAGED:
            self._remove_file()
            return self._connected()

    def _connected(self) -> apsw.Connection:
        try:
            db = apsw.Connection("" if self._path is None else str(self._path))
        except apsw.Error as error:
            raise StorageError(f"cannot open the index cache {self._path}: {error}") from error
        try:
            db.set_busy_timeout(BUSY_MS)
            if self._path is not None:
                db.pragma("cipher", "chacha20")
                db.pragma("key", f"raw:{self._key.hex()}")
            db.pragma("journal_mode", "WAL")
            db.pragma("synchronous", "OFF")
            db.pragma("cache_size", -16_000)
            _prepare_schema(db)
        except BaseException:
            db.close()
            raise
        return db

    def _one(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        return next(self._rows(sql, *values), None)

    def _rows(self, sql: str, *values: object) -> Iterator[Any]:
        try:
            yield from self._db.execute(sql, values)
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
        if self._path is not None:
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


def _prepare_schema(db: apsw.Connection) -> None:
    """Make the tables unless they are there; a cache of another version is damage, and so made anew."""
    with db:
        version = db.pragma("user_version")
        if version == 0:
            db.execute(_SCHEMA)
        elif version != SCHEMA_VERSION:
            raise apsw.NotADBError(f"the cache has version {version}")
