"""Records: the columns of a row inside its payload.

A record's header is read once, each value only when it is asked for, so that a column near the front can be had
from the local part of a payload alone.

Source: https://sqlite.org/fileformat2.html, "Record Format".
"""

import math
import struct
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from formats.errors import FormatError
from formats.sqlite.header import Encoding
from formats.sqlite.pages import Data
from formats.sqlite.varint import varint

Value: TypeAlias = int | float | str | bytes | None

MAX_FIELDS = 32767
"""The most columns that SQLite can be built for."""

_LENGTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
_CODECS = {Encoding.UTF8: "utf-8", Encoding.UTF16_LE: "utf-16-le", Encoding.UTF16_BE: "utf-16-be"}
_FLOAT = struct.Struct(">d")


class Field(msgspec.Struct, frozen=True, gc=False):
    """Where one column's value lies in a payload, and of what serial type it is."""

    serial: int
    offset: int
    length: int


def fields(payload: Data) -> list[Field]:
    """The columns that the record's header names; the payload may be cut off behind the header.

    Raises:
        FormatError: The header is not whole, or uses a serial type that SQLite reserves.
    """
    end, at = varint(payload, 0)
    if not at <= end <= len(payload):
        raise FormatError("header length", where="record", expected=f"{at} to {len(payload)}", found=end)
    found: list[Field] = []
    offset = end
    while at < end:
        serial, at = varint(payload, at)
        found.append(Field(serial, offset, _length(serial)))
        offset += found[-1].length
        if len(found) > MAX_FIELDS:
            raise FormatError("columns", where="record", expected=f"at most {MAX_FIELDS}")
    if at > end:
        raise FormatError("the header ends inside an integer", where="record")
    return found


def value(payload: Data, field: Field, encoding: Encoding) -> Value:
    """The value of one column, as SQLite would return it.

    Text that is not valid is kept as far as Python can hold it: lone surrogates pass, what is no character at all
    becomes U+FFFD. The payload's bytes remain the truth. The row's own number, where a column is an alias of it,
    is stored as NULL.

    Raises:
        FormatError: The payload ends before the value does.
    """
    end = field.offset + field.length
    if end > len(payload):
        raise FormatError("the payload ends inside a value", where="record", expected=end, found=len(payload))
    data = bytes(payload[field.offset : end])
    if field.serial >= 12:
        return _text(data, encoding) if field.serial & 1 else data
    if field.serial == 7:
        number: float = _FLOAT.unpack(data)[0]
        return None if math.isnan(number) else number
    if field.serial in {8, 9}:
        return field.serial - 8
    return int.from_bytes(data, "big", signed=True) if data else None


def values(payload: Data, encoding: Encoding) -> Iterator[Value]:
    """The values of all columns, each read when it is asked for.

    Raises:
        FormatError: As ``fields`` and ``value``.
    """
    for field in fields(payload):
        yield value(payload, field, encoding)


def _length(serial: int) -> int:
    if serial >= 12:
        return (serial - 12) // 2
    if serial in {10, 11}:
        raise FormatError("serial type", where="record", expected="none of 10 and 11", found=serial)
    return _LENGTHS[serial]


def _text(data: bytes, encoding: Encoding) -> str:
    codec = _CODECS[encoding]
    try:
        return data.decode(codec, "surrogatepass")
    except UnicodeDecodeError:
        return data.decode(codec, "replace")
