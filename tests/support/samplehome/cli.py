"""Chats of the command line agent."""

from collections.abc import Sequence
from pathlib import Path

from archiver.model import Store

from .agentstate import agent_state
from .blobstore import store_meta, write_store
from .javascript import js
from .layout import md5
from .model import SampleChat
from .talk import Conversation


def write_cli(cursor_dir: Path, talks: Sequence[Conversation]) -> list[SampleChat]:
    """One store a chat; the last is an ACP session, the first was killed and lies in its ``-wal``."""
    chats = []
    for index, talk in enumerate(talks):
        folder = cursor_dir / "chats" / md5(talk.cwd) / talk.id
        if index == len(talks) - 1:
            folder = cursor_dir / "acp-sessions" / talk.id
        state = agent_state(talk)
        path = folder / "store.db"
        meta = store_meta(talk, state.root_id, talk.title)
        write_store(path, state, meta, hot=index == 0, plain_meta=index == 1)
        _write_siblings(folder, talk)
        chats.append(SampleChat(talk.id, talk.title, Store.CLI_CHAT, len(talk.entries), path))
    return chats


def _write_siblings(folder: Path, talk: Conversation) -> None:
    meta = {
        "schemaVersion": 1,
        "title": talk.title,
        "createdAtMs": talk.created_ms,
        "updatedAtMs": talk.updated_ms,
        "hasConversation": True,
        "cwd": talk.cwd,
    }
    (folder / "meta.json").write_text(js(meta), encoding="utf-8")
    prompts = [entry.text for entry in talk.entries if entry.kind == "prompt"]
    (folder / "prompt_history.json").write_text(js(prompts), encoding="utf-8")
