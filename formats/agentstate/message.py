"""A decoded message as a value."""

from collections.abc import Iterator
from typing import TypeAlias, TypeVar, Union

import msgspec

from formats.agentstate.schema import FieldType, shape
from formats.protobuf import Field

Single: TypeAlias = Union[bool, int, float, str, bytes, "Message"]
Value: TypeAlias = Single | tuple[Single, ...] | dict[str, Single]
T = TypeVar("T", bool, int, float, str, bytes, "Message")


class Message(msgspec.Struct, frozen=True):
    """What one message says.

    The accessors take the table's field names and raise ``KeyError`` for any other, so that a misspelt name is no
    absent value. ``kind`` is the Python type that is wanted; a value of another type counts as absent, as does an enum
    that has no name when ``str`` is asked for.

    Attributes:
        name: Of the message, as the table has it.
        fields: By name, in the order of the bytes, without those that the bytes leave out. Enums are their names, or
            numbers without a name; maps are dicts, repeated fields tuples.
        residue: The stored fields that ``fields`` does not say, or not exactly.
    """

    name: str
    fields: dict[str, Value]
    residue: tuple[Field, ...] = ()

    def one(self, name: str, kind: type[T]) -> T | None:
        """The value of a field that has one, or nothing."""
        value = self.fields.get(self._known(name).name)
        return value if isinstance(value, kind) else None

    def many(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """The values of a repeated field."""
        found = self.fields.get(self._known(name).name)
        if not isinstance(found, tuple):
            return ()
        return tuple(value for value in found if isinstance(value, kind))

    def entries(self, name: str, kind: type[T]) -> dict[str, T]:
        """The entries of a map."""
        found = self.fields.get(self._known(name).name)
        if not isinstance(found, dict):
            return {}
        return {key: value for key, value in found.items() if isinstance(value, kind)}

    def chosen(self, oneof: str) -> tuple[str, Value] | None:
        """The name and value of the field that a oneof has, or nothing."""
        members = {field.name for field in shape(self.name).by_name.values() if field.oneof == oneof}
        if not members:
            raise KeyError(oneof)
        return next(((name, value) for name, value in self.fields.items() if name in members), None)

    def _known(self, name: str) -> FieldType:
        return shape(self.name).by_name[name]


def unexplained(message: Message) -> Iterator[tuple[str, Field]]:
    """The residue of a message and of all inside it, each with the path of the message that it belongs to."""
    yield from ((message.name, field) for field in message.residue)
    for name, value in message.fields.items():
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        for one in inner:
            if isinstance(one, Message):
                yield from ((f"{message.name}.{name}/{path}", field) for path, field in unexplained(one))
