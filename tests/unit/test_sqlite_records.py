"""Integers, serial types and text of records, against bytes that SQLite's documentation spells out."""

import math
import struct

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.sqlite.header import Encoding
from formats.sqlite.record import fields, value, values
from formats.sqlite.varint import signed, varint


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("00", 0),
        ("7f", 127),
        ("8100", 128),
        ("ff7f", 16383),
        ("818000", 16384),
        ("8880808000", 1 << 31),
        ("ffffffffffffffff7f", (1 << 64) - 129),
        ("80808080808080807f", 127),
        ("ffffffffffffffffff", (1 << 64) - 1),
    ],
)
def test_varints(stored: str, expected: int) -> None:
    """Up to eight bytes give seven bits each, a ninth gives eight; what follows is left alone."""
    data = bytes.fromhex(stored)
    assert varint(b"\xff" + data + b"\xff", 1) == (expected, 1 + len(data))
    assert varint(memoryview(data), 0) == (expected, len(data))


@pytest.mark.parametrize("stored", ["", "80", "ffff", "ffffffffffffffff"])
def test_a_varint_cut_off(stored: str) -> None:
    """An integer whose end is missing is refused."""
    with pytest.raises(FormatError, match="offset 0: the data end inside an integer"):
        varint(bytes.fromhex(stored), 0)


def test_rowids_are_signed() -> None:
    """The upper half of the 64-bit integers are the negative ones."""
    assert [signed(number) for number in (0, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)] == [
        0,
        (1 << 63) - 1,
        -(1 << 63),
        -1,
    ]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("0200", [None]),
        ("0201ff", [-1]),
        ("02020080", [128]),
        ("0203ff0000", [-65536]),
        ("0204 7fffffff", [(1 << 31) - 1]),
        ("0205 800000000000", [-(1 << 47)]),
        ("0206 8000000000000000", [-(1 << 63)]),
        ("0207 3ff8000000000000", [1.5]),
        ("0207 7ff8000000000001", [None]),
        ("030809", [0, 1]),
        ("030c0d", [b"", ""]),
        ("03 0e0f 61 62", [b"a", "b"]),
        ("01", []),
    ],
)
def test_serial_types(payload: str, expected: list) -> None:
    """Each serial type gives the value that its definition says; a stored NaN is NULL."""
    assert list(values(bytes.fromhex(payload), Encoding.UTF8)) == expected


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("", "the data end inside an integer"),
        ("00", "header length"),
        ("0500", "header length"),
        ("020a", "serial type"),
        ("020b", "serial type"),
        ("02ff00", "the header ends inside an integer"),
        ("0206 00", "the payload ends inside a value"),
        ("0affffffffffffffffff", "the payload ends inside a value"),
    ],
)
def test_records_that_lie(payload: str, message: str) -> None:
    """A record that promises more than it has is refused, however much that is."""
    with pytest.raises(FormatError, match=message):
        list(values(bytes.fromhex(payload), Encoding.UTF8))


def test_more_columns_than_sqlite_has() -> None:
    """A header of a hundred thousand empty columns is refused before it fills the memory."""
    with pytest.raises(FormatError, match="columns"):
        fields(b"\x86\x8d\x24" + bytes(100_001))


def test_a_value_is_read_from_the_front_of_a_payload() -> None:
    """A column that lies in the part at hand is read although the payload goes on elsewhere."""
    key, large = fields(b"\x04\x13\xbf\x6cabc")
    assert value(b"\x04\x13\xbf\x6cabc", key, Encoding.UTF8) == "abc"
    with pytest.raises(FormatError, match="record: the payload ends inside a value: expected 4087, found 7"):
        value(b"\x04\x13\xbf\x6cabc", large, Encoding.UTF8)


@pytest.mark.parametrize(
    ("encoding", "stored", "expected"),
    [
        (Encoding.UTF8, "61c3bc", "aü"),
        (Encoding.UTF8, "eda080", "\ud800"),
        (Encoding.UTF8, "61ff62", "a\ufffdb"),
        (Encoding.UTF8, "610062", "a\0b"),
        (Encoding.UTF16_LE, "6100fc00", "aü"),
        (Encoding.UTF16_LE, "00d8", "\ud800"),
        (Encoding.UTF16_LE, "610062", "a\ufffd"),
        (Encoding.UTF16_BE, "006100fc", "aü"),
        (Encoding.UTF16_BE, "d834dd1e", "𝄞"),
    ],
)
def test_text(encoding: Encoding, stored: str, expected: str) -> None:
    """Lone surrogates and NUL pass, what is no character becomes U+FFFD, nothing is an error."""
    data = bytes.fromhex(stored)
    assert list(values(bytes([2, 13 + 2 * len(data)]) + data, encoding)) == [expected]


@given(st.floats())
def test_floats(number: float) -> None:
    """Every float reads back as SQLite returns it."""
    connection = apsw.Connection(":memory:")
    (expected,) = connection.execute("SELECT ?", (number,)).fetchone()
    (found,) = values(b"\2\7" + struct.pack(">d", number), Encoding.UTF8)
    assert found == expected
    assert found is None or math.copysign(1, found) == math.copysign(1, expected)
