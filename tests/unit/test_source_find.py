"""Where sources are looked for, what they are called, and what is said about the rest."""

import os
import sys
from pathlib import Path

import pytest

from archiver.model import Store
from archiver.source.find import Places, find
from tests.support import sdk_samples

USER_FOLDERS = [
    ".config/Cursor/User",
    ".config/Cursor Nightly/User",
    "Library/Application Support/Cursor/User",
    "AppData/Roaming/Cursor/User",
    ".cursor-server/data/User",
]

IN_USER = {
    "globalStorage/state.vscdb": (Store.IDE_GLOBAL, True),
    "globalStorage/state.vscdb.backup": (Store.IDE_GLOBAL, True),
    "globalStorage/state.vscdb.corrupted.1767225600000": (Store.IDE_GLOBAL, True),
    "globalStorage/state.vscdb.options.json": (Store.IDE_GLOBAL, False),
    "globalStorage/conversation-search.db": (Store.IDE_SEARCH, True),
    "workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb": (Store.IDE_WORKSPACE, True),
    "workspaceStorage/0123456789abcdef0123456789abcdef/state.vscdb.backup": (Store.IDE_WORKSPACE, True),
    "workspaceStorage/0123456789abcdef0123456789abcdef/workspace.json": (Store.IDE_WORKSPACE, False),
    "workspaceStorage/empty-window/state.vscdb.corrupted.1767225600000": (Store.IDE_WORKSPACE, True),
    "workspaceStorage/1767225600000/obsolete": (Store.IDE_WORKSPACE, False),
}

IN_CURSOR = {
    "chats/208d0f11/439f5c23/store.db": (Store.CLI_CHAT, True),
    "chats/208d0f11/439f5c23/meta.json": (Store.CLI_CHAT, False),
    "chats/208d0f11/439f5c23/prompt_history.json": (Store.CLI_CHAT, False),
    "chats/208d0f11/439f5c23/pasted_text.json": (Store.CLI_CHAT, False),
    "acp-sessions/439f5c23/store.db": (Store.CLI_CHAT, True),
    "agent-sessions/208d0f11/439f5c23/store.db": (Store.CLI_CHAT, True),
    "conversations/439f5c23.json": (Store.CLI_CHAT, False),
    "sessions/439f5c23/store.db": (Store.CLI_CHAT, True),
    "projects/home-dev-shop/sdk-agent-store/dc93260e/index.db": (Store.SDK_INDEX, True),
    "projects/home-dev-shop/sdk-agent-store/dc93260e/agents/agent-7e34/store.db": (Store.SDK_AGENT, True),
    "projects/home-dev-shop/own/agents.ndjson": (Store.SDK_NDJSON, False),
    "projects/home-dev-shop/own/runs.ndjson": (Store.SDK_NDJSON, False),
    "projects/home-dev-shop/own/run_events.ndjson": (Store.SDK_NDJSON, False),
    "projects/home-dev-shop/own/checkpoints.ndjson": (Store.SDK_NDJSON, False),
    "projects/home-dev-shop/agent-transcripts/a.jsonl": (Store.TRANSCRIPT, False),
    "projects/home-dev-shop/agent-transcripts/a.txt": (Store.TRANSCRIPT, False),
    "projects/home-dev-shop/agent-transcripts/b/b.jsonl": (Store.TRANSCRIPT, False),
    "projects/home-dev-shop/agent-transcripts/b/subagents/c.jsonl": (Store.TRANSCRIPT, False),
    "projects/home-dev-shop/agent-tools/70aa0b9d.txt": (Store.AGENT_TOOLS, False),
    "plans/cart.plan.md": (Store.PLAN, False),
    "ai-tracking/ai-code-tracking.db": (Store.AI_TRACKING, True),
}

NOT_LOOKED_FOR = [
    ".config/Cursor/User/settings.json",
    ".config/Cursor/User/globalStorage/storage.json",
    ".config/Cursor/User/workspaceStorage/state.vscdb",
    ".config/Code/User/globalStorage/state.vscdb",
    ".cursor/projects/home-dev-shop/terminals/1.txt",
    ".cursor/projects/home-dev-shop/canvases/node_modules/x/store.db",
    ".cursor/projects/home-dev-shop/.git/store.db",
    ".cursor/plans/notes.md",
    "projects/shop/index.db",
    "projects/shop/node_modules/agents.ndjson",
    "projects/1/2/3/4/5/agents.ndjson",
    "memories/notes.json",
]


