"""Transcripts of JSON lines (specs/decoders/transcript-v1.md)."""

import re

from msgspec.structs import replace

from formats.errors import FormatError
from formats.fields import Fields
from formats.jsontext import loads
from formats.prompt import prompt
from formats.records import (
    CallStatus,
    Conversation,
    Decoded,
    Event,
    Finding,
    Message,
    Origin,
    Record,
    Residue,
    Role,
    Thinking,
    TimeKnown,
    ToolCall,
)
from formats.text import is_exact, utf8
from formats.tools import canonical
from formats.transcript_path import named

DECODER = "transcript/1"
STORE = "transcript"
_REDACTED = re.compile(r"(?:^|\n)\[REDACTED\]\s*\Z")
_ROLES = frozenset(Role)


def decode(data: bytes, origin: Origin, *, tolerant: bool = False) -> Decoded:
    """The conversation of a file of JSON lines.

    Args:
        data: The whole file.
        origin: Snapshot and source; the source's path names the conversation.
        tolerant: Whether a file will do in which no line has a known shape, as long as one is an object.

    Raises:
        FormatError: The file is no such transcript.
    """
    reader = _Reader(replace(origin, decoder=DECODER))
    if not is_exact(utf8(data), data):
        reader.note("bad-text", "some bytes are no UTF-8 and stand as U+FFFD", reader.origin)
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            reader.line(number, line, last=number == len(lines))
    if reader.line_count and not (reader.known_count or (tolerant and reader.object_count)):
        raise FormatError("no line has a shape that is known", where="transcript")
    return reader.decoded()


class _Reader:
    """What was read of a transcript so far."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.residue: Residue = {}
        self.line_count = 0
        self.object_count = 0
        self.known_count = 0
        self._name = named(origin.source)
        self._findings: list[Finding] = []
        self._messages: list[Message] = []
        self._calls: list[ToolCall] = []
        self._events: list[Event] = []
        # By the id of a call its place among the calls, until a later line brings the result.
        self._waiting: dict[str, int] = {}
        self._status: str | None = None
        self._summary: str | None = None

    def note(self, code: str, message: str, origin: Origin) -> None:
        """Add a finding."""
        self._findings.append(Finding(code, message, origin))

    def line(self, number: int, line: bytes, *, last: bool) -> None:
        """Read one line; ``last`` if no line end follows it."""
        self.line_count += 1
        origin = replace(self.origin, at=f"line {number}")
        try:
            value = loads(line)
        except FormatError as error:
            code = "torn-line" if last else "bad-line"
            self.note(code, str(error.within(origin.at)), origin)
            self.residue[origin.at] = utf8(line)
            return
        if not isinstance(value, dict):
            self.note("bad-line", f"{origin.at}: no JSON object", origin)
            self.residue[origin.at] = value
            return
        self.object_count += 1
        fields = Fields(value)
        if self._take(fields, origin):
            self.known_count += 1
        else:
            self.note("unknown-line", f"{origin.at}: its shape is not known", origin)
        self.residue |= {f"{origin.at}{at}": left for at, left in fields.residue().items()}

    def decoded(self) -> Decoded:
        """Everything, the conversation first."""
        conversation = Conversation(
            id=self._name.id,
            store=STORE,
            origin=self.origin,
            message_count=len(self._messages),
            tool_call_count=len(self._calls),
            summary=self._summary,
            project=self._name.project,
            status=self._status,
            parent=self._name.parent,
        )
        records: tuple[Record, ...] = (conversation, *self._messages, *self._calls, *self._events)
        return Decoded(self.origin, records, self.residue, tuple(self._findings))

    def _take(self, fields: Fields, origin: Origin) -> bool:
        """Whether the line has a shape that is known; what it says is taken."""
        role, kind = fields.peek("role"), fields.peek("type")
        if role in _ROLES and (body := fields.members("message")):
            self._said(fields, body, origin)
        elif kind in {"turn_ended", "error"}:
            self._happened(fields, origin)
        elif kind == "metadata" and (metadata := fields.members("metadata")):
            fields.text("type")
            if self._summary is None:
                self._summary = metadata.text("overview")
        else:
            return False
        return True

    def _said(self, fields: Fields, body: Fields, origin: Origin) -> None:
        said = _Said()
        text = body.text("content")
        if text is not None:
            said.texts.append(text)
        for block in body.objects("content"):
            self._block(block, said, origin)
        message = Message(
            id=origin.at,
            conversation=self._name.id,
            position=len(self._messages),
            role=Role(fields.text("role") or ""),
            origin=origin,
            residue=fields.residue(),
        )
        self._messages.append(
            _asked(message, said) if message.role is Role.USER else _answered(message, said)
        )
        for call in said.calls:
            self._waiting[call.id] = len(self._calls)
            self._calls.append(call)

    def _block(self, block: Fields, said: "_Said", origin: Origin) -> None:
        kind = block.peek("type")
        if kind == "text" and (text := block.text("text")) is not None:
            said.texts.append(text)
        elif kind == "tool_use" and (name := block.text("name")):
            said.calls.append(self._call(block, name, len(said.calls), origin))
        elif kind == "tool_result" and block.peek("tool_use_id") in self._waiting:
            self._result(block)
        elif kind == "redacted":
            said.redacted = True
        else:
            return
        block.text("type")

    def _call(self, block: Fields, name: str, position: int, origin: Origin) -> ToolCall:
        block.text("type")
        at = f"{origin.at}{block.at}"
        return ToolCall(
            id=block.text("id") or at,
            conversation=self._name.id,
            message=origin.at,
            position=position,
            name=canonical(name),
            original_name=name,
            origin=replace(origin, at=at),
            arguments=block.any("input"),
            residue=block.residue(),
        )

    def _result(self, block: Fields) -> None:
        """Give a call its result; a second one for the same call is left over."""
        place = self._waiting.pop(block.text("tool_use_id") or "")
        status = CallStatus.FAILED if block.flag("is_error") else CallStatus.COMPLETED
        self._calls[place] = replace(self._calls[place], result=block.any("content"), status=status)

    def _happened(self, fields: Fields, origin: Origin) -> None:
        event = Event(
            conversation=self._name.id,
            kind="error" if fields.text("type") == "error" else "turn-ended",
            origin=origin,
            after=self._messages[-1].id if self._messages else None,
            status=fields.text("status"),
            text=fields.text("error"),
        )
        self._status = event.status or self._status
        self._events.append(replace(event, residue=fields.residue()))


class _Said:
    """What the blocks of one line hold."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[ToolCall] = []
        self.redacted = False


def _answered(message: Message, said: _Said) -> Message:
    texts = [_REDACTED.sub("", text) for text in said.texts]
    hidden = said.redacted or texts != said.texts
    return replace(message, text=_paragraphs(texts), thinking=Thinking(redacted=True) if hidden else None)


def _asked(message: Message, said: _Said) -> Message:
    prompts = [prompt(text) for text in said.texts]
    time_ms = next((part.time_ms for part in prompts if part.time_ms is not None), None)
    return replace(
        message,
        text=_paragraphs([part.text for part in prompts]),
        thinking=Thinking(redacted=True) if said.redacted else None,
        time_ms=time_ms,
        time_known=TimeKnown.UNKNOWN if time_ms is None else TimeKnown.STORED,
        attachments=tuple(found for part in prompts for found in part.attachments),
        context=tuple(found for part in prompts for found in part.context),
    )


def _paragraphs(texts: list[str]) -> str:
    return "\n\n".join(stripped for text in texts if (stripped := text.strip()))
