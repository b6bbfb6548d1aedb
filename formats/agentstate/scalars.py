"""Numbers, and enums as names."""

from collections.abc import Callable

import msgspec

from formats.agentstate.schema import enum_names
from formats.errors import FormatError
from formats.protobuf import (
    Wire,
    double,
    fixed,
    signed32,
    signed64,
    single,
    unsigned32,
    varints,
    zigzag,
)


class Scalar(msgspec.Struct, frozen=True):
    """How values of one kind are stored, and what their bits mean."""

    wire: Wire
    read: Callable[[int], bool | int | float | str]


_NUMBERS = {
    "bool": Scalar(Wire.VARINT, bool),
    "int32": Scalar(Wire.VARINT, signed32),
    "int64": Scalar(Wire.VARINT, signed64),
    "uint32": Scalar(Wire.VARINT, unsigned32),
    "uint64": Scalar(Wire.VARINT, int),
    "sint32": Scalar(Wire.VARINT, zigzag),
    "double": Scalar(Wire.I64, double),
    "float": Scalar(Wire.I32, single),
}


def scalar(kind: str) -> Scalar | None:
    """How ``kind`` is stored, or nothing if it is text, bytes or a message."""
    names = enum_names(kind)
    if names is None:
        return _NUMBERS.get(kind)
    return Scalar(Wire.VARINT, lambda bits: names.get(signed32(bits), signed32(bits)))


def unpacked(one: Scalar, data: bytes) -> list[int]:
    """The bits of a packed repeated field.

    Raises:
        FormatError: The data are no whole number of values, or too many.
    """
    return varints(data) if one.wire is Wire.VARINT else fixed(data, one.wire)


def number(one: Scalar | None, wire: Wire, bits: int) -> bool | int | float | str:
    """The value of a field that is stored as ``wire``.

    Raises:
        FormatError: Values of this kind are not stored so.
    """
    if one is None or one.wire is not wire:
        expected = Wire.LEN if one is None else one.wire
        raise FormatError("wire type", where="field", expected=expected.name, found=wire.name)
    return one.read(bits)