def touch(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def look(home, env=None, **places):
    found = find(Places(home, env or {}, **places))
    assert [source.path for source in found.sources] == sorted({source.path for source in found.sources})
    return found


def paths(found):
    return [source.path for source in found.sources]


@pytest.mark.spec("SO-1")
@pytest.mark.spec("SO-2")
@pytest.mark.spec("SO-5")
@pytest.mark.parametrize("user", USER_FOLDERS)
def test_an_editor_is_found_in_every_platforms_layout(tmp_path, user):
    """All that an editor keeps is found under its own path, with its store, on whatever platform we run."""
    touch(tmp_path, *(f"{user}/{path}" for path in IN_USER))
    found = look(tmp_path)
    assert {s.path: (s.store, s.sqlite) for s in found.sources} == {
        f"{user}/{p}": v for p, v in IN_USER.items()
    }
    assert all(source.file == tmp_path / source.path for source in found.sources)
    assert (found.roots, found.problems) == ({}, ())


@pytest.mark.spec("SO-1")
@pytest.mark.parametrize("root", [".cursor", ".config/cursor"])
def test_the_agent_and_the_sdk_are_found(tmp_path, root):
    """All that the CLI agent and the SDK keep is found, flat and nested, present and former."""
    touch(tmp_path, *(f"{root}/{path}" for path in IN_CURSOR))
    found = look(tmp_path)
    assert {s.path: (s.store, s.sqlite) for s in found.sources} == {
        f"{root}/{p}": v for p, v in IN_CURSOR.items()
    }


def test_nothing_else_is_taken(tmp_path):
    """Settings, other editors, other files and deep or foreign folders are none of ours."""
    touch(tmp_path, *NOT_LOOKED_FOR)
    assert paths(look(tmp_path)) == []


@pytest.mark.spec("SO-4")
def test_strays_among_the_users_own_projects(tmp_path):
    """The SDK's files are found up to four folders below any folder of the home that is called projects."""
    touch(tmp_path, "projects/agents-jsonl/agents.ndjson", "projects-old/1/2/3/4/runs.ndjson")
    assert paths(look(tmp_path)) == [
        "projects-old/1/2/3/4/runs.ndjson",
        "projects/agents-jsonl/agents.ndjson",
    ]


def test_memories(tmp_path):
    """Memories are found by date, in the home and in further folders, which get roots of their own."""
    home, one, two = tmp_path / "home", tmp_path / "one", tmp_path / "two"
    for folder in (home / "memories", one, two):
        touch(folder, "2026-01-31/10-00-00-cart.json")
    found = look(home, memories=(one, two))
    assert paths(found) == [
        "@memories-2/2026-01-31/10-00-00-cart.json",
        "@memories/2026-01-31/10-00-00-cart.json",
        "memories/2026-01-31/10-00-00-cart.json",
    ]
    assert {source.store for source in found.sources} == {Store.MEMORY}
    assert found.roots == {"@memories": str(one), "@memories-2": str(two)}


@pytest.mark.spec("SO-3")
def test_sidecars_belong_to_their_main_file(tmp_path):
    """A sidecar is no source of its own unless its main file is gone; then what holds content is a plain one."""
    folder = tmp_path / ".cursor/chats/a"
    touch(folder, "b/store.db", "b/store.db-wal", "b/store.db-shm", "b/store.db-journal")
    touch(folder, "c/store.db-wal", "c/store.db-shm", "d/store.db-journal")
    assert [(source.path, source.sqlite) for source in look(tmp_path).sources] == [
        (".cursor/chats/a/b/store.db", True),
        (".cursor/chats/a/c/store.db-wal", False),
        (".cursor/chats/a/d/store.db-journal", False),
    ]


@pytest.mark.spec("SO-10")
def test_what_the_environment_moves_is_found(tmp_path):
    """The three variables are followed out of the home, each with its root; a relative path is passed over."""
    home = tmp_path / "home"
    touch(tmp_path, "home/.cursor/plans/a.plan.md", "config/chats/a/b/store.db")
    touch(tmp_path, "data/projects/p/agent-transcripts/t.jsonl")
    touch(tmp_path, "xdg/Cursor/User/globalStorage/state.vscdb", "xdg/cursor/plans/b.plan.md")
    env = {"CURSOR_CONFIG_DIR": "config", "CURSOR_DATA_DIR": "data", "XDG_CONFIG_HOME": "xdg"}
    assert paths(look(home, env)) == [".cursor/plans/a.plan.md"]
    found = look(home, {name: str(tmp_path / folder) for name, folder in env.items()})
    assert paths(found) == [
        ".cursor/plans/a.plan.md",
        "@config/chats/a/b/store.db",
        "@data/projects/p/agent-transcripts/t.jsonl",
        "@xdg-config/Cursor/User/globalStorage/state.vscdb",
        "@xdg-config/cursor/plans/b.plan.md",
    ]
    assert found.roots["@xdg-config"] == str(tmp_path / "xdg")


@pytest.mark.spec("SO-20")
def test_what_is_moved_inside_the_home_keeps_its_path(tmp_path):
    """A moved folder inside the home needs no root, and what is found by two ways is one source."""
    touch(tmp_path, ".cursor/chats/a/b/store.db", "elsewhere/chats/a/b/store.db")
    env = {"CURSOR_CONFIG_DIR": str(tmp_path / "elsewhere"), "CURSOR_DATA_DIR": str(tmp_path / ".cursor")}
    found = look(tmp_path, env)
    assert paths(found) == [".cursor/chats/a/b/store.db", "elsewhere/chats/a/b/store.db"]
    assert found.roots == {}


@pytest.mark.spec("SO-11")
@pytest.mark.parametrize(("own_home", "count"), [(True, 1), (False, 0)])
def test_an_examiners_settings_do_not_leak_in(tmp_path, own_home, count):
    """XDG_CONFIG_HOME outside of another person's home is the examiner's."""
    (tmp_path / "home").mkdir()
    touch(tmp_path, "mine/cursor/plans/mine.plan.md")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "mine")}
    assert len(look(tmp_path / "home", env, own_home=own_home).sources) == count


