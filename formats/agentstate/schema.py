"""What the table says of one message: its fields by number and by name."""

import re
from enum import Enum
from functools import cache

import msgspec

from formats.agentstate.table import ENUMS, MESSAGES


class Form(Enum):
    """How many values a field has."""

    ONE = "one"
    MANY = "repeated"
    MAP = "map"


class FieldType(msgspec.Struct, frozen=True):
    """One field of a message.

    Attributes:
        kind: A scalar of protobuf such as ``int32``, the name of an enum, or the name of a message.
        oneof: The group of which one field at most has a value, if it is in one.
    """

    number: int
    name: str
    kind: str
    form: Form = Form.ONE
    oneof: str | None = None


class Shape(msgspec.Struct, frozen=True):
    """The fields of one message."""

    by_number: dict[int, FieldType]
    by_name: dict[str, FieldType]


_FIELD = re.compile(
    r"(?P<number>\d+) (?P<name>\w+) (?:(?P<form>repeated|map) )?(?:enum )?(?P<kind>[\w.]+)(?: in (?P<oneof>\w+))?"
)


@cache
def shape(name: str) -> Shape:
    """The shape of a message of the table.

    Raises:
        KeyError: The table has no such message.
    """
    fields = [_field(match) for match in _FIELD.finditer(MESSAGES[name])]
    return Shape({field.number: field for field in fields}, {field.name: field for field in fields})


@cache
def enum_names(kind: str) -> dict[int, str] | None:
    """The names of an enum by number, or nothing if ``kind`` is none."""
    if kind not in ENUMS:
        return None
    return {int(number): name for number, name in (value.split() for value in ENUMS[kind].split(", "))}


def _field(match: re.Match[str]) -> FieldType:
    form = Form(match["form"]) if match["form"] else Form.ONE
    return FieldType(int(match["number"]), match["name"], match["kind"], form, match["oneof"])
