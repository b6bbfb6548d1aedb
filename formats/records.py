"""The canonical model: what was said and done, whichever store and version it was read from (specs/records.md).

Every record says where it came from, and carries as residue what no field of it explains. ``None`` means that the
store does not say; it is never a guess. Times are integer milliseconds since 1970, UTC.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from formats.jsontext import Json

Residue: TypeAlias = dict[str, Json]
"""By place, what nothing explains: a JSON pointer from the top of the row, file or line; ``line 7`` of a file."""


class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where bytes came from, as far as their kind of store has such places.

    Attributes:
        snapshot: The snapshot's id; the caller's knowledge, as is ``source``.
        source: The source's path inside the home, ``/``-separated.
        decoder: Store and version of the decoder: ``transcript/1``.
        table: The table of a database.
        key: The key of its row.
        blob: The id of a blob that Cursor itself addresses by content.
        at: The place inside the row, blob or file: a JSON pointer, ``line 7``, or both together.
    """

    snapshot: str
    source: str
    decoder: str = ""
    table: str = ""
    key: str = ""
    blob: str = ""
    at: str = ""


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class TimeKnown(StrEnum):
    """How a message's time is known."""

    STORED = "stored"
    INTERPOLATED = "interpolated"
    """From its neighbours: it lies between their times."""
    UNKNOWN = "unknown"


class CallStatus(StrEnum):
    """How far a tool call came."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Decision(StrEnum):
    """What the person decided on something that was proposed."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class Conversation(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A chat, or the part of one that a sub-agent had.

    Attributes:
        id: Cursor's id; for transcripts as their file name spells it.
        store: The kind of source, as ``archiver.model.Store`` names it.
        workspace: The project's folder: a URI or path.
        project: The name of the folder under ``projects/``, from which the path cannot be told.
        status: Cursor's own word.
        parent: The conversation that this one works for, if it is a sub-agent's.
        children: The conversations of its sub-agents, as far as this store names them.
        message_count: Messages decoded, superseded ones not counted.
    """

    id: str
    store: str
    origin: Origin
    message_count: int
    tool_call_count: int
    title: str | None = None
    summary: str | None = None
    workspace: str | None = None
    project: str | None = None
    created_ms: int | None = None
    updated_ms: int | None = None
    mode: str | None = None
    status: str | None = None
    model: str | None = None
    parent: str | None = None
    children: tuple[str, ...] = ()
    archived: bool | None = None
    draft: bool | None = None
    residue: Residue = {}

    @property
    def empty(self) -> bool:
        """Whether nothing was said in it."""
        return self.message_count == 0


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True):
    """Reasoning before an answer; ``redacted`` if there was some that Cursor does not show."""

    text: str = ""
    redacted: bool = False
    duration_ms: int | None = None


class Tokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a message cost."""

    input_count: int | None = None
    output_count: int | None = None
    cache_read_count: int | None = None
    cache_write_count: int | None = None
    reasoning_count: int | None = None


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """An image or file that the person added; ``name`` is its path, URI or name, ``blob`` its content's id."""

    kind: str
    name: str = ""
    blob: str = ""


class Context(msgspec.Struct, frozen=True):
    """What Cursor added to a prompt by itself; ``kind`` is Cursor's word, such as ``user_info``."""

    kind: str
    text: str


