"""Opens an archived database with SQLite, without restoring it: a file system that joins pages as they are asked for.

Nothing can be written: the files have no way to write, no other database can be attached, and no extension loaded.
"""

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import cast

import apsw

from archiver.errors import UserError
from archiver.image.random_access import ImageFile
from archiver.vfsfile import UnsharedFile

Row = tuple[int | float | str | bytes | None, ...]
"""The values of one row."""

_numbers = itertools.count()


class View:
    """A database inside an image, open for reading."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def query(self, sql: str) -> tuple[list[str], Iterator[Row]]:
        """The names of a query's columns, and its rows as they come.

        Raises:
            UserError: SQLite refuses the query, or it would change something.
            DamageError: A blob that is needed is missing or was changed.
        """
        cursor = self._connection.cursor()
        names: list[str] = []

        def note_names(_cursor: apsw.Cursor, row: Row) -> Row:
            if not names:
                names.extend(column[0] for column in cursor.get_description())
            return row

        cursor.row_trace = note_names
        found = _checked(cursor, sql)
        first = next(found, None)
        return names, iter(()) if first is None else itertools.chain([first], found)

    def shell(self) -> None:
        """A small interactive shell, until the person leaves it."""
        import apsw.shell  # noqa: PLC0415  slow to import, and seldom wanted

        apsw.shell.Shell(db=self._connection).cmdloop()  # type: ignore[no-untyped-call]  # apsw has no types there


@contextmanager
def opened(image: ImageFile) -> Iterator[View]:
    """Open the database in ``image``.

    Raises:
        UserError: The image is no database.
    """
    name = f"archive-image-{next(_numbers)}"
    vfs = _ImageVFS(name, image)
    try:
        # Nobody changes an image: without this SQLite would look for a -wal, which images of WAL databases do not need.
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection("file:image?immutable=1&mode=ro", flags=flags, vfs=name)) as connection:
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
            # What a query sorts would otherwise be spilled to a file, in the clear.
            connection.pragma("temp_store", "MEMORY")
            _see_that_it_is_a_database(connection)
            yield View(connection)
    finally:
        vfs.unregister()


def _see_that_it_is_a_database(connection: apsw.Connection) -> None:
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
    except apsw.NotADBError as error:
        raise UserError(
            "this source is not an SQLite database", hint="restore it: archive restore files"
        ) from error


def _checked(cursor: apsw.Cursor, sql: str) -> Iterator[Row]:
    try:
        yield from cursor.execute(sql)
    except apsw.ReadOnlyError as error:
        raise UserError("an archived database cannot be changed") from error
    except apsw.Error as error:
        raise UserError(f"SQLite: {error}") from error


class _ImageVFS(apsw.VFS):
    """A place with one file that can only be read."""

    def __init__(self, name: str, image: ImageFile) -> None:
        self._file = _File(image)
        super().__init__(name, base="")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  SQLite's name
        if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return super().xOpen(name, flags)
        flags[1] = apsw.SQLITE_OPEN_READONLY
        return cast("apsw.VFSFile", self._file)

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802, ARG002  SQLite's name and arguments
        return False

    def xFullPathname(self, name: str) -> str:  # noqa: N802  SQLite's name
        return name


class _File(UnsharedFile):
    """The image, as SQLite reads a file."""

    def __init__(self, image: ImageFile) -> None:
        self._image = image

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802  SQLite's name, as all below
        return self._image.read(offset, amount)

    def xFileSize(self) -> int:  # noqa: N802
        return self._image.size_bytes

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802, ARG002
        raise apsw.ReadOnlyError("an archived image is not written to")

    def xTruncate(self, size: int) -> None:  # noqa: N802, ARG002
        raise apsw.ReadOnlyError("an archived image is not cut")

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return apsw.SQLITE_IOCAP_IMMUTABLE
