"""The frames that we accept of a write-ahead log are those that SQLite recovers."""

import struct
import tempfile
from functools import cache
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.sqlite.wal import (
    checksum,
    committed_frames,
    leftover_frames,
    newest_pages,
    parse_wal_header,
    valid_frames,
)

PAGE_SIZES = [512, 4096, 65536]


def _writer(folder: Path, page_bytes: int) -> apsw.Connection:
    connection = apsw.Connection(str(folder / "db"))
    connection.execute(f"PRAGMA page_size={page_bytes}; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0")
    connection.execute("PRAGMA secure_delete=OFF")
    connection.execute("CREATE TABLE rows(a, b); CREATE INDEX by_a ON rows(a)")
    return connection


def _transactions(connection: apsw.Connection, sizes: list[int]) -> None:
    for size in sizes:
        with connection:
            connection.execute("INSERT INTO rows VALUES(?, zeroblob(?))", (f"row {size}" * 5, size))


def _wal(folder: Path) -> bytes:
    return (folder / "db-wal").read_bytes()


@cache
def _sample(page_bytes: int) -> tuple[bytes, bytes]:
    """A database, and a log of a dozen transactions that is not yet folded into it."""
    with tempfile.TemporaryDirectory() as name:
        connection = _writer(Path(name), page_bytes)
        _transactions(connection, [10, 3000, 10, 700, 5, 9000, 1, 2, 3, 4, 5])
        sample = (Path(name) / "db").read_bytes(), _wal(Path(name))
        connection.close()
    return sample


def _recovered(database: bytes, wal: bytes) -> int:
    """How many frames SQLite recovers from a log."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "db").write_bytes(database)
        (Path(name) / "db-wal").write_bytes(wal)
        connection = apsw.Connection(str(Path(name) / "db"))
        _, frames, _ = connection.execute("PRAGMA wal_checkpoint").fetchone()
        connection.close()
    return frames


def _committed(wal: bytes) -> int:
    try:
        return len(list(committed_frames(wal, parse_wal_header(wal))))
    except FormatError:
        return 0


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@settings(max_examples=8, deadline=None)
@given(sizes=st.lists(st.integers(0, 20000), max_size=8), shrink=st.booleans())
def test_newest_pages_are_what_a_checkpoint_writes(page_bytes: int, sizes: list[int], shrink: bool) -> None:
    """The main file with the newest committed pages laid over it is the file that SQLite's checkpoint leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        connection = _writer(folder, page_bytes)
        _transactions(connection, sizes)
        if shrink:
            connection.execute("DELETE FROM rows; VACUUM")
        wal, merged = _wal(folder), bytearray((folder / "db").read_bytes())
        _, frames, _ = connection.execute("PRAGMA wal_checkpoint").fetchone()
        expected = (folder / "db").read_bytes()
        connection.close()
    committed = list(committed_frames(wal, parse_wal_header(wal)))
    assert len(committed) == frames
    size = committed[-1].commit_pages * page_bytes
    merged = merged[:size].ljust(size, b"\0")
    for number, frame in newest_pages(committed).items():
        merged[(number - 1) * page_bytes : number * page_bytes] = wal[
            frame.offset : frame.offset + page_bytes
        ]
    assert merged == expected


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_logs_end_where_sqlite_ends_them(page_bytes: int, data: st.DataObject) -> None:
    """Of a log with changed bytes or a cut-off tail, as many frames are committed as SQLite recovers."""
    database, wal = _sample(page_bytes)
    damaged = bytearray(wal)
    for _ in range(data.draw(st.integers(0, 2))):
        frame = data.draw(st.integers(0, (len(wal) - 32) // (24 + page_bytes) - 1))
        at = 32 + frame * (24 + page_bytes) + data.draw(st.integers(0, 40))
        damaged[at] ^= data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(wal)), st.integers(0, len(wal))))
    assert _committed(bytes(damaged[:cut])) == _recovered(database, bytes(damaged[:cut]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 31), st.integers(1, 255))
def test_a_damaged_header_empties_the_log(at: int, change: int) -> None:
    """A log whose header is changed anywhere holds nothing, for SQLite and for us."""
    database, wal = _sample(512)
    damaged = bytearray(wal)
    damaged[at] ^= change
    assert _committed(bytes(damaged)) == _recovered(database, bytes(damaged)) == 0


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
def test_logs_of_both_byte_orders(page_bytes: int) -> None:
    """A log whose checksums were made on a machine of the other byte order is read, as SQLite reads it."""
    database, wal = _sample(page_bytes)
    other = _sealed(wal[:3] + bytes([wal[3] ^ 1]) + wal[4:], page_bytes)
    header = parse_wal_header(other)
    assert header.big_endian is not parse_wal_header(wal).big_endian
    assert _committed(other) == _recovered(database, other) == _committed(wal) > 0


