"""What a sample home is asked for and what is known of it."""

from pathlib import Path
from typing import Literal

import msgspec

from archiver.model import Store

Platform = Literal["linux", "macos", "windows"]

START_MS = 1_772_438_400_000
"""2026-03-02T08:00:00Z, when the first chat of a home begins unless told otherwise."""


class Scale(msgspec.Struct, frozen=True):
    """How much a home holds; at least five chats of the editor, three SDK agents, and one of all else.

    Attributes:
        workspaces: Folders that were opened in the editor (one is a remote, one a workspace file).
        ide_chats: Chats of the editor.
        tab_chats: Chats of its oldest form, in the first workspace's own database.
        lost_chats: Chats that only the `.corrupted` database still has.
        cli_chats: Chats of the command line agent; the last is an ACP session.
        sdk_agents: Agents of the SDK, over two projects and an NDJSON store.
        turns: Mean prompts a chat.
        file_lines: Mean lines of the files that tools read and edit.
    """

    workspaces: int
    ide_chats: int
    tab_chats: int
    lost_chats: int
    cli_chats: int
    sdk_agents: int
    turns: int
    file_lines: int


SMALL = Scale(
    workspaces=3, ide_chats=10, tab_chats=2, lost_chats=2, cli_chats=3, sdk_agents=6, turns=2, file_lines=12
)
DEMO = Scale(
    workspaces=8,
    ide_chats=170,
    tab_chats=6,
    lost_chats=9,
    cli_chats=24,
    sdk_agents=24,
    turns=10,
    file_lines=320,
)


class SampleWorkspace(msgspec.Struct, frozen=True):
    """A folder of ``workspaceStorage``.

    Attributes:
        id: Its name.
        folder: The project as the platform writes its path; empty for the empty window.
        uri: The same as the editor's URI; empty for the empty window.
        db: Its database.
    """

    id: str
    folder: str
    uri: str
    db: Path


class SampleChat(msgspec.Struct, frozen=True):
    """One chat of the home.

    Attributes:
        id: As the store has it.
        title: As the store has it; empty where a store keeps none.
        store: The kind of store that holds it.
        message_count: Its prompts, thoughts, tool calls and answers, each counted as one; for transcripts its
            lines with a role.
        path: The database or file that holds it; for the NDJSON store its folder.
    """

    id: str
    title: str
    store: Store
    message_count: int
    path: Path


class SampleHome(msgspec.Struct, frozen=True):
    """A user's home folder with everything that Cursor keeps there.

    Attributes:
        root: The user's home folder.
        platform: Whose layout it has.
        seed: What it was made from.
        scale: What it was made for.
        user_dir: The editor's ``User`` folder.
        cursor_dir: The ``.cursor`` folder of the command line and the SDK.
        global_db: The editor's global database; its `.backup` is beside it.
        corrupted_db: The renamed database beside it, which still has the lost chats.
        search_db: The editor's full-text index.
        ndjson_dir: The SDK's NDJSON store.
        workspaces: The editor's workspaces, the empty window last.
        chats: What Cursor would show.
        lost: Chats that only `corrupted_db` has.
    """

    root: Path
    platform: Platform
    seed: int
    scale: Scale
    user_dir: Path
    cursor_dir: Path
    global_db: Path
    corrupted_db: Path
    search_db: Path
    ndjson_dir: Path
    workspaces: tuple[SampleWorkspace, ...]
    chats: tuple[SampleChat, ...]
    lost: tuple[SampleChat, ...]

    @property
    def backup_db(self) -> Path:
        """The global database's copy from the last clean close."""
        return self.global_db.with_name("state.vscdb.backup")
