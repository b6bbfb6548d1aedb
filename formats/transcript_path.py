"""What the path of a transcript says of its conversation: the transcript itself names none."""

import msgspec


class Named(msgspec.Struct, frozen=True):
    """The conversation's id as the file name spells it, its parent's if it is a sub-agent's, the project's folder."""

    id: str
    parent: str | None
    project: str | None


def named(source: str) -> Named:
    """Read ``projects/<project>/agent-transcripts/…``.

    The last part is ``<id>.jsonl``, ``<id>.txt``, ``<id>/<id>.jsonl`` or ``<id>/subagents/<sub>.jsonl``.
    """
    parts = source.split("/")
    name = parts[-1].rpartition(".")[0] or parts[-1]
    parent = parts[-3] if len(parts) >= 3 and parts[-2] == "subagents" else None
    project = None
    if "agent-transcripts" in parts[1:]:
        project = parts[parts.index("agent-transcripts", 1) - 1]
    return Named(name, parent, project)
