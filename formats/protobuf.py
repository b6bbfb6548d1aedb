"""The wire format of Protocol Buffers: bytes as numbered fields in their order, without knowing the message.

What is accepted is encoded again to the same bytes. Two things are refused for that which other readers take:
integers that are longer than they need be, and groups, which proto3 has no word for. No encoder that is known to
write our sources produces either.

Source: https://protobuf.dev/programming-guides/encoding/ (2025).
"""

import struct
from collections.abc import Iterable
from enum import IntEnum

import msgspec

from formats.errors import FormatError

MAX_FIELDS = 1 << 18
"""Fields read at a time; they take some 25 MB, and no message that was seen has a hundredth of them."""

MAX_NUMBER = (1 << 29) - 1


class Wire(IntEnum):
    """How a value is stored, which is less than its type."""

    VARINT = 0
    I64 = 1
    LEN = 2
    I32 = 5


class Field(msgspec.Struct, frozen=True, gc=False):
    """One field as it is stored.

    Attributes:
        number: 1 to ``MAX_NUMBER``.
        wire: Says which values are possible.
        value: The bytes of a LEN field, otherwise the bits as an unsigned integer.
    """

    number: int
    wire: Wire
    value: int | bytes


_FIXED = {Wire.I64: struct.Struct("<Q"), Wire.I32: struct.Struct("<I")}
_WIRES = {int(wire): wire for wire in Wire}


def parse(data: bytes, at_most: int = MAX_FIELDS) -> list[Field]:
    """The fields of a message in their order.

    Raises:
        FormatError: The data are no message, or have more fields than ``at_most``.
    """
    found: list[Field] = []
    at = 0
    while at < len(data):
        if len(found) >= at_most:
            raise FormatError("fields", where="message", expected=f"at most {at_most}")
        field, at = _field(data, at)
        found.append(field)
    return found


def encode(fields: Iterable[Field]) -> bytes:
    """The message that ``parse`` reads as these fields.

    Raises:
        ValueError: A number or value does not fit its wire type.
    """
    out = bytearray()
    for field in fields:
        if not 1 <= field.number <= MAX_NUMBER:
            message = f"no field has the number {field.number}"
            raise ValueError(message)
        out += _encoded_varint(field.number << 3 | field.wire)
        out += _encoded_value(field)
    return bytes(out)


def varints(data: bytes) -> list[int]:
    """The unsigned integers of a packed repeated field.

    Raises:
        FormatError: The data end inside one, or hold more than ``MAX_FIELDS``.
    """
    # A varint has one byte, its last, below 128; counting them costs less than reading what is refused.
    count = len(data) - len(data.translate(None, bytes(range(128))))
    if count > MAX_FIELDS:
        raise FormatError("packed values", where="message", expected=f"at most {MAX_FIELDS}", found=count)
    found: list[int] = []
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
    return found


def fixed(data: bytes, wire: Wire) -> list[int]:
    """The bits of a packed repeated field of I64 or I32 values.

    Raises:
        FormatError: The data are no whole number of values, or hold more than ``MAX_FIELDS``.
    """
    codec = _FIXED[wire]
    if len(data) % codec.size or len(data) > MAX_FIELDS * codec.size:
        expected = f"at most {MAX_FIELDS} times {codec.size} bytes"
        raise FormatError("packed values", where="message", expected=expected, found=len(data))
    return [bits for (bits,) in codec.iter_unpack(data)]


def signed64(bits: int) -> int:
    """An ``int64`` or ``sfixed64``."""
    return bits - (1 << 64) if bits >> 63 else bits


def unsigned32(bits: int) -> int:
    """A ``uint32``; like every reader, this one drops the bits above."""
    return bits & 0xFFFFFFFF


def signed32(bits: int) -> int:
    """An ``int32``, ``sfixed32`` or enum; it is stored as 64 bits if it is negative."""
    low = unsigned32(bits)
    return low - (1 << 32) if low >> 31 else low


def zigzag(bits: int) -> int:
    """A ``sint32`` or ``sint64``."""
    return bits >> 1 ^ -(bits & 1)


def double(bits: int) -> float:
    """A ``double`` from an I64 field."""
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value


def single(bits: int) -> float:
    """A ``float`` from an I32 field."""
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def _field(data: bytes, at: int) -> tuple[Field, int]:
    start = at
    key, at = _varint(data, at)
    number, wire = key >> 3, _WIRES.get(key & 7)
    if not 1 <= number <= MAX_NUMBER:
        raise FormatError("field number", where=_offset(start), expected=f"1 to {MAX_NUMBER}", found=number)
    if wire is None:
        raise FormatError("wire type", where=_offset(start), expected="0, 1, 2 or 5", found=key & 7)
    if wire is Wire.VARINT:
        value, at = _varint(data, at)
        return Field(number, wire, value), at
    length, at = _varint(data, at) if wire is Wire.LEN else (_FIXED[wire].size, at)
    left = len(data) - at
    if length > left:
        raise FormatError("length", where=_offset(start), expected=f"at most {left}", found=length)
    if wire is Wire.LEN:
        return Field(number, wire, data[at : at + length]), at + length
    return Field(number, wire, int.from_bytes(data[at : at + length], "little")), at + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer of one to ten bytes at ``at``, and the offset behind it."""
    value = 0
    for index, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            if value >> 64 or (index and not byte):
                break
            return value, at + index + 1
    else:
        if len(data) - at < 10:
            raise FormatError("the data end inside an integer", where=_offset(at))
    raise FormatError("integer", where=_offset(at), expected="the shortest form of at most 64 bits")


def _encoded_value(field: Field) -> bytes:
    if isinstance(field.value, bytes) != (field.wire is Wire.LEN):
        message = f"field {field.number} cannot be stored as {field.wire.name}"
        raise ValueError(message)
    if isinstance(field.value, bytes):
        return _encoded_varint(len(field.value)) + field.value
    if field.wire is Wire.VARINT:
        return _encoded_varint(field.value)
    try:
        return _FIXED[field.wire].pack(field.value)
    except struct.error as error:
        message = f"field {field.number} does not fit {field.wire.name}"
        raise ValueError(message) from error


def _encoded_varint(value: int) -> bytes:
    if not 0 <= value < 1 << 64:
        message = f"{value} is no unsigned integer of 64 bits"
        raise ValueError(message)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _offset(at: int) -> str:
    return f"offset {at}"
