"""What belongs to chats but is not one: tool output, plans, memories, the tracking of written code."""

from collections.abc import Sequence
from pathlib import Path

from .database import created
from .javascript import iso, js
from .layout import slug
from .seeded import derived_uuid
from .talk import Conversation, Entry

_TRACKING_SCHEMA = """
CREATE TABLE conversation_summaries (conversationId TEXT PRIMARY KEY, title TEXT, tldr TEXT, model TEXT, mode TEXT,
    updatedAt INTEGER);
CREATE TABLE ai_code_hashes (hash TEXT PRIMARY KEY, source TEXT, fileName TEXT, conversationId TEXT, timestamp INTEGER);
"""


def write_agent_tools(cursor_dir: Path, talk: Conversation) -> None:
    """Long output of the chat's tools, each in a file of its project."""
    folder = cursor_dir / "projects" / slug(talk.cwd) / "agent-tools"
    folder.mkdir(parents=True, exist_ok=True)
    for entry in talk.entries:
        if entry.tool:
            text = "".join(f"{line:5d} {entry.tool.output}\n" for line in range(20))
            (folder / f"{derived_uuid('output', entry.id)}.txt").write_text(text, encoding="utf-8")


def write_plan(cursor_dir: Path, talk: Conversation) -> None:
    """A plan that came of the chat."""
    folder = cursor_dir / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    steps = "".join(f"- [ ] {entry.text}\n" for entry in talk.entries if entry.kind == "thought")
    name = f"{slug(talk.title).lower()}_{talk.id[:8]}.plan.md"
    (folder / name).write_text(f"---\nname: {talk.title}\n---\n\n# {talk.title}\n\n{steps}", encoding="utf-8")


def write_tracking(cursor_dir: Path, talks: Sequence[Conversation]) -> None:
    """The database that says which chat wrote which code."""
    with created(cursor_dir / "ai-tracking" / "ai-code-tracking.db", _TRACKING_SCHEMA) as connection:
        for talk in talks:
            summary = (talk.id, talk.title, talk.entries[-1].text, talk.model, "agent", talk.updated_ms)
            connection.execute("INSERT INTO conversation_summaries VALUES (?, ?, ?, ?, ?, ?)", summary)
            edits = [entry for entry in talk.entries if entry.tool and entry.tool.kind == "edit"]
            for entry in edits:
                row = (
                    derived_uuid("hash", entry.id),
                    "composer",
                    entry.tool and entry.tool.path,
                    talk.id,
                    entry.at_ms,
                )
                connection.execute("INSERT INTO ai_code_hashes VALUES (?, ?, ?, ?, ?)", row)


def write_memory(root: Path, talk: Conversation) -> None:
    """What was kept of the chat as memories, in a file named by its date."""
    day, time = iso(talk.created_ms)[:19].split("T")
    name = f"{time.replace(':', '-')}-{slug(talk.title).lower()}"
    record = {
        "session_id": f"{day}-{name}",
        "timestamp": f"{day}T{time}Z",
        "last_updated": f"{iso(talk.updated_ms)[:19]}Z",
        "extraction_count": 1,
        "memories": [_memory(turn) for turn in talk.turns()],
        "suggestions": [],
    }
    folder = root / "memories" / day
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(js(record), encoding="utf-8")


def _memory(turn: list[Entry]) -> dict[str, object]:
    ask, answer = turn[0].text, turn[-1].text
    return {
        "type": "decision",
        "category": "technical",
        "title": answer.splitlines()[0][:100],
        "content": answer,
        "source_chunk": f"**User:** {ask}\n\n**Assistant:** {answer}",
        "confidence_score": 85,
        "related_entities": [],
        "tools_mentioned": [],
        "urls_mentioned": [],
        "target_agents": [],
    }
