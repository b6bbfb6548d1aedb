"""Takes a consistent copy of a database from SQLite's backup API, block by block and without a temporary file."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from typing import cast

import apsw
import msgspec

from archiver.source.raw import CHUNK_BYTES
from archiver.source.receiver import Part
from archiver.vfsfile import UnsharedFile

_CACHE_PAGES = 100


class Snapshot(msgspec.Struct, frozen=True):
    """A database with a read transaction open, which shows one state until the connection is closed.

    Attributes:
        connection: Whoever opened it closes it.
        page_bytes: Its page size.
        schema_cookie: The header's bytes 40-43.
        header: The main file's first 100 bytes, and nothing where a ``-wal`` may hold newer ones.
        errors: What an error of SQLite on this database means for the capture.
    """

    connection: apsw.Connection
    page_bytes: int
    schema_cookie: bytes
    header: bytes
    errors: Callable[[], AbstractContextManager[None]]

    def with_own_header(self, page: bytes) -> bytes:
        """The first page with what the backup API sets anew in the copy set back to what it is in the database."""
        page = page[:40] + self.schema_cookie + page[44:]
        if not self.header:
            return page
        return page[:24] + self.header[24:28] + page[28:92] + self.header[92:100] + page[100:]


def begin(
    connection: apsw.Connection, errors: Callable[[], AbstractContextManager[None]], *, has_wal: bool
) -> Snapshot:
    """Open a read transaction; the schema is not parsed, since a broken one must not stand in the way."""
    with errors():
        connection.execute("BEGIN")
        cookie: int = connection.pragma("schema_version")
        page_bytes = connection.pragma("page_size")
        header = b"" if has_wal else connection.read("main", 0, 0, page_bytes)[1][:100]
    return Snapshot(connection, page_bytes, (cookie & 0xFFFFFFFF).to_bytes(4, "big"), header, errors)


def deliver(snapshot: Snapshot, part: Part, between: Callable[[int], None]) -> int:
    """Copy a database into a part, and leave it to the caller to finish the part.

    Args:
        snapshot: The database.
        part: Receives the pages.
        between: Called between blocks with the bytes of the last one; may raise to stop the copy.

    Returns:
        The size of the copy in bytes.
    """
    size_bytes = 0
    with closing(_blocks(snapshot)) as blocks:
        for offset, data in blocks:
            part.write(offset, data)
            size_bytes = max(size_bytes, offset + len(data))
            between(len(data))
    return size_bytes


def _blocks(snapshot: Snapshot) -> Generator[tuple[int, bytes]]:
    """Offsets and bytes in rising order, but for the first page, which comes last."""
    sink = _Sink()
    try:
        with closing(sink.connect()) as target, target.backup("main", snapshot.connection, "main") as backup:
            while not backup.done:
                with snapshot.errors():
                    backup.step(max(1, CHUNK_BYTES // snapshot.page_bytes))
                yield from sink.file.take()
        yield 0, snapshot.with_own_header(sink.file.first_page)
    finally:
        sink.unregister()


class _File(UnsharedFile):
    """The file that the backup writes; it is never read back, and so may well seem empty."""

    def __init__(self) -> None:
        self.first_page = b""
        self._blocks: list[tuple[int, list[bytes]]] = []
        self._end = 0

    def take(self) -> list[tuple[int, bytes]]:
        """What was written since the last call."""
        taken, self._blocks = self._blocks, []
        return [(offset, b"".join(pages)) for offset, pages in taken]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  SQLite's name, as all below
        if offset == 0:
            self.first_page = bytes(data)
            return
        if offset < self._end:
            message = f"SQLite wrote at {offset} after it had written up to {self._end}"
            raise AssertionError(message)
        if self._blocks and offset == self._end:
            self._blocks[-1][1].append(bytes(data))
        else:
            self._blocks.append((offset, [bytes(data)]))
        self._end = offset + len(data)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802, ARG002
        return b""

    def xFileSize(self) -> int:  # noqa: N802
        return self._end

    def xTruncate(self, size: int) -> None:  # noqa: N802
        """Nothing to cut: an abandoned copy is dropped as a whole."""


class _Sink(apsw.VFS):
    """A place with one file, which takes what a backup writes."""

    def __init__(self) -> None:
        self._name = f"archive-sink-{id(self)}"
        self.file = _File()
        super().__init__(self._name, base="")

    def connect(self) -> apsw.Connection:
        """The database to back up into."""
        connection = apsw.Connection("image", vfs=self._name)
        # Without a journal and with a small cache pages come as they are copied; the cache must hold some of them,
        # or else SQLite writes pages twice.
        for pragma in (
            "journal_mode=off",
            "synchronous=off",
            "locking_mode=exclusive",
            f"cache_size={_CACHE_PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802, ARG002
        flags[1] = flags[0]
        return cast("apsw.VFSFile", self.file)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802, ARG002
        return False

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name
