"""MessagePack and JSON to typed values, with one error for all that can be wrong."""

from typing import TypeVar

import msgspec

from archiver.errors import DamageError

T = TypeVar("T")

_pack = msgspec.msgpack.Encoder()
_json = msgspec.json.Encoder()


def to_msgpack(value: object) -> bytes:
    """``value`` as MessagePack."""
    return _pack.encode(value)


def to_json(value: object) -> bytes:
    """``value`` as compact JSON."""
    return _json.encode(value)


def from_msgpack(data: bytes, kind: type[T], name: str) -> T:
    """The value that ``data`` holds.

    Raises:
        DamageError: It is not MessagePack of that shape; ``name`` is named.
    """
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamageError(f"{name} is not {kind.__name__} in MessagePack: {error}") from error


def from_json(data: bytes, kind: type[T], name: str) -> T:
    """The value that ``data`` holds.

    Raises:
        DamageError: It is not JSON of that shape; ``name`` is named.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamageError(f"{name} is not {kind.__name__} in JSON: {error}") from error
