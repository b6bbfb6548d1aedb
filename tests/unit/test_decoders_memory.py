"""Memories against what is written in them."""

import json
from datetime import UTC, datetime

import pytest

from formats.decoders.memory import v1
from formats.errors import FormatError
from formats.records import Alternative, Entity, Memory, MemorySession, Origin

ORIGIN = Origin("snapshot-1", "memories/2026-07-27/22-16-05-cart.json")


def _decoded(value: object, *, tolerant: bool = False):
    return v1.decode(json.dumps(value).encode(), ORIGIN, tolerant=tolerant)


def test_the_sample_home_s_memories(home):
    """The memories of the sample home are read without residue, each with its words and times."""
    paths = sorted(home.root.glob("memories/*/*.json"))
    assert paths
    for path in paths:
        stored = json.loads(path.read_text())
        session, *memories = v1.decode(path.read_bytes(), ORIGIN).records
        assert isinstance(session, MemorySession)
        moment = datetime.fromtimestamp((session.created_ms or 0) / 1000, tz=UTC)
        assert f"{moment:%Y-%m-%dT%H:%M:%SZ}" == stored["timestamp"]
        assert [(m.title, m.content, m.source_text, m.confidence) for m in memories] == [
            (m["title"], m["content"], m["source_chunk"], m["confidence_score"]) for m in stored["memories"]
        ]
        assert [record.residue for record in (session, *memories) if record.residue] == []


def test_alternatives_and_entities():
    """Each alternative says why it was not taken, each entity what it stands for, as far as that is stored."""
    memory = {
        "alternatives": [{"option": "X", "why_not": "slow"}, {"option": "Y"}],
        "related_entities": [
            {"type": "person", "raw": "Ada", "slug": "ada", "resolved": True},
            {"raw": "it", "slug": None, "resolved": False},
        ],
    }
    decoded = _decoded({"session_id": "s", "memories": [memory]})
    (read,) = (record for record in decoded.records if isinstance(record, Memory))
    assert read.alternatives == (Alternative("X", "slow"), Alternative("Y"))
    assert read.entities == (Entity("person", "Ada", "ada", True), Entity(None, "it", None, False))
    assert (read.session, read.residue) == ("s", {})


def test_provenance_is_the_caller_s_and_the_decoder_s():
    """Every record names the snapshot and source that it was given, the decoder, and its place in the file."""
    decoded = _decoded({"session_id": "s", "memories": [{}, {}]})
    assert {(r.origin.snapshot, r.origin.source, r.origin.decoder) for r in decoded.records} == {
        ("snapshot-1", ORIGIN.source, "memory/1")
    }
    assert [record.origin.at for record in decoded.records] == ["", "/memories/0", "/memories/1"]


@pytest.mark.parametrize(
    "value", [{}, {"session_id": "s"}, {"memories": []}, {"session_id": 1, "memories": []}]
)
def test_an_object_of_another_layout(value):
    """Without a session's id and a list of memories the file is refused, and in tolerant mode kept as residue."""
    with pytest.raises(FormatError, match="no session_id with memories"):
        _decoded(value)
    (session,) = _decoded(value, tolerant=True).records
    assert isinstance(session, MemorySession)
    assert session.memory_count == 0


@pytest.mark.parametrize("data", [b"", b"[]", b'"text"', b"{", b"\xff\xfe"])
def test_what_is_no_object_is_refused(data):
    """Anything but a JSON object is refused in either mode."""
    for tolerant in (False, True):
        with pytest.raises(FormatError):
            v1.decode(data, ORIGIN, tolerant=tolerant)
