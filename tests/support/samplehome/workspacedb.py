"""The editor's folders of `workspaceStorage`: which project they belong to, and their own small databases."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from .composers import Composer, head
from .database import KV_SCHEMA, Row, created, put_items
from .javascript import Json, js
from .layout import folder_uri, md5, project_folder
from .model import Platform, SampleWorkspace
from .seeded import derived_uuid
from .talk import Conversation
from .topics import PROJECTS


def plan_workspaces(storage: Path, platform: Platform, count: int) -> tuple[SampleWorkspace, ...]:
    """The workspaces of a home: ``count`` projects and the empty window."""
    planned = []
    for index in range(count):
        folder = project_folder(platform, PROJECTS[index % len(PROJECTS)])
        # Cursor hashes the path with the folder's inode or birth time, so the id differs between machines.
        name = md5(f"{folder}{7_000_000 + index}")
        planned.append(SampleWorkspace(name, folder, folder_uri(folder), storage / name / "state.vscdb"))
    empty = SampleWorkspace("empty-window", "", "", storage / "empty-window" / "state.vscdb")
    return (*planned, empty)


def write_workspace(workspace: SampleWorkspace, index: int, composers: Sequence[Composer]) -> None:
    """The folder of the workspace with this index, and the database's copy from the last clean close."""
    items = [*_prompt_items(composers), *_list_items(composers, with_heads=index % 3 != 2)]
    with created(workspace.db, KV_SCHEMA, user_version=1) as connection:
        put_items(connection, items)
    shutil.copy(workspace.db, workspace.db.with_name("state.vscdb.backup"))
    if workspace.uri:
        marker = js(_workspace_json(workspace, index))
        workspace.db.with_name("workspace.json").write_text(marker, encoding="utf-8")


def tab_items(talks: Sequence[Conversation]) -> list[Row]:
    """Chats of the oldest kind: tabs with whole messages, in two keys that different releases used."""
    tabs = [_tab(talk) for talk in talks]
    return [
        (
            "workbench.panel.aichat.view.aichat.chatdata",
            js({"tabs": tabs[:1], "selectedTabId": tabs[0]["tabId"]}),
        ),
        ("workbench.panel.chat.view.chat.chatdata", js({"tabs": tabs[1:]})),
    ]


def tab_message_count(talk: Conversation) -> int:
    """How many messages such a tab keeps: prompts and answers only."""
    return sum(1 for entry in talk.entries if entry.kind in ("prompt", "answer"))


def _tab(talk: Conversation) -> Json:
    bubbles = [
        {
            "type": "user" if entry.kind == "prompt" else "ai",
            "id": entry.id,
            "text": entry.text,
            "rawText": entry.text,
        }
        for entry in talk.entries
        if entry.kind in ("prompt", "answer")
    ]
    return {"tabId": talk.id, "chatTitle": talk.title, "lastSendTime": talk.updated_ms, "bubbles": bubbles}


def _prompt_items(composers: Sequence[Composer]) -> list[Row]:
    prompts = [entry for composer in composers for entry in composer.talk.entries if entry.kind == "prompt"]
    generations = [
        {
            "unixMs": entry.at_ms,
            "generationUUID": derived_uuid("request", entry.id),
            "type": "composer",
            "textDescription": entry.text,
        }
        for entry in prompts
    ]
    return [
        ("aiService.prompts", js([{"text": entry.text, "commandType": 4} for entry in prompts])),
        ("aiService.generations", js(generations)),
    ]


def _list_items(composers: Sequence[Composer], *, with_heads: bool) -> list[Row]:
    """The workspace's list of chats; Cursor 3 took the heads out of it and left only the selection."""
    ids = [composer.talk.id for composer in composers]
    data: Json = {
        "selectedComposerIds": ids[-1:],
        "lastFocusedComposerIds": ids[-1:],
        "hasMigratedComposerData": True,
    }
    if with_heads:
        data["allComposers"] = [head(composer) for composer in composers]
    items: list[Row] = [("composer.composerData", js(data)), ("workbench.view.debug.state.hidden", "[]")]
    if ids:
        pane = f"workbench.panel.composerChatViewPane..{derived_uuid('pane', ids[-1])}"
        items.append(
            (pane, js({f"workbench.panel.aichat.view.{ids[-1]}": {"collapsed": False, "isHidden": False}}))
        )
    return items


def _workspace_json(workspace: SampleWorkspace, index: int) -> Json:
    kinds: tuple[Json, ...] = (
        {"folder": workspace.uri},
        {"workspace": f"{workspace.uri}.code-workspace"},
        {"folder": "vscode-remote://ssh-remote%2Bbuildbox" + workspace.uri.removeprefix("file://")},
    )
    return kinds[index % 3]
