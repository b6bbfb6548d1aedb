"""Decoders given anything: records or ``FormatError``, nothing dropped, work that grows with the input."""

import json
import sys
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.decoders.transcript import v1, v2
from formats.errors import FormatError
from formats.records import Origin
from formats.registry import DECODERS, decode

ORIGIN = Origin("s", "projects/p/agent-transcripts/c/c.jsonl")
DECODER = pytest.mark.parametrize("decoder", DECODERS, ids=lambda row: f"{row.store}-v{row.version}")

# The words that decoders look for, so that fuzzed values come into their paths.
NAMES = st.sampled_from(
    [
        "role", "message", "content", "type", "text", "name", "input", "id", "tool_use_id", "is_error", "error",
        "status", "metadata", "overview", "session_id", "memories", "alternatives", "option", "why_not", "title",
        "related_entities", "raw", "slug", "resolved", "timestamp", "tools_mentioned", "confidence_score", "a/b~c",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "user", "assistant", "tool", "text", "tool_use", "tool_result", "redacted", "turn_ended", "error", "metadata",
        "t1", "Read", "[REDACTED]", "<user_query>", "2026-07-27T22:16:05Z", "\ud800",
    ]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=20,
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "redacted", "other"])},
    optional=dict.fromkeys(
        ("text", "name", "id", "input", "tool_use_id", "content", "is_error"), WORDS | VALUES
    ),
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "other"]),
        "message": st.fixed_dictionaries(
            {"content": VALUES | st.lists(BLOCKS | VALUES, max_size=4)}, optional={"id": VALUES}
        ),
    },
    optional={"text": VALUES, "type": VALUES},
)
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["turn_ended", "error", "metadata"])},
    optional=dict.fromkeys(("status", "error", "message"), WORDS | VALUES)
    | {"metadata": st.fixed_dictionaries({"overview": WORDS}, optional={"text": VALUES})},
)
LINES = st.lists(MESSAGES | EVENTS | VALUES, min_size=1, max_size=4)
PARTS = st.lists(st.dictionaries(NAMES, WORDS | VALUES, max_size=4) | VALUES, max_size=3)
MEMORIES = st.lists(
    st.fixed_dictionaries(
        {"alternatives": PARTS, "related_entities": PARTS}, optional={"title": VALUES, "text": VALUES}
    )
    | VALUES,
    max_size=3,
)
MARKERS = st.sampled_from(
    [
        "user:",
        "assistant:",
        "[Thinking]",
        "[Tool call]",
        "[Tool result]",
        "<user_query>",
        "</user_query>",
        "<rules>",
        "</rules>",
        "",
        "x",
    ]
)
MARKUP = st.lists(MARKERS | st.text(max_size=12)).map("\n".join)


@DECODER
@given(
    data=st.binary() | MARKUP.map(lambda text: text.encode("utf-8", "surrogatepass")), tolerant=st.booleans()
)
def test_any_bytes(decoder, data, tolerant):
    """Any bytes give records or ``FormatError``."""
    with suppress(FormatError):
        decoder.decode(data, ORIGIN, tolerant=tolerant)


@DECODER
@given(lines=LINES, tolerant=st.booleans())
def test_any_json(decoder, lines, tolerant):
    """Any JSON of the members that decoders look for gives records or ``FormatError``."""
    with suppress(FormatError):
        decoder.decode("\n".join(map(json.dumps, lines)).encode(), ORIGIN, tolerant=tolerant)


@settings(max_examples=500)
@given(lines=LINES)
def test_no_word_of_a_line_is_dropped(lines):
    """Whatever the lines behind a known one hold, each word and number is in a record or in the residue.

    Every text is made unlike all others, but for the words that decoders act upon.
    """
    marks: list[str] = []
    data = "\n".join(json.dumps(_marked(line, marks)) for line in [{"type": "turn_ended"}, *lines]).encode()
    told = json.dumps(msgspec.to_builtins(decode("transcript", data, ORIGIN)))
    assert [mark for mark in marks if mark not in told] == []


@given(words=st.lists(MARKERS, max_size=12))
def test_no_word_of_a_text_is_dropped(words):
    """Whatever follows a first heading, each other word is in a record or in the residue."""
    marks = [f"mark{place}." for place in range(len(words))]
    lines = [
        f"{word}\n{mark}" if word.endswith(">") else f"{word} {mark}\n"
        for word, mark in zip(words, marks, strict=True)
    ]
    text = "user:\n" + "".join(lines).replace(": mark", ":\nmark")
    told = json.dumps(msgspec.to_builtins(v2.decode(text.encode(), ORIGIN)))
    assert [mark for mark in marks if mark not in told] == []


@given(value=st.dictionaries(NAMES, VALUES, max_size=8), memories=MEMORIES)
def test_no_word_of_a_memory_is_dropped(value, memories):
    """Whatever a memory's file holds, each word and number is in a record or in the residue."""
    marks: list[str] = []
    stored = _marked(value | {"session_id": "s", "memories": memories}, marks)
    told = json.dumps(
        msgspec.to_builtins(decode("memory", json.dumps(stored).encode(), Origin("s", "m.json")))
    )
    assert [mark for mark in marks if mark not in told] == []


def _marked(value, marks):
    if isinstance(value, dict):
        # The kind of a line or block is what a record says by being one.
        return {
            name: inner if name in {"type", "role"} else _marked(inner, marks)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_marked(inner, marks) for inner in value]
    if value in {"t1", "s"} or value is None or isinstance(value, bool):
        return value
    marks.append(f"mark{len(marks)}.")
    return marks[-1]


@pytest.mark.parametrize(
    ("decode_file", "piece"),
    [
        (v1.decode, b'{"role":"user","message":{"content":"' + b"<user_query>" * 50 + b'"}}\n'),
        (v1.decode, b'{"role":"user","message":{"content":"' + b"[Image]<rules></rules>" * 50 + b'"}}\n'),
        (
            v1.decode,
            b'{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","id":"t"}]}}\n',
        ),
        (v2.decode, b"user:\n<user_query>\n"),
        (v2.decode, b"assistant:\n[Thinking] a\n\nb\n[Tool call] R\n[Tool result] R\n[Tool result] S\n"),
        (v2.decode, b"assistant:\n" + b"[Thinking] a\n\nb\n" * 40),
    ],
)
def test_work_grows_with_the_input(decode_file, piece):
    """Eight times as much of what could be read again and again takes about eight times as many steps."""
    few, many = (_steps(decode_file, b"user:\n" * (decode_file is v2.decode) + piece * n) for n in (40, 320))
    assert many < 12 * few


def _steps(decode_file, data):
    count = 0

    def count_call(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(count_call)
    try:
        with suppress(FormatError):
            decode_file(data, ORIGIN)
    finally:
        sys.setprofile(None)
    return count
