"""Which files of Cursor's are sources, by folder and name (specs/sources.md)."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from archiver.model import Store

ANY_DEPTH = "**"
DATABASES = ("state.vscdb*", "*.db", "*.db.*")


class Rule(msgspec.Struct, frozen=True):
    """Files of these names in these folders belong to this store.

    Attributes:
        folders: Globs of folder names, separated by ``/``; ``**`` at the end stands for no folder up to ``depth``.
        names: Globs of file names; SQLite's sidecar files are not named here.
        depth: How many folders ``**`` may stand for.
        stray: The folders are the user's own, and hold a source only by chance.
    """

    store: Store
    folders: str
    names: tuple[str, ...]
    depth: int = 6
    stray: bool = False

    def spelled_out(self) -> list[list[str]]:
        """The folder names without ``**``, one list for each depth."""
        folders = self.folders.split("/")
        if folders[-1] != ANY_DEPTH:
            return [folders]
        return [folders[:-1] + ["*"] * depth for depth in range(self.depth + 1)]


def below(folder: str, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The same rules, one or more folders deeper."""
    return tuple(msgspec.structs.replace(rule, folders=f"{folder}/{rule.folders}") for rule in rules)


def is_database(name: str) -> bool:
    """Whether a file of this name is to be treated as SQLite; what its bytes are is found at capture."""
    return not name.endswith(".json") and any(fnmatchcase(name, glob) for glob in DATABASES)


NDJSON = ("agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson")
DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"

USER = (
    Rule(Store.IDE_GLOBAL, "globalStorage", ("state.vscdb*",)),
    Rule(Store.IDE_SEARCH, "globalStorage", ("conversation-search.db*",)),
    Rule(Store.IDE_WORKSPACE, "workspaceStorage/*", ("state.vscdb*", "workspace.json", "obsolete")),
)
"""Below the editor's ``User`` folder."""

CURSOR = (
    Rule(Store.CLI_CHAT, "chats/**", ("store.db", "*.json")),
    Rule(Store.CLI_CHAT, "acp-sessions/**", ("store.db", "*.json")),
    Rule(Store.CLI_CHAT, "agent-sessions/**", ("*.db", "*.json", "*.jsonl")),
    Rule(Store.CLI_CHAT, "conversations/**", ("*.db", "*.json", "*.jsonl")),
    Rule(Store.CLI_CHAT, "sessions/**", ("*.db", "*.json", "*.jsonl")),
    Rule(Store.SDK_INDEX, "projects/**", ("index.db",)),
    Rule(Store.SDK_AGENT, "projects/**", ("store.db",)),
    Rule(Store.SDK_NDJSON, "projects/**", NDJSON),
    Rule(Store.TRANSCRIPT, "projects/*/agent-transcripts/**", ("*.jsonl", "*.txt")),
    Rule(Store.AGENT_TOOLS, "projects/*/agent-tools/**", ("*.txt",)),
    Rule(Store.PLAN, "plans", ("*.plan.md",)),
    Rule(Store.AI_TRACKING, "ai-tracking", ("ai-code-tracking.db",)),
)
"""Below the folder of the CLI agent and the SDK, ``~/.cursor`` unless it was moved."""

MEMORIES = (Rule(Store.MEMORY, DATE, ("*.json",)),)
"""Below a ``memories`` folder."""

CONFIG = below("Cursor*/User", USER) + below("cursor", CURSOR)
"""Below ``XDG_CONFIG_HOME``."""

PERSON = (
    *below(".config", CONFIG),
    *below("Library/Application Support/Cursor*/User", USER),
    *below("AppData/Roaming/Cursor*/User", USER),
    *below(".cursor-server/data/User", USER),
    *below(".cursor", CURSOR),
)
"""Below anybody's home, whichever platform wrote it: homes are copied, mounted and examined elsewhere."""

HOME = (
    *PERSON,
    *below("memories", MEMORIES),
    Rule(Store.SDK_NDJSON, "projects*/**", NDJSON, depth=4, stray=True),
)
"""Below the home that is to be archived."""
