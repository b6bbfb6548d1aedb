"""Databases for the tests of ``formats.sqlite``, made and explained by SQLite itself."""

import apsw
import msgspec

from formats.errors import FormatError
from formats.sqlite.header import parse_header
from formats.sqlite.pages import BufferPages


class Kind(msgspec.Struct, frozen=True):
    """What is decided before a database's first table; ``auto_vacuum`` is 0, 1 (full) or 2 (incremental)."""

    page_bytes: int = 4096
    reserved_bytes: int = 0
    auto_vacuum: int = 0
    encoding: str = "UTF-8"

    def __str__(self) -> str:
        return f"{self.page_bytes}-{self.reserved_bytes}-{self.auto_vacuum}-{self.encoding}"


KINDS = [
    Kind(),
    Kind(page_bytes=512),
    Kind(page_bytes=512, reserved_bytes=32, auto_vacuum=1),
    Kind(page_bytes=512, auto_vacuum=2, encoding="UTF-16le"),
    Kind(page_bytes=1024, reserved_bytes=255, auto_vacuum=2, encoding="UTF-16be"),
    Kind(page_bytes=2048, auto_vacuum=1, encoding="UTF-16be"),
    Kind(page_bytes=8192, reserved_bytes=8),
    Kind(page_bytes=32768, encoding="UTF-16le"),
    Kind(page_bytes=65536, auto_vacuum=1),
    Kind(page_bytes=65536, reserved_bytes=16, auto_vacuum=2),
]


def create(kind: Kind, name: str = ":memory:") -> apsw.Connection:
    """An empty database with the tables ``rows`` and ``keyed`` (WITHOUT ROWID) and an index, in autocommit mode."""
    connection = apsw.Connection(name)
    connection.execute(f"PRAGMA page_size={kind.page_bytes}")
    connection.execute(f"PRAGMA encoding='{kind.encoding}'")
    connection.execute(f"PRAGMA auto_vacuum={kind.auto_vacuum}")
    connection.execute("PRAGMA secure_delete=OFF")
    connection.execute("CREATE TABLE rows(a, b, c); CREATE INDEX by_b ON rows(b)")
    connection.execute("CREATE TABLE keyed(k PRIMARY KEY, v) WITHOUT ROWID")
    connection.execute("CREATE VIEW seen AS SELECT a FROM rows")
    # The reserved bytes take effect when the file is written anew.
    connection.reserve_bytes("main", kind.reserved_bytes)
    connection.execute("VACUUM")
    return connection


def filled(kind: Kind, rows: int = 60) -> bytes:
    """The bytes of a database with payloads of all sizes, some of them deleted again."""
    connection = create(kind)
    for index in range(rows):
        text = f"{index:04}" * (index * index % 400)
        connection.execute("INSERT INTO rows VALUES(?, ?, zeroblob(?))", (index, text, index * 40))
        connection.execute("INSERT INTO keyed VALUES(?, ?)", (text[:99] + str(index), text))
    connection.execute("DELETE FROM rows WHERE a % 4 = 1; DELETE FROM keyed WHERE length(v) > 1200")
    return connection.serialize("main")


def opened(data: bytes | bytearray) -> BufferPages:
    """The pages of a database given as bytes."""
    return BufferPages(data, parse_header(memoryview(data)))


def refuse(error: FormatError) -> None:
    """A report for files in which nothing is wrong."""
    raise error