class Message(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """One thing said.

    Attributes:
        id: Cursor's id, or where it has none the place in the source; unique in its conversation.
        conversation: Its conversation's id.
        position: Its place in the thread, from 0.
        text: What was said, without the wrappers that Cursor puts around a prompt.
        superseded: Whether an edit or a second try took its place: it is no part of the thread.
    """

    id: str
    conversation: str
    position: int
    role: Role
    origin: Origin
    text: str = ""
    thinking: Thinking | None = None
    time_ms: int | None = None
    time_known: TimeKnown = TimeKnown.UNKNOWN
    model: str | None = None
    tokens: Tokens | None = None
    attachments: tuple[Attachment, ...] = ()
    context: tuple[Context, ...] = ()
    superseded: bool = False
    residue: Residue = {}


class ToolCall(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """One use of a tool by the assistant.

    Attributes:
        id: Cursor's id, or where it has none the place in the source; unique in its conversation.
        message: The id of the message that asked for it.
        position: Its place among the calls of that message, from 0.
        name: The canonical name (specs/records.md), or the original one where none is known.
        original_name: The name as it is stored.
    """

    id: str
    conversation: str
    message: str
    position: int
    name: str
    original_name: str
    origin: Origin
    arguments: Json = None
    result: Json = None
    status: CallStatus = CallStatus.UNKNOWN
    decision: Decision | None = None
    started_ms: int | None = None
    duration_ms: int | None = None
    residue: Residue = {}


class Fate(msgspec.Struct, frozen=True):
    """What became of one run of changed lines; lines count from 1, ``end_line`` is the last one."""

    decision: Decision
    start_line: int
    end_line: int


class FileChange(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A change to a file: its text before and after, or the difference, as far as they are stored.

    Attributes:
        message: The id of the message it belongs to, if that is known.
        tool_call: The id of the call that made it, if that is known.
        decision: For the whole change; ``fates`` where its parts were decided apart.
    """

    conversation: str
    path: str
    origin: Origin
    message: str | None = None
    tool_call: str | None = None
    before: str | None = None
    after: str | None = None
    diff: str | None = None
    decision: Decision | None = None
    fates: tuple[Fate, ...] = ()
    residue: Residue = {}


class CheckpointFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file at a checkpoint; ``exists`` is false where the checkpoint says that there was none."""

    path: str
    exists: bool = True
    text: str | None = None
    diff: str | None = None


class Checkpoint(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """The state of files to which the person could go back; ``folders`` are those that it found newly made."""

    id: str
    conversation: str
    origin: Origin
    message: str | None = None
    time_ms: int | None = None
    files: tuple[CheckpointFile, ...] = ()
    folders: tuple[str, ...] = ()
    residue: Residue = {}


class Todo(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A task that the assistant keeps for itself; ``status`` is Cursor's own word."""

    id: str
    conversation: str
    position: int
    content: str
    origin: Origin
    status: str | None = None
    dependencies: tuple[str, ...] = ()
    residue: Residue = {}


class Event(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """Something noted in a conversation that is no message: a turn's end, an error.

    Attributes:
        kind: ``turn-ended`` or ``error``.
        after: The id of the message it follows, if there is one.
        status: Cursor's own word for how the turn ended.
    """

    conversation: str
    kind: str
    origin: Origin
    after: str | None = None
    status: str | None = None
    text: str | None = None
    residue: Residue = {}


class Alternative(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option that a decision turned down, and why."""

    option: str | None = None
    why_not: str | None = None


class Entity(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody or something that a memory names.

    Attributes:
        kind: Such as ``person`` or ``project``.
        raw: The words found in the text.
        slug: The normalized name, if there is one.
        resolved: Whether it is known what the words stand for.
    """

    kind: str | None = None
    raw: str | None = None
    slug: str | None = None
    resolved: bool | None = None


class Memory(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """Something worth keeping that was extracted from a session.

    Attributes:
        session: The id of its session.
        position: Its place in the session's file, from 0.
        kind: Such as ``decision`` or ``insight``.
        source_text: The words of the conversation that it was taken from.
        confidence: 50 to 100 by the format's own rules; kept as it is stored.
    """

    session: str
    position: int
    origin: Origin
    kind: str | None = None
    category: str | None = None
    title: str | None = None
    content: str | None = None
    source_text: str | None = None
    reasoning: str | None = None
    alternatives: tuple[Alternative, ...] = ()
    selected_option: str | None = None
    confidence: int | float | None = None
    entities: tuple[Entity, ...] = ()
    tools: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    residue: Residue = {}


class MemorySession(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A session that memories were extracted from; ``suggestions`` are kept as they are stored."""

    id: str
    origin: Origin
    memory_count: int
    created_ms: int | None = None
    updated_ms: int | None = None
    extraction_count: int | None = None
    suggestions: Json = None
    residue: Residue = {}


Record: TypeAlias = (
    Conversation | Message | ToolCall | FileChange | Checkpoint | Todo | Event | Memory | MemorySession
)


class Finding(msgspec.Struct, frozen=True):
    """Something that a reader must hear of, though it did not stop the decoder.

    Attributes:
        code: A short stable word for programs, such as ``torn-line``.
        message: One sentence for people, lower case, without a full stop.
    """

    code: str
    message: str
    origin: Origin


class Decoded(msgspec.Struct, frozen=True):
    """All that a decoder read from its bytes; ``residue`` is what belongs to none of the records."""

    origin: Origin
    records: tuple[Record, ...] = ()
    residue: Residue = {}
    findings: tuple[Finding, ...] = ()
