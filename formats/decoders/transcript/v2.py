"""Transcripts of plain text (specs/decoders/transcript-v2.md)."""

import re
from bisect import bisect_left
from collections import defaultdict, deque

from msgspec.structs import replace

from formats.errors import FormatError
from formats.prompt import prompt
from formats.records import (
    CallStatus,
    Conversation,
    Decoded,
    Finding,
    Message,
    Origin,
    Residue,
    Role,
    Thinking,
    TimeKnown,
    ToolCall,
)
from formats.text import is_exact, utf8
from formats.tools import canonical
from formats.transcript_path import named

DECODER = "transcript/2"
STORE = "transcript"
THINKING, CALL, RESULT = "Thinking", "Tool call", "Tool result"
_HEADING = re.compile(r"(user|assistant):\s*")
_MARKER = re.compile(rf"\[({THINKING}|{CALL}|{RESULT})\] ?(.*)")
_QUERY, _QUERY_END = "<user_query>", "</user_query>"


def decode(data: bytes, origin: Origin, *, tolerant: bool = False) -> Decoded:
    """The conversation of a file of text with headings.

    Args:
        data: The whole file.
        origin: Snapshot and source; the source's path names the conversation.
        tolerant: Whether a file will do that begins with something else than a heading, as long as one follows.

    Raises:
        FormatError: The file is no such transcript.
    """
    text = utf8(data)
    before, *parts = _parts([line.removesuffix("\r") for line in text.split("\n")])
    if before.text and not (tolerant and parts):
        raise FormatError(
            "it does not begin with a heading", where="transcript", expected="user: or assistant:"
        )
    reader = _Reader(replace(origin, decoder=DECODER))
    if before.text:
        reader.residue["line 1"] = before.text
    if not is_exact(text, data):
        reader.note("bad-text", "some bytes are no UTF-8 and stand as U+FFFD")
    for part in parts:
        reader.part(part)
    return reader.decoded()


class _Part:
    """Lines that belong together.

    Args:
        kind: The word of their heading or marker; empty for more of the text.
        number: The number of the line that begins them, from 1.
        name: What stands behind the marker.
    """

    def __init__(self, kind: str, number: int, name: str = "") -> None:
        self.kind = kind
        self.number = number
        self.name = name
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        """The lines, without the empty ones around them."""
        return "\n".join(self.lines).strip("\n")


def _parts(lines: list[str]) -> list[_Part]:
    """The lines in their parts; the first part is what stands before the first heading.

    Between the wrappers of a prompt no line is a heading: people paste transcripts.
    """
    parts = [_Part("", 1)]
    closings = [index for index, line in enumerate(lines) if _QUERY_END in line]
    speaker, quoted_to = "", -1
    for index, line in enumerate(lines):
        free = index > quoted_to
        if free and (heading := _HEADING.fullmatch(line)):
            speaker = heading[1]
            parts.append(_Part(speaker, index + 1))
        elif speaker == "assistant" and (marker := _MARKER.fullmatch(line)):
            parts.append(_Part(marker[1], index + 1, marker[2].strip()))
        else:
            if free and speaker == "user" and line.startswith(_QUERY):
                quoted_to = _at_or_after(closings, index)
            if parts[-1].kind == THINKING and not line.strip():
                parts.append(_Part("", index + 1))
            parts[-1].lines.append(line)
    return parts


def _at_or_after(indexes: list[int], index: int) -> int:
    place = bisect_left(indexes, index)
    return indexes[place] if place < len(indexes) else index


class _Turn:
    """What one speaker says under one heading."""

    def __init__(self, heading: _Part) -> None:
        self.heading = heading
        self.texts = [heading.text]
        self.thoughts: list[str] = []
        self.call_count = 0


class _Reader:
    """What was read of a transcript so far."""

    def __init__(self, origin: Origin) -> None:
        self.residue: Residue = {}
        self._origin = origin
        self._name = named(origin.source)
        self._findings: list[Finding] = []
        self._turns: list[_Turn] = []
        self._calls: list[ToolCall] = []
        # By the name of a tool the places of its calls that still wait for a result.
        self._waiting: dict[str, deque[int]] = defaultdict(deque)

    def note(self, code: str, message: str) -> None:
        """Add a finding about the file."""
        self._findings.append(Finding(code, message, self._origin))

    def part(self, part: _Part) -> None:
        """Read one part; the first one is a heading."""
        if part.kind == THINKING:
            self._turns[-1].thoughts.append("\n".join([part.name, *part.lines]).strip("\n"))
        elif part.kind == CALL:
            self._called(part)
        elif part.kind == RESULT:
            self._answered(part)
        elif part.kind:
            self._turns.append(_Turn(part))
        else:
            self._turns[-1].texts.append(part.text)

    def decoded(self) -> Decoded:
        """Everything, the conversation first."""
        conversation = Conversation(
            id=self._name.id,
            store=STORE,
            origin=self._origin,
            message_count=len(self._turns),
            tool_call_count=len(self._calls),
            project=self._name.project,
            parent=self._name.parent,
        )
        messages = (self._message(turn, position) for position, turn in enumerate(self._turns))
        return Decoded(
            self._origin, (conversation, *messages, *self._calls), self.residue, tuple(self._findings)
        )

    def _message(self, turn: _Turn, position: int) -> Message:
        origin = self._at(turn.heading)
        message = Message(
            id=origin.at,
            conversation=self._name.id,
            position=position,
            role=Role(turn.heading.kind),
            origin=origin,
            text=_paragraphs(turn.texts),
            thinking=Thinking(_paragraphs(turn.thoughts)) if turn.thoughts else None,
        )
        return _unwrapped(message) if message.role is Role.USER else message

    def _called(self, part: _Part) -> None:
        origin, turn = self._at(part), self._turns[-1]
        call = ToolCall(
            id=origin.at,
            conversation=self._name.id,
            message=self._at(turn.heading).at,
            position=turn.call_count,
            name=canonical(part.name),
            original_name=part.name,
            origin=origin,
            arguments=part.text,
        )
        turn.call_count += 1
        self._waiting[part.name].append(len(self._calls))
        self._calls.append(call)

    def _answered(self, part: _Part) -> None:
        """Give the first call of that name that still waits its result."""
        waiting = self._waiting[part.name]
        if not waiting:
            self.residue[f"line {part.number}"] = "\n".join([f"[{RESULT}] {part.name}", *part.lines])
            return
        place = waiting.popleft()
        self._calls[place] = replace(self._calls[place], result=part.text, status=CallStatus.COMPLETED)

    def _at(self, part: _Part) -> Origin:
        return replace(self._origin, at=f"line {part.number}")


def _unwrapped(message: Message) -> Message:
    parts = prompt(message.text)
    return replace(
        message,
        text=parts.text,
        time_ms=parts.time_ms,
        time_known=TimeKnown.UNKNOWN if parts.time_ms is None else TimeKnown.STORED,
        attachments=parts.attachments,
        context=parts.context,
    )


def _paragraphs(texts: list[str]) -> str:
    return "\n\n".join(text for text in texts if text)
