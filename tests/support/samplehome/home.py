"""A whole home: all stores of one invented developer."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from archiver.model import Store

from .bystanders import write_bystanders
from .cli import write_cli
from .composers import VERSIONS, Composer
from .database import changing, put_items
from .globaldb import put_composers, write_global, write_older_global
from .layout import project_folder, user_dir
from .model import SMALL, START_MS, Platform, SampleChat, SampleHome, SampleWorkspace, Scale
from .ndjson import write_ndjson
from .sdk import write_sdk
from .searchdb import write_search
from .sidefiles import write_agent_tools, write_memory, write_plan, write_tracking
from .talk import Conversation, converse
from .topics import PROJECTS
from .transcripts import write_flat, write_text, write_transcript
from .workspacedb import plan_workspaces, tab_items, tab_message_count, write_workspace

_HOUR_MS = 3_600_000


class _Plan(msgspec.Struct, frozen=True):
    seed: int
    scale: Scale
    start_ms: int

    def talks(self, kind: str, count: int, folders: Sequence[str]) -> list[Conversation]:
        """``count`` chats a few hours apart, held in ``folders`` in turn."""
        return [
            converse(
                self.seed,
                f"{kind}/{index}",
                cwd=folders[index % len(folders)],
                start_ms=self.start_ms + index * 5 * _HOUR_MS,
                turns=self.scale.turns,
                file_lines=self.scale.file_lines,
            )
            for index in range(count)
        ]


def make_home(
    root: Path, *, platform: Platform = "linux", seed: int = 1, scale: Scale = SMALL, start_ms: int = START_MS
) -> SampleHome:
    """Write a home and say what is in it; the same arguments give the same rows.

    Args:
        root: The user's home folder; made when missing, and must not have a Cursor home yet.
        platform: Whose layout it gets; the folders named inside are that platform's too.
        seed: Another seed gives other chats.
        scale: How much of everything.
        start_ms: When the first chat began.

    Returns:
        The home as a Cursor left it that was closed, but for an agent of the SDK and one of the command line
        that were killed.
    """
    plan = _Plan(seed, scale, start_ms)
    user, cursor = user_dir(root, platform), root / ".cursor"
    workspaces = plan_workspaces(user / "workspaceStorage", platform, scale.workspaces)
    composers = _composers(
        plan.talks("ide", scale.ide_chats, [w.folder for w in workspaces[:-1]]), workspaces
    )
    tabs = plan.talks("tab", scale.tab_chats, [workspaces[0].folder])
    lost = _composers(plan.talks("lost", scale.lost_chats, [workspaces[0].folder]), workspaces)
    home = SampleHome(
        root=root,
        platform=platform,
        seed=seed,
        scale=scale,
        user_dir=user,
        cursor_dir=cursor,
        global_db=user / "globalStorage" / "state.vscdb",
        corrupted_db=user / "globalStorage" / f"state.vscdb.corrupted.{composers[-2].talk.created_ms}",
        search_db=user / "globalStorage" / "conversation-search.db",
        ndjson_dir=root / "projects" / "agents-jsonl",
        workspaces=workspaces,
        chats=(),
        lost=(),
    )
    _write_editor(home, composers, lost, tabs)
    _write_texts(home, [composer.talk for composer in composers if composer.version >= 14])
    chats = [*_ide_chats(composers, home.global_db), *_tab_chats(tabs, workspaces[0].db)]
    chats += _write_agents(home, plan) + _write_transcripts(home, plan)
    return msgspec.structs.replace(home, chats=tuple(chats), lost=tuple(_ide_chats(lost, home.corrupted_db)))


def _composers(talks: Sequence[Conversation], workspaces: Sequence[SampleWorkspace]) -> list[Composer]:
    """The chats in all versions in turn, some of them archived, without an agent's state, or odd."""
    by_folder = {workspace.folder: workspace for workspace in workspaces}
    return [
        Composer(
            talk=talk,
            version=VERSIONS[index % len(VERSIONS)],
            workspace=by_folder[talk.cwd],
            archived=index % 7 == 5,
            stateless=index % 10 == 1,
            odd=index % 4 == 2,
        )
        for index, talk in enumerate(talks)
    ]


