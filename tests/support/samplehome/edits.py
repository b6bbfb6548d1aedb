"""What a user does to a chat: delete it, rename it, put it away."""

import shutil
from collections.abc import Callable

import apsw

from archiver.model import Store

from .database import changing, item, keys_below, put_items, put_rows
from .javascript import Json, js, parsed
from .model import SampleChat, SampleHome

# Cursor empties the rows of these families and removes those of the others.
_EMPTIED = ("bubbleId",)
_REMOVED = ("checkpointId", "codeBlockDiff", "codeBlockPartialInlineDiffFates", "messageRequestContext")

Change = Callable[[Json], Json | None]


def delete_chat(home: SampleHome, chat_id: str) -> None:
    """Delete a chat as Cursor, its command line or its SDK do; transcripts stay behind in all of them.

    Raises:
        ValueError: The chat lies in a store whose owner has no way to delete one.
    """
    known = [chat for chat in home.chats if chat.id == chat_id]
    store = known[0].store if known else Store.IDE_GLOBAL
    if store == Store.IDE_GLOBAL:
        _delete_from_editor(home, chat_id)
    elif store == Store.CLI_CHAT:
        shutil.rmtree(known[0].path.parent)
    elif store == Store.SDK_AGENT:
        _delete_agent(known[0])
    else:
        raise ValueError(f"chats of {store} are never deleted one by one")


def rename_chat(home: SampleHome, chat_id: str, title: str) -> None:
    """Give a chat of the editor another title, in all lists that have one."""
    _change_everywhere(home, chat_id, lambda head: head | {"name": title})
    with changing(home.search_db) as connection:
        connection.execute("UPDATE conversations SET title = ? WHERE id = ?", (title, chat_id))
        where = "rowid IN (SELECT rowid FROM conversations WHERE id = ?)"
        connection.execute(f"UPDATE conversation_fts SET title = ? WHERE {where}", (title, chat_id))


def archive_chat(home: SampleHome, chat_id: str) -> None:
    """Put a chat of the editor away: it stays in all lists, marked."""
    _change_everywhere(home, chat_id, lambda head: head | {"isArchived": True})
    with changing(home.search_db) as connection:
        connection.execute("UPDATE conversations SET is_archived = 1 WHERE id = ?", (chat_id,))


def _delete_from_editor(home: SampleHome, chat_id: str) -> None:
    with changing(home.global_db) as connection:
        emptied = [key for family in _EMPTIED for key in keys_below(connection, f"{family}:{chat_id}:")]
        put_rows(connection, [(key, None) for key in [f"composerData:{chat_id}", *emptied]])
        removed = [key for family in _REMOVED for key in keys_below(connection, f"{family}:{chat_id}:")]
        removed.append(f"agentKv:checkpoint:{chat_id}")
        connection.executemany("DELETE FROM cursorDiskKV WHERE key = ?", [(key,) for key in removed])
        connection.execute("DELETE FROM composerHeaders WHERE composerId = ?", (chat_id,))
        _forget_membership(connection, chat_id)
    _change_lists(home, chat_id, lambda _: None)
    with changing(home.search_db) as connection:
        where = "rowid IN (SELECT rowid FROM conversations WHERE id = ?)"
        connection.execute(f"DELETE FROM conversation_fts WHERE {where}", (chat_id,))
        connection.execute("DELETE FROM conversations WHERE id = ?", (chat_id,))


def _forget_membership(connection: apsw.Connection, chat_id: str) -> None:
    key = "glass.localAgentProjectMembership.v1"
    value = item(connection, key)
    if value is not None:
        put_items(connection, [(key, js({k: v for k, v in parsed(value).items() if k != chat_id}))])


def _change_everywhere(home: SampleHome, chat_id: str, change: Change) -> None:
    with changing(home.global_db) as connection:
        for table, key_column, key in (
            ("cursorDiskKV", "key", f"composerData:{chat_id}"),
            ("composerHeaders", "composerId", chat_id),
        ):
            value = connection.execute(f"SELECT value FROM {table} WHERE {key_column} = ?", (key,)).get
            changed = js(change(parsed(value)))
            connection.execute(f"UPDATE {table} SET value = ? WHERE {key_column} = ?", (changed, key))
        archived = "json_extract(value, '$.isArchived')"
        connection.execute(
            f"UPDATE composerHeaders SET isArchived = {archived} WHERE composerId = ?", (chat_id,)
        )
    _change_lists(home, chat_id, change)


def _change_lists(home: SampleHome, chat_id: str, change: Change) -> None:
    """Change a chat's head, or drop it, in the lists of the global and of all workspace databases."""
    for path, key in (
        (home.global_db, "composer.composerHeaders"),
        *((workspace.db, "composer.composerData") for workspace in home.workspaces),
    ):
        with changing(path) as connection:
            value = item(connection, key)
            if value is None or chat_id.encode() not in (
                value if isinstance(value, bytes) else value.encode()
            ):
                continue
            put_items(connection, [(key, js(_changed_list(parsed(value), chat_id, change)))])


def _changed_list(data: Json, chat_id: str, change: Change) -> Json:
    heads = [change(head) if head["composerId"] == chat_id else head for head in data.get("allComposers", [])]
    left = [head for head in heads if head is not None]
    changed = data | ({"allComposers": left} if "allComposers" in data else {})
    if len(left) < len(heads) or "allComposers" not in data:
        for key in ("selectedComposerIds", "lastFocusedComposerIds"):
            changed[key] = [other for other in data.get(key, []) if other != chat_id]
    return changed


def _delete_agent(chat: SampleChat) -> None:
    shutil.rmtree(chat.path.parent)
    with changing(chat.path.parents[2] / "index.db") as connection:
        runs = "SELECT run_id FROM runs WHERE agent_id = ?"
        connection.execute(f"DELETE FROM run_events WHERE run_id IN ({runs})", (chat.id,))
        connection.execute("DELETE FROM runs WHERE agent_id = ?", (chat.id,))
        connection.execute("DELETE FROM agents WHERE agent_id = ?", (chat.id,))
