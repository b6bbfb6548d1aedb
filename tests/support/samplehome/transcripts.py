"""Transcripts: what Cursor writes of a chat as text, lossy and in several forms."""

from pathlib import Path
from urllib.parse import quote

from archiver.model import Store

from .agentstate import messages
from .javascript import Json, js
from .layout import slug
from .model import SampleChat
from .seeded import derived_uuid
from .talk import Conversation, Entry


def transcript_dir(cursor_dir: Path, cwd: str) -> Path:
    """Where the transcripts of a project are."""
    return cursor_dir / "projects" / slug(cwd) / "agent-transcripts"


def transcript_path(cursor_dir: Path, talk: Conversation) -> Path:
    """The file that holds a chat's transcript in its usual form."""
    name = quote(talk.id, safe="!'()*").replace("%", "_")[:200]
    return transcript_dir(cursor_dir, talk.cwd) / name / f"{name}.jsonl"


def write_transcript(cursor_dir: Path, talk: Conversation, *, with_subagent: bool = False) -> Path:
    """The usual form, a folder for each chat; beside it the transcript of a subagent, if it had one.

    A transcript that is there already goes on with ``talk``.
    """
    path = transcript_path(cursor_dir, talk)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(_lines(talk))
    if with_subagent:
        sub = path.parent / "subagents" / f"{derived_uuid('subagent', talk.id)}.jsonl"
        sub.parent.mkdir(exist_ok=True)
        sub.write_text("\n".join(transcript_lines(talk, talk.turns()[0])), encoding="utf-8")
    return path


def write_flat(cursor_dir: Path, talk: Conversation, *, torn: bool) -> SampleChat:
    """An older form: one file in the project's folder; ``torn`` cuts its last line in the middle."""
    path = transcript_dir(cursor_dir, talk.cwd) / f"{talk.id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = _lines(talk) + js({"type": "turn_ended", "status": "success"}) + "\n"
    count = _lines(talk).count("\n")
    if torn:
        text, count = _lines(talk)[:-20], count - 1
    path.write_text(text, encoding="utf-8")
    return SampleChat(talk.id, "", Store.TRANSCRIPT, count, path)


def write_text(cursor_dir: Path, talk: Conversation) -> SampleChat:
    """The oldest form: text with a heading before each message."""
    path = transcript_dir(cursor_dir, talk.cwd) / f"{talk.id}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    paragraphs = [_paragraph(entry) for entry in talk.entries]
    path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    return SampleChat(talk.id, "", Store.TRANSCRIPT, len(paragraphs), path)


def transcript_lines(talk: Conversation, entries: list[Entry]) -> list[str]:
    """One turn as lines of JSON without line ends; results of tools are left out."""
    return [js(_line(message)) for message in messages(talk, entries) if message["role"] != "tool"]


def _lines(talk: Conversation) -> str:
    return "".join(f"{line}\n" for turn in talk.turns() for line in transcript_lines(talk, turn))


def _line(message: Json) -> Json:
    content = message["content"]
    if isinstance(content, str):
        return {"role": message["role"], "message": {"content": [{"type": "text", "text": content}]}}
    calls = [
        {"type": "tool_use", "name": part["toolName"], "input": part["args"]}
        for part in content
        if part["type"] == "tool-call"
    ]
    # The answer comes before the thought that led to it: the order is lost in Cursor's own transcripts too.
    texts = [part["text"] for kind in ("text", "reasoning") for part in content if part["type"] == kind]
    said = [{"type": "text", "text": "\n\n".join(texts)}] if texts else []
    return {"role": message["role"], "message": {"content": [*said, *calls]}}


def _paragraph(entry: Entry) -> str:
    if entry.tool:
        return f"[Tool call] {entry.tool.kind}\n  path: {entry.tool.path}\n\n[Tool result] {entry.tool.kind}"
    headings = {"prompt": "user:\n", "thought": "assistant:\n[Thinking] ", "answer": "assistant:\n"}
    return headings[entry.kind] + entry.text
