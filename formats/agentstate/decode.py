"""From the bytes of a blob to a message.

What a field cannot explain is kept as residue and the rest is read: an unknown number, another wire type, a nested
message that is broken or beyond the limits. So one strange field does not hide a conversation.
"""

from formats.agentstate.message import Message, Single, Value
from formats.agentstate.scalars import Scalar, number, scalar, unpacked
from formats.agentstate.schema import FieldType, Form, shape
from formats.errors import FormatError
from formats.protobuf import MAX_FIELDS, Field, Wire, parse
from formats.text import is_exact, utf8

MAX_DEPTH = 100
"""Messages inside each other; three of them for each level of JSON that a tool was given."""

MAX_BYTES = 1 << 27
"""Read of one blob, counting a byte once for each message that it lies in."""

_KEY = FieldType(1, "key", "string")


def decode(name: str, data: bytes) -> Message:
    """Read a blob as the message ``name``.

    Raises:
        FormatError: The data are no protobuf message, longer than ``MAX_BYTES``, or of more than ``MAX_FIELDS``.
        KeyError: The table has no such message.
    """
    return _Reading().message(name, data, 0)


class _Reading:
    """What may still be read of one blob, so that nesting cannot multiply the work."""

    def __init__(self) -> None:
        self._bytes = MAX_BYTES
        self._fields = MAX_FIELDS

    def message(self, name: str, data: bytes, depth: int) -> Message:
        known = shape(name)
        building = _Building()
        for field in self._parse(data, depth):
            kind = known.by_number.get(field.number)
            try:
                if kind is None:
                    building.residue.append(field)
                elif kind.form is Form.MAP:
                    building.add_entry(kind, field, *self._entry(kind, field, depth))
                else:
                    building.add(kind, field, self._values(kind, field, depth))
            except FormatError:
                building.residue.append(field)
        return building.message(name)

    def _parse(self, data: bytes, depth: int) -> list[Field]:
        if depth > MAX_DEPTH:
            raise FormatError("depth", where="message", expected=f"at most {MAX_DEPTH}")
        if len(data) > self._bytes:
            raise FormatError("length", where="message", expected=f"at most {self._bytes}", found=len(data))
        self._bytes -= len(data)
        fields = parse(data, self._fields)
        self._fields -= len(fields)
        return fields

    def _entry(self, kind: FieldType, field: Field, depth: int) -> tuple[str, Single]:
        """The key and value of a stored entry, which says nothing else, and neither of them twice."""
        if not isinstance(field.value, bytes):
            raise FormatError("wire type", where=kind.name, expected=Wire.LEN.name, found=field.wire.name)
        fields = self._parse(field.value, depth + 1)
        parts = {part.number: part for part in fields}
        if len(parts) < len(fields) or parts.keys() - {1, 2}:
            raise FormatError("not an entry of a map", where=kind.name)
        key = self._part(_KEY, parts.get(1), depth + 1)
        return str(key), self._part(kind, parts.get(2), depth + 1)

    def _part(self, kind: FieldType, field: Field | None, depth: int) -> Single:
        if field is None:
            return _empty(kind.kind)
        value = self._values(kind, field, depth)[0]
        if not _is_exact(value, field):
            raise FormatError("not UTF-8", where=kind.name)
        return value

    def _values(self, kind: FieldType, field: Field, depth: int) -> list[Single]:
        """What a stored field holds: one value, or any number if it is packed."""
        one = scalar(kind.kind)
        if isinstance(field.value, int):
            return [number(one, field.wire, field.value)]
        if one is not None:
            return self._packed(kind, one, field.value)
        if kind.kind == "string":
            return [utf8(field.value)]
        if kind.kind == "bytes":
            return [field.value]
        return [self.message(kind.kind, field.value, depth + 1)]

    def _packed(self, kind: FieldType, one: Scalar, data: bytes) -> list[Single]:
        bits = unpacked(one, data)
        if kind.form is not Form.MANY or len(bits) > self._fields:
            raise FormatError("packed values", where=kind.name, found=len(bits))
        self._fields -= len(bits)
        return [one.read(each) for each in bits]


class _Building:
    """A message while its fields come in; of several values for one place the last counts, the others are residue."""

    def __init__(self) -> None:
        self.residue: list[Field] = []
        self._values: dict[str, Value] = {}
        self._many: dict[str, list[Single]] = {}
        self._maps: dict[str, dict[str, Single]] = {}
        self._held: dict[tuple[str, str], tuple[str, Field]] = {}

    def add(self, kind: FieldType, field: Field, values: list[Single]) -> None:
        if kind.form is Form.MANY:
            self._values.setdefault(kind.name, ())
            self._many.setdefault(kind.name, []).extend(values)
        else:
            self._hold((kind.oneof or kind.name, ""), kind.name, field)
            self._values[kind.name] = values[0]
        if kind.kind == "string" and not _is_exact(values[0], field):
            self.residue.append(field)

    def add_entry(self, kind: FieldType, field: Field, key: str, value: Single) -> None:
        self._hold((kind.name, key), kind.name, field)
        entries = self._maps.setdefault(kind.name, {})
        entries[key] = value
        self._values[kind.name] = entries

    def message(self, name: str) -> Message:
        many = {key: tuple(values) for key, values in self._many.items()}
        return Message(name, self._values | many, tuple(self.residue))

    def _hold(self, place: tuple[str, str], name: str, field: Field) -> None:
        before, self._held[place] = self._held.get(place), (name, field)
        if before is not None:
            self.residue.append(before[1])
            if before[0] != name:
                del self._values[before[0]]


def _is_exact(value: Single, field: Field) -> bool:
    """Whether a value that may be text says all that is stored."""
    return not isinstance(value, str) or not isinstance(field.value, bytes) or is_exact(value, field.value)


def _empty(kind: str) -> Single:
    """What an entry of a map says that leaves out its key or value."""
    one = scalar(kind)
    if one is not None:
        return one.read(0)
    if kind == "string":
        return ""
    return b"" if kind == "bytes" else Message(kind, {})
