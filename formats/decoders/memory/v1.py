"""Memories of one session (specs/decoders/memory-v1.md)."""

from msgspec.structs import replace

from formats.errors import FormatError
from formats.fields import Fields
from formats.jsontext import loads
from formats.records import Alternative, Decoded, Entity, Finding, Memory, MemorySession, Origin
from formats.text import is_exact, utf8

DECODER = "memory/1"
_BAD_TEXT = "some bytes are no UTF-8 and stand as U+FFFD"


def decode(data: bytes, origin: Origin, *, tolerant: bool = False) -> Decoded:
    """The session and the memories of a file of JSON.

    Args:
        data: The whole file.
        origin: Snapshot and source.
        tolerant: Whether any object will do, even one without a session's id or a list of memories.

    Raises:
        FormatError: The file is no such object.
    """
    origin = replace(origin, decoder=DECODER)
    value = loads(data)
    if not isinstance(value, dict):
        raise FormatError("no JSON object", where="memories")
    fields = Fields(value)
    known = isinstance(value.get("session_id"), str) and isinstance(value.get("memories"), list)
    if not known and not tolerant:
        raise FormatError("no session_id with memories", where="memories")
    session = fields.text("session_id") or ""
    memories = tuple(
        _memory(item, session, position, replace(origin, at=item.at))
        for position, item in enumerate(fields.objects("memories"))
    )
    return Decoded(
        origin,
        (_session(fields, session, origin, memory_count=len(memories)), *memories),
        findings=() if is_exact(utf8(data), data) else (Finding("bad-text", _BAD_TEXT, origin),),
    )


def _session(fields: Fields, session: str, origin: Origin, *, memory_count: int) -> MemorySession:
    return MemorySession(
        id=session,
        origin=origin,
        memory_count=memory_count,
        created_ms=fields.time_ms("timestamp"),
        updated_ms=fields.time_ms("last_updated"),
        extraction_count=fields.integer("extraction_count"),
        suggestions=fields.any("suggestions"),
        residue=fields.residue(),
    )


def _memory(item: Fields, session: str, position: int, origin: Origin) -> Memory:
    return Memory(
        session=session,
        position=position,
        origin=origin,
        kind=item.text("type"),
        category=item.text("category"),
        title=item.text("title"),
        content=item.text("content"),
        source_text=item.text("source_chunk"),
        reasoning=item.text("reasoning"),
        alternatives=tuple(_alternative(option) for option in item.objects("alternatives")),
        selected_option=item.text("selected_option"),
        confidence=item.number("confidence_score"),
        entities=tuple(_entity(entity) for entity in item.objects("related_entities")),
        tools=item.texts("tools_mentioned"),
        urls=item.texts("urls_mentioned"),
        agents=item.texts("target_agents"),
        residue=item.residue(),
    )


def _alternative(fields: Fields) -> Alternative:
    return Alternative(option=fields.text("option"), why_not=fields.text("why_not"))


def _entity(fields: Fields) -> Entity:
    return Entity(
        kind=fields.text("type"),
        raw=fields.text("raw"),
        slug=fields.text("slug"),
        resolved=fields.flag("resolved"),
    )
