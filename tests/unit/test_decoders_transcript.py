"""Transcripts against what is written in them, by hand, by the sample home and by the real SDK."""

import json
import re
from datetime import UTC, datetime

import pytest

from archiver.model import Store
from formats.decoders.transcript import v1, v2
from formats.errors import FormatError
from formats.prompt import prompt
from formats.records import (
    CallStatus,
    Conversation,
    Event,
    Message,
    Origin,
    Role,
    Thinking,
    TimeKnown,
    ToolCall,
)
from formats.transcript_path import Named, named

ORIGIN = Origin("s", "projects/shop/agent-transcripts/c1/c1.jsonl")


def _said(role: str, *blocks: object) -> dict[str, object]:
    return {"role": role, "message": {"content": list(blocks)}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _decoded(*values: object):
    return v1.decode(b"".join(json.dumps(value).encode() + b"\n" for value in values), ORIGIN)


def _all(decoded, kind):
    return [record for record in decoded.records if isinstance(record, kind)]


def test_the_sdk_s_transcripts_leave_nothing_over(sdk_sample):
    """What the real SDK wrote is read without residue or findings, and says what a naive reader of its lines finds."""
    paths = sorted(sdk_sample.rglob("agent-transcripts/**/*.jsonl"))
    assert paths
    for path in paths:
        decoded = v1.decode(path.read_bytes(), Origin("s", path.relative_to(sdk_sample).as_posix()))
        assert (decoded.residue, decoded.findings) == ({}, ())
        assert [record.residue for record in decoded.records if record.residue] == []
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [(m.role, m.text) for m in _all(decoded, Message)] == [_naive(line) for line in lines]
        used = [
            block for line in lines for block in line["message"]["content"] if block["type"] == "tool_use"
        ]
        assert [(c.original_name, c.arguments) for c in _all(decoded, ToolCall)] == [
            (block["name"], block["input"]) for block in used
        ]


def _naive(line):
    texts = (block["text"] for block in line["message"]["content"] if block["type"] == "text")
    markup = re.compile(r"</?user_query>|^\[(?:Image|REDACTED)\]$", re.MULTILINE)
    return line["role"], "\n\n".join(markup.sub("", text).strip() for text in texts)


def test_the_sample_home_s_transcripts(home):
    """Every transcript of the sample home has the id, and as many messages, as the home says."""
    chats = [chat for chat in home.chats if chat.store == Store.TRANSCRIPT]
    assert {chat.path.suffix for chat in chats} == {".jsonl", ".txt"}
    for chat in chats:
        decode = v1.decode if chat.path.suffix == ".jsonl" else v2.decode
        decoded = decode(chat.path.read_bytes(), Origin("s", chat.path.as_posix()))
        (conversation,) = _all(decoded, Conversation)
        # The home counts a paragraph of text that is a tool call as a message.
        calls = conversation.tool_call_count if decode is v2.decode else 0
        assert (conversation.id, conversation.message_count + calls) == (chat.id, chat.message_count)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (".cursor/projects/shop/agent-transcripts/c1/c1.jsonl", Named("c1", None, "shop")),
        (".cursor/projects/shop/agent-transcripts/c1.txt", Named("c1", None, "shop")),
        ("projects/shop/agent-transcripts/c1/subagents/s.2.jsonl", Named("s.2", "c1", "shop")),
        ("agent-transcripts/c1.jsonl", Named("c1", None, None)),
        ("c1", Named("c1", None, None)),
        ("", Named("", None, None)),
    ],
)
def test_what_a_path_says(source, expected):
    """A transcript's path names the conversation, the project's folder, and the parent of a sub-agent."""
    assert named(source) == expected


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("Monday, Jul 27, 2026, 10:16 PM (UTC-6)", datetime(2026, 7, 28, 4, 16, tzinfo=UTC)),
        ("Friday, Nov 20, 2026, 12:05 AM (UTC+5:30)", datetime(2026, 11, 19, 18, 35, tzinfo=UTC)),
        ("Friday, Nov 20, 2026, 12:05 PM (UTC)", datetime(2026, 11, 20, 12, 5, tzinfo=UTC)),
        ("2026-11-20T23:40:37.477Z", datetime(2026, 11, 20, 23, 40, 37, 477000, tzinfo=UTC)),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-11-20T23:40:37", None),
        ("Friday, Nov 31, 2026, 12:05 PM (UTC)", None),
        ("Friday, Nov 20, 2026, 13:05 PM (UTC)", None),
        ("Friday, Nov 20, 2026, 1:05 PM (UTC+25)", None),
        ("yesterday", None),
    ],
)
def test_the_time_of_a_prompt(stamp, moment):
    """A prompt's time is stored if its wrapper names a moment and its zone, else unknown; the words always stay."""
    decoded = _decoded(
        _said("user", _text(f"<timestamp>{stamp}</timestamp>\n<user_query>\nhi\n</user_query>"))
    )
    (message,) = _all(decoded, Message)
    expected = None if moment is None else round(moment.timestamp() * 1000)
    known = TimeKnown.UNKNOWN if moment is None else TimeKnown.STORED
    assert (message.text, message.time_ms, message.time_known) == ("hi", expected, known)
    assert [(part.kind, part.text) for part in message.context] == [("timestamp", stamp)]