@pytest.mark.spec("SO-11")
def test_another_persons_own_settings_count(tmp_path):
    """XDG_CONFIG_HOME inside of the home is that person's."""
    touch(tmp_path, "dotfiles/cursor/plans/a.plan.md")
    env = {"XDG_CONFIG_HOME": str(tmp_path / "dotfiles")}
    assert paths(look(tmp_path, env, own_home=False)) == ["dotfiles/cursor/plans/a.plan.md"]


@pytest.mark.spec("SO-12")
def test_a_named_editor_folder(tmp_path):
    """An editor's folder may be named as such or by its User folder."""
    (tmp_path / "home").mkdir()
    touch(tmp_path, "nightly/User/globalStorage/state.vscdb", "portable/globalStorage/state.vscdb")
    found = look(tmp_path / "home", cursor_user_dirs=(tmp_path / "nightly", tmp_path / "portable"))
    assert paths(found) == ["@user-1/globalStorage/state.vscdb", "@user-2/globalStorage/state.vscdb"]
    assert found.roots == {"@user-1": str(tmp_path / "nightly/User"), "@user-2": str(tmp_path / "portable")}


@pytest.mark.spec("SO-13")
def test_windows_users_behind_wsl(tmp_path):
    """On mounted drives every user's editor and agent are found; a folder that may not be entered is passed over."""
    touch(tmp_path, "home/.cursor/plans/a.plan.md", "mnt/wsl/readme")
    users = tmp_path / "mnt/c/Users"
    touch(users, "dev/AppData/Roaming/Cursor/User/globalStorage/state.vscdb", "dev/.cursor/plans/b.plan.md")
    touch(users, "dev/memories/2026-01-31/x.json", "desktop.ini")
    (users / "All Users").symlink_to(users / "nowhere")
    found = look(tmp_path / "home", mounts=tmp_path / "mnt")
    assert paths(found) == [
        ".cursor/plans/a.plan.md",
        "@mnt-c-dev/.cursor/plans/b.plan.md",
        "@mnt-c-dev/AppData/Roaming/Cursor/User/globalStorage/state.vscdb",
    ]
    assert (found.roots, found.problems) == ({"@mnt-c-dev": str(users / "dev")}, ())


@pytest.mark.spec("SO-21")
@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")
def test_names_that_are_not_text(tmp_path):
    """Odd bytes are escaped and reported, backslashes are doubled, and no two names are written alike."""
    plans = tmp_path / ".cursor/plans"
    touch(plans, "ü.plan.md", r"\xff.plan.md", os.fsdecode(b"\xff.plan.md"))
    found = look(tmp_path)
    assert paths(found) == [
        r".cursor/plans/\\xff.plan.md",
        r".cursor/plans/\xff.plan.md",
        ".cursor/plans/ü.plan.md",
    ]
    assert [(problem.code, problem.source) for problem in found.problems] == [
        ("odd-name", r".cursor/plans/\xff.plan.md")
    ]
    assert os.fsencode(found.sources[1].file).endswith(b"/\xff.plan.md")


