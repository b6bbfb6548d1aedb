"""Whatever the text is, it is read as Python's own parser reads it, or refused with a named error."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.jsontext import MAX_DEPTH, loads

texts = st.text(st.characters())
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
)
tokens = st.sampled_from(
    ["[", "]", "{", "}", ",", ":", '"', "\\", '"a"', "1", "-", "e9", "null", "NaN", " ", "\n", "[" * 300]
)


def _depth(value) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


@given(values, st.booleans())
def test_every_value_is_read(value, ascii_only):
    """What Python writes as JSON, lone surrogates included, is read back, from text and from bytes."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert loads(text) == value
    if ascii_only:
        assert loads(text.encode()) == value


@given(st.integers(MAX_DEPTH - 3, MAX_DEPTH + 3), values, st.booleans())
def test_depth_is_that_of_the_value(levels, value, as_object):
    """A document is refused exactly if its value nests deeper than the limit."""
    opening, closing = ('{"[":', "}") if as_object else ("[", "]")
    text = opening * levels + json.dumps(value) + closing * levels
    try:
        loads(text)
    except FormatError:
        assert levels + _depth(value) > MAX_DEPTH
    else:
        assert levels + _depth(value) <= MAX_DEPTH


@given(st.one_of(st.lists(tokens, max_size=40).map("".join), texts, st.binary(max_size=60)))
def test_anything_ends_with_a_value_or_a_named_error(data):
    """No text and no bytes raise anything but FormatError, and what is read is what Python reads."""
    with suppress(FormatError):
        value = loads(data)
        assert isinstance(data, bytes) or value == json.loads(data)
