"""An hour of a developer's life with Cursor: what changes in a home while they work."""

from random import Random

import apsw
import msgspec

from . import topics
from .agentstate import agent_state
from .bubbles import header
from .cast import new_cast
from .companions import companion_rows
from .composers import Composer, agent_rows, bubble_rows, head, state_root, state_text
from .database import changing, item, put_items, put_rows
from .globaldb import put_composers, put_header
from .javascript import Json, js, parsed
from .model import SampleHome
from .seeded import derived_uuid, rng_for
from .talk import Conversation, converse, spoken
from .transcripts import transcript_path, write_transcript

_MINUTE_MS = 60_000
_MINUTES_A_PROMPT = 5


class _Chat(msgspec.Struct, frozen=True):
    """A chat as its rows are now."""

    record: Json
    head: Json

    def talk(self) -> Conversation:
        """The chat without its entries."""
        cwd, model = (
            self.head["workspaceIdentifier"]["uri"]["fsPath"],
            self.record["modelConfig"]["modelName"],
        )
        return Conversation(
            self.head["composerId"], self.head["name"], cwd, model, self.head["createdAt"], ()
        )


def live_for(home: SampleHome, *, minutes: int, seed: int) -> None:
    """Go on with some chats, begin a new one, and leave as a Cursor does that is killed or still running.

    Each prompt is a transaction of its own, all of them only in the ``-wal``. ``home.chats`` does not hear of it.
    """
    with changing(home.global_db) as connection:
        now_ms = _latest_ms(connection) + 10 * _MINUTE_MS
        chats = _chats(connection)
    rng = rng_for(home.seed, "life", seed, now_ms)
    chosen = _chosen(home, rng, [chat for chat in chats if chat.record["_v"] >= 10])
    for number in range(max(len(chosen), minutes // _MINUTES_A_PROMPT)):
        now_ms += _MINUTES_A_PROMPT * _MINUTE_MS
        chat_id = chosen[number % len(chosen)].head["composerId"]
        with changing(home.global_db) as connection:
            talk = _go_on(connection, rng, _chat(connection, chat_id), now_ms, home.scale.file_lines)
        write_transcript(home.cursor_dir, talk)
    _begin_chat(home, rng, f"life/{seed}/{now_ms}", now_ms)


def _chosen(home: SampleHome, rng: Random, chats: list[_Chat]) -> list[_Chat]:
    """One chat that has a transcript if any has, and two others."""
    transcribed = (chat for chat in chats if transcript_path(home.cursor_dir, chat.talk()).exists())
    known = next(transcribed, chats[0])
    return [known, *rng.sample([chat for chat in chats if chat is not known], 2)]


def _chats(connection: apsw.Connection) -> list[_Chat]:
    ids = connection.execute(
        "SELECT composerId FROM composerHeaders ORDER BY lastUpdatedAt, composerId"
    ).fetchall()
    return [_chat(connection, str(chat_id)) for (chat_id,) in ids]


def _chat(connection: apsw.Connection, chat_id: str) -> _Chat:
    record = connection.execute(
        "SELECT value FROM cursorDiskKV WHERE key = ?", (f"composerData:{chat_id}",)
    ).get
    head = connection.execute("SELECT value FROM composerHeaders WHERE composerId = ?", (chat_id,)).get
    return _Chat(parsed(record), parsed(head))


def _latest_ms(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT max(lastUpdatedAt) FROM composerHeaders").get)


def _go_on(
    connection: apsw.Connection, rng: Random, chat: _Chat, now_ms: int, file_lines: int
) -> Conversation:
    """One more prompt in a chat, with all rows that the editor writes for it; returns what is new."""
    entries = spoken(rng, new_cast(rng), rng.choice(topics.FOLLOW_UPS), now_ms, file_lines)
    talk = msgspec.structs.replace(chat.talk(), entries=tuple(entries))
    record, version = dict(chat.record), chat.record["_v"]
    record["fullConversationHeadersOnly"] += [header(entry, grouping=version >= 14) for entry in entries]
    rows = [*bubble_rows(talk), *companion_rows(talk)]
    if version >= 14:
        state = agent_state(talk, state_root(record["conversationState"]))
        record["conversationState"] = state_text(version, state)
        rows += agent_rows(talk, state)
    record["lastUpdatedAt"] = talk.updated_ms
    put_rows(connection, [*rows, (f"composerData:{talk.id}", js(record))])
    put_header(connection, chat.head | {"lastUpdatedAt": talk.updated_ms})
    return talk


def _begin_chat(home: SampleHome, rng: Random, key: str, now_ms: int) -> None:
    """A new chat in one of the workspaces, whose own database hears of it too."""
    workspace = rng.choice(home.workspaces[:-1])
    talk = converse(
        home.seed,
        key,
        cwd=workspace.folder,
        start_ms=now_ms,
        turns=home.scale.turns,
        file_lines=home.scale.file_lines,
    )
    composer = Composer(talk=talk, version=17, workspace=workspace)
    with changing(home.global_db) as connection:
        put_composers(connection, [composer])
    with changing(workspace.db) as connection:
        data = parsed(_text(connection, "composer.composerData"))
        data["selectedComposerIds"] = [talk.id]
        if "allComposers" in data:
            data["allComposers"].append(head(composer))
        items = [("composer.composerData", js(data)), _generations(connection, talk)]
        put_items(connection, items)


def _generations(connection: apsw.Connection, talk: Conversation) -> tuple[str, str]:
    key, prompt = "aiService.generations", talk.entries[0]
    generation = {
        "unixMs": prompt.at_ms,
        "generationUUID": derived_uuid("request", prompt.id),
        "type": "composer",
    }
    generations = [*parsed(_text(connection, key)), {**generation, "textDescription": prompt.text}]
    return key, js(generations)


def _text(connection: apsw.Connection, key: str) -> str | bytes:
    value = item(connection, key)
    assert value is not None, key
    return value
