"""Ids and values that several layers share."""

from enum import StrEnum
from typing import NewType

import msgspec

Bytes = bytes | bytearray | memoryview
"""Anything that holds bytes in one piece."""

BlobId = NewType("BlobId", bytes)
"""16 bytes: the keyed BLAKE3 of a blob's plaintext."""

ObjectName = NewType("ObjectName", str)
"""A storage name such as ``packs/3f/3f9c…``: kind, and for sealed objects the BLAKE3 of the stored bytes."""

SnapshotId = NewType("SnapshotId", str)
"""64 lower-case hex digits: the BLAKE3 of the manifest's stored bytes."""


class Store(StrEnum):
    """What kind of thing a source is to Cursor."""

    IDE_GLOBAL = "ide-global"
    IDE_WORKSPACE = "ide-workspace"
    IDE_SEARCH = "ide-search"
    CLI_CHAT = "cli-chat"
    SDK_INDEX = "sdk-index"
    SDK_AGENT = "sdk-agent"
    SDK_NDJSON = "sdk-ndjson"
    TRANSCRIPT = "transcript"
    AGENT_TOOLS = "agent-tools"
    PLAN = "plan"
    AI_TRACKING = "ai-tracking"
    MEMORY = "memory"


class Role(StrEnum):
    """Which bytes of a source an image holds."""

    DATABASE = "database"
    """A consistent SQLite database from the backup API, WAL content included."""
    FILE = "file"
    """A file as it is: not SQLite, or a database that SQLite could not open."""
    WAL = "wal"
    JOURNAL = "journal"
    MAIN = "main"
    """The raw main file of a database (evidence)."""
    SHM = "shm"


class Method(StrEnum):
    """How a source was captured (specs/capture.md)."""

    BACKUP = "backup"
    """Backup API on the live database, under one read transaction."""
    BACKUP_STEP = "backup-step"
    """Backup API on the live database in a single step (rollback mode)."""
    IMMUTABLE = "immutable"
    """Backup API on a database that nobody had open, checked for changes before and after."""
    COPY = "copy"
    """The file set was copied without locks, checked for changes, and backed up from the copy."""
    READ = "read"
    """A plain file was read and checked for changes."""
    RAW = "raw"
    """SQLite could not open it: its bytes were read as they are."""


class FileState(msgspec.Struct, frozen=True, array_like=True):
    """What ``stat`` says of one file; any difference means that it may have changed."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Fingerprint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Says without reading a source whether it may have changed since it was captured.

    Attributes:
        main: The main file.
        header: Hex of the SQLite header's bytes 18-19 and 24-27 (journal mode, change counter), or empty.
        wal: The ``-wal`` file, if any.
        wal_header: Hex of the WAL header (32 bytes), or empty.
        wal_index: Hex of bytes 16-40 of the ``-shm`` (frame count, pages, checksum, salts), or empty.
        journal: The ``-journal`` file, if any.
    """

    main: FileState
    header: str = ""
    wal: FileState | None = None
    wal_header: str = ""
    wal_index: str = ""
    journal: FileState | None = None


class RawFile(msgspec.Struct, frozen=True):
    """What was known of one file whose bytes were captured as they are; ``sha256`` is hex."""

    role: Role
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    uid: int
    inode: int
    sha256: str