@pytest.mark.parametrize(
    ("text", "typed", "kinds"),
    [
        ("plain", "plain", []),
        ("look at <user_info>x</user_info>", "look at <user_info>x</user_info>", []),
        ("<user_query>a</user_query>\nb", "a\n\nb", []),
        ("<user_query>never closed", "<user_query>never closed", []),
        ("<div>x</div>", "<div>x</div>", []),
        (
            "<user_info></user_info><user_query> <rules>r</rules> </user_query>",
            "<rules>r</rules>",
            ["user_info"],
        ),
        ("<system_notification>done</system_notification>", "", ["system_notification"]),
    ],
)
def test_wrappers_are_taken_off_from_the_front_only(text, typed, kinds):
    """What Cursor puts before a prompt is context; the same words further on are the person's."""
    parts = prompt(text)
    assert (parts.text, [part.kind for part in parts.context]) == (typed, kinds)


def test_markers_of_images_and_files_are_attachments():
    """What stands for an image or a file around the words of a prompt is an attachment."""
    parts = prompt("[File: a b.pdf]\n<user_query>\nsee [Image]\n</user_query>\n[Image]")
    assert [(part.kind, part.name) for part in parts.attachments] == [("file", "a b.pdf"), ("image", "")]
    assert parts.text == "see [Image]"


@pytest.mark.parametrize(
    ("text", "seen", "hidden"),
    [
        ("[REDACTED]", "", True),
        ("Done.\n\n[REDACTED]\n", "Done.", True),
        ("The word [REDACTED]", "The word [REDACTED]", False),
        ("[REDACTED] is a word", "[REDACTED] is a word", False),
    ],
)
def test_redacted_thinking(text, seen, hidden):
    """The line that stands for hidden reasoning is none of the answer; the same word inside a line is."""
    (message,) = _all(_decoded(_said("assistant", _text(text))), Message)
    assert (message.text, message.thinking) == (seen, Thinking(redacted=True) if hidden else None)


def test_a_result_belongs_to_the_call_that_it_names():
    """A result goes to the call of its id, and says whether it failed; a second one, or one of no call, is residue."""
    call = {"type": "tool_use", "id": "t1", "name": "Shell", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    decoded = _decoded(_said("assistant", call), _said("tool", result), _said("tool", result))
    (made,) = _all(decoded, ToolCall)
    assert (made.id, made.name, made.result, made.status) == ("t1", "shell", "no", CallStatus.FAILED)
    assert made.message == _all(decoded, Message)[0].id
    first, second, third = (message.residue for message in _all(decoded, Message))
    assert (first, second) == ({}, {})
    assert third == {f"/message/content/0/{name}": value for name, value in result.items()}


def test_a_torn_last_line_is_a_finding_at_every_length():
    """Wherever the last line is cut, the lines before it are read, and what is left of it is kept and told."""
    whole, last = json.dumps(_said("user", _text("one"))) + "\n", json.dumps(_said("assistant", _text("two")))
    for length in range(1, len(last)):
        decoded = v1.decode((whole + last[:length]).encode(), ORIGIN)
        assert [message.text for message in _all(decoded, Message)] == ["one"]
        assert [(finding.code, finding.origin.at) for finding in decoded.findings] == [
            ("torn-line", "line 2")
        ]
        assert decoded.residue == {"line 2": last[:length]}


def test_what_happened_besides_messages():
    """Ends of turns and errors are events behind their message; the first overview is the summary, others are residue."""
    decoded = _decoded(
        {"type": "metadata", "metadata": {"overview": "first"}},
        _said("user", _text("hi")),
        {"type": "error", "error": "offline"},
        {"type": "turn_ended", "status": "aborted", "error": "stopped"},
        {"type": "metadata", "metadata": {"overview": "second"}},
    )
    (conversation,) = _all(decoded, Conversation)
    assert (conversation.summary, conversation.status) == ("first", "aborted")
    assert [(event.kind, event.after, event.status, event.text) for event in _all(decoded, Event)] == [
        ("error", "line 2", None, "offline"),
        ("turn-ended", "line 2", "aborted", "stopped"),
    ]
    assert decoded.residue == {"line 5/metadata/overview": "second"}


def test_what_is_no_transcript_is_refused():
    """Strictly read, a file needs a line of a known shape; tolerantly, an object."""
    for data, tolerated in [(b'{"a":1}\n', True), (b"\x00\x01", False), (b"[1]\n", False)]:
        with pytest.raises(FormatError, match="no line has a shape"):
            v1.decode(data, ORIGIN)
        if tolerated:
            assert v1.decode(data, ORIGIN, tolerant=True).residue == {"line 1/a": 1}
        else:
            with pytest.raises(FormatError):
                v1.decode(data, ORIGIN, tolerant=True)


def test_an_empty_file_is_an_empty_conversation():
    """A transcript without any line is one in which nothing was said."""
    for decode in (v1.decode, v2.decode):
        (conversation,) = decode(b"", ORIGIN).records
        assert isinstance(conversation, Conversation)
        assert conversation.empty


def test_text_s_parts():
    """In a transcript of text, thinking ends at an empty line, and a call's result is the next of its name."""
    text = (
        "assistant:\n[Thinking] one\ntwo\n\nsaid\n[Tool call] Read\n  path: a\n[Tool call] Read\n  path: b\n"
        "[Tool result] Read\nA\n[Tool result] Read\nB\n[Tool result] Read\nC\n"
    )
    decoded = v2.decode(text.encode(), ORIGIN)
    (message,) = _all(decoded, Message)
    assert (message.role, message.text, message.thinking) == (Role.ASSISTANT, "said", Thinking("one\ntwo"))
    calls = [(call.arguments, call.result, call.position) for call in _all(decoded, ToolCall)]
    assert calls == [("  path: a", "A", 0), ("  path: b", "B", 1)]
    assert decoded.residue == {"line 14": "[Tool result] Read\nC\n"}
