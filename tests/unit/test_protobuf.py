"""The wire format, against the examples of its own documentation and against bytes that break its rules."""

import pytest

from formats.errors import FormatError
from formats.protobuf import (
    MAX_FIELDS,
    Field,
    Wire,
    double,
    encode,
    fixed,
    parse,
    signed32,
    signed64,
    single,
    unsigned32,
    varints,
    zigzag,
)

EXAMPLES = {
    "089601": [Field(1, Wire.VARINT, 150)],
    "120774657374696e67": [Field(2, Wire.LEN, b"testing")],
    "1a03089601": [Field(3, Wire.LEN, bytes.fromhex("089601"))],
    "08feffffffffffffffff01": [Field(1, Wire.VARINT, 2**64 - 2)],
    "0dffffffff": [Field(1, Wire.I32, 2**32 - 1)],
    "09000000000000f03f": [Field(1, Wire.I64, 0x3FF0000000000000)],
    "0a001000": [Field(1, Wire.LEN, b""), Field(2, Wire.VARINT, 0)],
    "f8ffffff0f01": [Field(2**29 - 1, Wire.VARINT, 1)],
}


@pytest.mark.parametrize(("stored", "fields"), EXAMPLES.items())
def test_fields_are_read_as_documented(stored, fields):
    """The examples of the encoding guide, and the extremes of each wire type, are read and written."""
    assert parse(bytes.fromhex(stored)) == fields
    assert encode(fields).hex() == stored


@pytest.mark.parametrize(
    ("stored", "what"),
    [
        ("08", "the data end inside an integer"),
        ("0896", "the data end inside an integer"),
        ("80", "the data end inside an integer"),
        ("0affffffffffffffffff01", "length"),
        ("0a0574657374", "length"),
        ("0900000000000000", "length"),
        ("0d000000", "length"),
        ("0001", "field number"),
        ("808080801001", "field number"),
        ("0b0c", "wire type"),
        ("7b7d", "wire type"),
        ("0e00", "wire type"),
        ("089600", "integer"),
        ("08ffffffffffffffffff02", "integer"),
        ("08ffffffffffffffffffff01", "integer"),
    ],
)
def test_broken_messages_are_refused_by_name(stored, what):
    """Integers and lengths beyond the end, number 0, groups, and integers that are too long say what is wrong."""
    with pytest.raises(FormatError) as caught:
        parse(bytes.fromhex(stored))
    assert caught.value.what == what


def test_too_many_fields_are_refused():
    """A message of more fields than the caller takes is an error, and one of just as many is read."""
    assert len(parse(b"\x08\x01" * 5, at_most=5)) == 5
    with pytest.raises(FormatError, match="at most 5"):
        parse(b"\x08\x01" * 6, at_most=5)
    with pytest.raises(FormatError, match=str(MAX_FIELDS)):
        varints(bytes(MAX_FIELDS + 1))
    with pytest.raises(FormatError, match=str(MAX_FIELDS)):
        fixed(bytes(4 * MAX_FIELDS + 4), Wire.I32)


def test_packed_values_are_read_as_documented():
    """The guide's packed example gives its three numbers, fixed values their bits, and half a value is an error."""
    assert varints(bytes.fromhex("038e029ea705")) == [3, 270, 86942]
    assert fixed(bytes.fromhex("0100000002000000"), Wire.I32) == [1, 2]
    assert fixed(bytes.fromhex("0100000000000000"), Wire.I64) == [1]
    with pytest.raises(FormatError):
        varints(b"\x80")
    with pytest.raises(FormatError):
        fixed(bytes(7), Wire.I32)


def test_bits_become_numbers_as_documented():
    """The guide's table of zigzag values, the ends of the signed types, and floats with known bits."""
    assert [zigzag(bits) for bits in (0, 1, 2, 3, 0xFFFFFFFE, 0xFFFFFFFF)] == [
        0,
        -1,
        1,
        -2,
        2**31 - 1,
        -(2**31),
    ]
    assert [signed64(bits) for bits in (2**64 - 2, 2**63, 2**63 - 1)] == [-2, -(2**63), 2**63 - 1]
    assert [signed32(bits) for bits in (2**64 - 2, 2**31, 2**31 - 1)] == [-2, -(2**31), 2**31 - 1]
    assert unsigned32(2**32 + 5) == 5
    assert (double(0xC000000000000000), single(0x40490FDB)) == (-2.0, pytest.approx(3.1415927))


@pytest.mark.parametrize(
    "field",
    [
        Field(0, Wire.VARINT, 1),
        Field(2**29, Wire.VARINT, 1),
        Field(1, Wire.VARINT, -1),
        Field(1, Wire.VARINT, 2**64),
        Field(1, Wire.I32, 2**32),
        Field(1, Wire.I64, -1),
        Field(1, Wire.LEN, 1),
        Field(1, Wire.VARINT, b""),
    ],
    ids=str,
)
def test_what_does_not_fit_is_not_written(field):
    """A number or value that its wire type cannot hold is a mistake of the caller."""
    with pytest.raises(ValueError, match=r"field|integer"):
        encode([field])