def test_a_frame_of_no_page_ends_the_log() -> None:
    """A frame for page 0 ends the log even if its checksum fits."""
    database, wal = _sample(512)
    changed = bytearray(wal)
    struct.pack_into(">I", changed, 32 + 9 * 536, 0)
    sealed = _sealed(changed, 512)
    assert len(list(valid_frames(sealed, parse_wal_header(sealed)))) == 9
    assert _committed(sealed) == _recovered(database, sealed)


def _sealed(wal: bytes, page_bytes: int) -> bytes:
    """The same log with every checksum made anew by the specification's formula."""
    data = bytearray(wal)
    order = ">" if data[3] & 1 else "<"
    state = _naive_checksum(data[:24], order, (0, 0))
    struct.pack_into(">II", data, 24, *state)
    for at in range(32, len(data), 24 + page_bytes):
        state = _naive_checksum(data[at : at + 8] + data[at + 24 : at + 24 + page_bytes], order, state)
        struct.pack_into(">II", data, at + 16, *state)
    return bytes(data)


def _naive_checksum(data: bytes, order: str, state: tuple[int, int]) -> tuple[int, int]:
    s0, s1 = state
    for at in range(0, len(data), 8):
        x0, x1 = struct.unpack_from(f"{order}II", data, at)
        s0 = (s0 + x0 + s1) % (1 << 32)
        s1 = (s1 + x1 + s0) % (1 << 32)
    return s0, s1


@given(st.binary(max_size=400).map(lambda data: data[: len(data) // 8 * 8]), st.booleans())
def test_checksum_is_the_formula(data: bytes, big_endian: bool) -> None:
    """The checksum is that of the specification's formula, in one go and continued from any point."""
    expected = _naive_checksum(data, ">" if big_endian else "<", (0, 0))
    middle = len(data) // 16 * 8
    continued = checksum(data[:middle], big_endian=big_endian)
    assert checksum(data, big_endian=big_endian) == expected
    assert checksum(data[middle:], big_endian=big_endian, start=continued) == expected


def test_a_transaction_under_way_is_not_committed(tmp_path: Path) -> None:
    """Frames that a large transaction wrote before it ended are valid, but not committed."""
    connection = _writer(tmp_path, 512)
    committed = _committed(_wal(tmp_path))
    connection.execute("PRAGMA cache_size=2; PRAGMA cache_spill=ON; BEGIN")
    for size in range(200):
        connection.execute("INSERT INTO rows VALUES(?, zeroblob(?))", (size, size * 10))
    wal = _wal(tmp_path)
    assert _committed(wal) == committed == _recovered((tmp_path / "db").read_bytes(), wal)
    assert len(list(valid_frames(wal, parse_wal_header(wal)))) > committed
    connection.execute("ROLLBACK")
    connection.close()


def test_what_an_older_log_left_behind(tmp_path: Path) -> None:
    """After a checkpoint the log starts over; the older frames behind the new ones are found as they were."""
    connection = _writer(tmp_path, 4096)
    _transactions(connection, [5000, 100, 20000, 7])
    older = _wal(tmp_path)
    connection.execute("PRAGMA wal_checkpoint")
    connection.execute("DELETE FROM rows WHERE rowid = 2")
    newer = _wal(tmp_path)
    _, count, _ = connection.execute("PRAGMA wal_checkpoint").fetchone()
    connection.close()
    before, header = parse_wal_header(older), parse_wal_header(newer)
    left = list(leftover_frames(newer, header, count))
    expected = list(valid_frames(older, before))[count:]
    assert len(list(valid_frames(newer, header))) == count
    assert left
    assert {frame.salts for frame in left} == {before.salts} != {header.salts}
    assert [(frame.page, frame.offset, frame.checksum) for frame in left] == [
        (frame.page, frame.offset, frame.checksum) for frame in expected
    ]
    assert [frame.chained for frame in left] == [False] + [True] * (len(left) - 1)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), st.binary(max_size=3000))
def test_any_bytes_as_a_log(index: int, tail: bytes) -> None:
    """Any bytes behind a good header, and any index to start from, end in whole frames or none."""
    wal = _sample(512)[1][:1200] + tail
    header = parse_wal_header(wal)
    frames = [*committed_frames(wal, header), *leftover_frames(wal, header, index)]
    assert all(frame.offset + 512 <= len(wal) for frame in frames)
    assert set(newest_pages(frames)) <= {frame.page for frame in frames}