@pytest.mark.spec("SO-22")
@pytest.mark.spec("SO-31")
def test_links_are_followed_once(tmp_path):
    """A linked folder is found under the link's path, its files lie where they really are, and each counts once."""
    touch(tmp_path, "dotfiles/chats/a/b/store.db")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.cursor").symlink_to(tmp_path / "dotfiles")
    (tmp_path / "dotfiles/chats/z").symlink_to(tmp_path / "dotfiles/chats/a")
    (source,) = look(tmp_path / "home").sources
    assert (source.path, source.file) == (
        ".cursor/chats/a/b/store.db",
        tmp_path / "dotfiles/chats/a/b/store.db",
    )


@pytest.mark.spec("SO-22")
def test_a_linked_database_keeps_its_sidecars(tmp_path):
    """A link to a database leads to the folder where its -wal lies."""
    touch(tmp_path, "real/chat.db", "real/chat.db-wal", "home/.cursor/chats/a/b/meta.json")
    (tmp_path / "home/.cursor/chats/a/b/store.db").symlink_to(tmp_path / "real/chat.db")
    source = look(tmp_path / "home").sources[-1]
    assert (source.path, source.file) == (".cursor/chats/a/b/store.db", tmp_path / "real/chat.db")
    assert source.sqlite


@pytest.mark.spec("SO-31")
def test_loops_and_broken_links_are_problems(tmp_path):
    """A link into a folder above itself ends there, a link to nothing is named, and the rest is found."""
    chats = tmp_path / ".cursor/chats"
    touch(chats, "a/b/store.db")
    (chats / "a/loop").symlink_to(chats)
    (chats / "gone").symlink_to(chats / "nowhere")
    (chats / "self").symlink_to(chats / "self")
    (chats / "unrelated.log").symlink_to(chats / "nowhere")
    found = look(tmp_path)
    assert paths(found) == [".cursor/chats/a/b/store.db"]
    assert {(problem.code, problem.source) for problem in found.problems} == {
        ("link-loop", ".cursor/chats/a/loop"),
        ("broken-link", ".cursor/chats/gone"),
        ("broken-link", ".cursor/chats/self"),
        ("broken-link", ".cursor/chats/unrelated.log"),
    }


@pytest.mark.spec("SO-32")
def test_the_users_own_links_are_let_be(tmp_path):
    """Among the user's own projects links to folders are not followed, and broken ones are nobody's business."""
    touch(tmp_path, "disk/agents.ndjson", "projects/shop/runs.ndjson")
    (tmp_path / "projects/disk").symlink_to(tmp_path / "disk")
    (tmp_path / "projects/gone").symlink_to(tmp_path / "nowhere")
    found = look(tmp_path)
    assert (paths(found), found.problems) == (["projects/shop/runs.ndjson"], ())


@pytest.mark.spec("SO-30")
def test_an_unreadable_folder_is_a_problem(tmp_path, monkeypatch):
    """A folder that cannot be listed is named, and what lies beside it is found."""
    touch(tmp_path, ".cursor/chats/a/b/store.db", ".cursor/chats/closed/b/store.db", "projects/closed/x")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("/closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    # Root may list every folder, so the system's refusal is played.
    monkeypatch.setattr(os, "scandir", refusing)
    found = look(tmp_path)
    assert paths(found) == [".cursor/chats/a/b/store.db"]
    assert [(problem.code, problem.source) for problem in found.problems] == [
        ("unreadable-folder", ".cursor/chats/closed")
    ]


@pytest.mark.spec("SO-33")
def test_a_named_folder_that_is_not_there(tmp_path):
    """A folder that a person named is missed; one that the environment names may not be made yet."""
    (tmp_path / "home").mkdir()
    missing = Path(tmp_path / "missing")
    found = look(tmp_path / "home", {"CURSOR_DATA_DIR": str(missing)}, memories=(missing,))
    assert [problem.code for problem in found.problems] == ["missing-folder"]
    assert str(missing) in found.problems[0].message


def test_real_homes(tmp_path):
    """In a home that the real SDK wrote every file of a database's name is a source of the right store."""
    home = sdk_samples.unpack("1.0.32", tmp_path)
    sources = look(home).sources
    for store, name in (
        (Store.SDK_INDEX, "index.db"),
        (Store.SDK_AGENT, "store.db"),
        (Store.TRANSCRIPT, "*.jsonl"),
    ):
        assert {source.file for source in sources if source.store is store} == set(home.rglob(name))
