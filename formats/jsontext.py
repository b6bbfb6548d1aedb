"""JSON as other people's software stores it: the one loader.

It takes what ``JSON.parse`` takes, with the same meaning: the last of equal keys wins, and a fraction too large for a
double is infinite. Integers stay exact. Strings keep lone surrogates, so ``json.dumps`` gives them back as they came;
whoever encodes such a string as UTF-8 must say what is to become of them.
"""

import json
from itertools import accumulate
from typing import NoReturn, TypeAlias

from formats.errors import FormatError
from formats.text import utf8

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

MAX_DEPTH = 256
"""Arrays and objects inside each other. Real ones stay below 30, and Python's own parser gives up before 1000."""

_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)) - _STEPS.keys())


def loads(data: bytes | str) -> Json:
    """The value of a JSON text; bytes are read as ``formats.text.utf8`` does, with or without a byte order mark.

    Raises:
        FormatError: It is no JSON, nests deeper than ``MAX_DEPTH``, or has an integer of more digits than Python
            takes (4300).
    """
    text = data if isinstance(data, str) else utf8(data.removeprefix(b"\xef\xbb\xbf"))
    _require_shallow(text)
    try:
        value: Json = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise FormatError(error.msg, where=f"JSON, character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        # An integer of too many digits, or a caller who has used up the stack.
        raise FormatError("cannot be read", where="JSON", found=error) from error
    return value


def embedded(value: Json) -> Json:
    """What a string holds that is JSON itself; any other value as it is, since writers did not always encode twice.

    Raises:
        FormatError: The string is no JSON.
    """
    return loads(value) if isinstance(value, str) else value


def _require_shallow(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    # In front of the first error of a broken text this is exact, and the parser does not come further.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    brackets = outside.encode("utf-8", "replace").translate(None, _NO_BRACKETS)
    depth = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if depth > MAX_DEPTH:
        raise FormatError("depth", where="JSON", expected=f"at most {MAX_DEPTH}", found=depth)


def _refuse(constant: str) -> NoReturn:
    raise FormatError("not a JSON value", where="JSON", found=constant)
