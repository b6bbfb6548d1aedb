"""The one JSON loader: what other software writes and other loaders do not take."""

import json
import math

import pytest

from formats.errors import FormatError
from formats.jsontext import MAX_DEPTH, embedded, loads


def test_lone_surrogates_survive():
    """Half a character that JavaScript wrote, escaped or in bytes, is kept, and written back as it came."""
    assert loads('"\\ud83d"') == loads(b'"\xed\xa0\xbd"') == "\ud83d"
    assert json.dumps(loads(b'{"a": "x\\udc00y"}')) == '{"a": "x\\udc00y"}'
    assert loads('"\\ud83d\\ude00"') == "😀"


def test_broken_utf8_hides_nothing_else():
    """A byte that is no text becomes the replacement character; the rest of the document is read."""
    assert loads(b'{"text": "caf\xe9", "id": 7}') == {"text": "caf\ufffd", "id": 7}


def test_a_byte_order_mark_is_no_part_of_the_text():
    """Bytes may start with a byte order mark."""
    assert loads(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_constants_of_javascript_are_refused(text):
    """NaN and infinities are no JSON, although Python's own parser takes them."""
    with pytest.raises(FormatError, match="not a JSON value"):
        loads(text)


def test_numbers_are_exact_or_those_of_javascript():
    """Integers keep all digits, fractions overflow to infinity, and an absurd integer is refused with a name."""
    assert loads("[12345678901234567890123, -0.5]") == [12345678901234567890123, -0.5]
    assert loads("1e999") == math.inf
    with pytest.raises(FormatError, match="JSON: cannot be read"):
        loads("9" * 10_000)


def test_the_last_of_equal_keys_wins():
    """Of equal keys the last counts, as for JSON.parse."""
    assert loads('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"[": ', "}]")])
def test_depth_has_a_limit(opening, closing):
    """Nesting is read down to the limit, and refused beyond it, whole or cut off."""
    levels = MAX_DEPTH // (opening.count("{") + opening.startswith("["))
    assert loads(opening * levels + "0" + closing * levels) is not None
    for text in (opening * (levels + 1) + "0" + closing * (levels + 1), opening * 100_000):
        with pytest.raises(FormatError, match="depth"):
            loads(text)


def test_brackets_inside_strings_do_not_count():
    """Text may hold any number of brackets, quotes and backslashes."""
    text = '\\"[{' * MAX_DEPTH + "\\" + '"' + "[" * 1000
    assert loads(json.dumps({"text": text})) == {"text": text}


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', "[1,]", "'a'", '"\n"', "1 2", '"\\x"', b"\x00\xff"])
def test_what_is_no_json_is_refused(text):
    """Whatever JSON.parse refuses is a FormatError."""
    with pytest.raises(FormatError):
        loads(text)


def test_json_inside_a_string_is_unpacked():
    """A string is read as the JSON it holds, one level at a time; other values are left alone."""
    assert embedded('{"a": [1]}') == {"a": [1]}
    assert embedded(json.dumps(json.dumps([1]))) == "[1]"
    assert (embedded({"a": 1}), embedded(None), embedded(7)) == ({"a": 1}, None, 7)
    with pytest.raises(FormatError):
        embedded("plain text")