def _write_editor(
    home: SampleHome, composers: list[Composer], lost: list[Composer], tabs: list[Conversation]
) -> None:
    write_global(home.global_db, composers[:-1], home.seed)
    shutil.copy(home.global_db, home.backup_db)
    # The newest chat came after the last clean close, so the backup lacks it.
    with changing(home.global_db, hot=False) as connection:
        put_composers(connection, composers[-1:])
    home.global_db.with_name("state.vscdb.options.json").write_text('{"useWAL":true}')
    # It was put aside just before the last two chats, and the chats that were lost then are still in it.
    write_older_global(home.corrupted_db, [*lost, *composers[:-2]])
    write_search(home.search_db, composers)
    for index, workspace in enumerate(home.workspaces):
        write_workspace(workspace, index, [c for c in composers if c.workspace == workspace])
    with changing(home.workspaces[0].db) as connection:
        put_items(connection, tab_items(tabs))
    write_bystanders(home.user_dir, home.cursor_dir, home.workspaces[0].folder)


def _write_texts(home: SampleHome, talks: Sequence[Conversation]) -> None:
    """What some chats of the editor leave outside its databases; real homes have a transcript for a few only."""
    for index, talk in enumerate(talks[::3]):
        write_transcript(home.cursor_dir, talk, with_subagent=index == 0)
    write_agent_tools(home.cursor_dir, talks[0])
    write_plan(home.cursor_dir, talks[0])
    write_memory(home.root, talks[0])
    write_tracking(home.cursor_dir, talks)


def _write_agents(home: SampleHome, plan: _Plan) -> list[SampleChat]:
    folders = [project_folder(home.platform, name) for name in PROJECTS]
    cli = plan.talks("cli", plan.scale.cli_chats, folders[:2])
    third = plan.scale.sdk_agents // 3
    newer, older = _agents(plan, "D", third, folders[1]), _agents(plan, "A", third, folders[2])
    newer[0] = msgspec.structs.replace(newer[0], id="nightly check/ü")
    other = _agents(plan, "ndjson", plan.scale.sdk_agents - 2 * third, folders[0])
    for talk in [*cli, *newer, *older, *other]:
        write_transcript(home.cursor_dir, talk)
    return [
        *write_cli(home.cursor_dir, cli),
        *write_sdk(home.cursor_dir, newer, "D"),
        *write_sdk(home.cursor_dir, older, "A"),
        *write_ndjson(home.ndjson_dir, other),
    ]


def _agents(plan: _Plan, kind: str, count: int, folder: str) -> list[Conversation]:
    talks = plan.talks(f"sdk/{kind}", count, [folder])
    return [msgspec.structs.replace(talk, id=f"agent-{talk.id}") for talk in talks]


def _write_transcripts(home: SampleHome, plan: _Plan) -> list[SampleChat]:
    """Chats of which nothing but a transcript is left, one of each older form."""
    whole, torn, text = plan.talks("transcript", 3, [home.workspaces[0].folder])
    return [
        write_flat(home.cursor_dir, whole, torn=False),
        write_flat(home.cursor_dir, torn, torn=True),
        write_text(home.cursor_dir, text),
    ]


def _ide_chats(composers: Sequence[Composer], path: Path) -> list[SampleChat]:
    talks = [composer.talk for composer in composers]
    return [SampleChat(talk.id, talk.title, Store.IDE_GLOBAL, len(talk.entries), path) for talk in talks]


def _tab_chats(talks: Sequence[Conversation], path: Path) -> list[SampleChat]:
    return [
        SampleChat(talk.id, talk.title, Store.IDE_WORKSPACE, tab_message_count(talk), path) for talk in talks
    ]
