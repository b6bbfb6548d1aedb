"""Rows that well-behaved readers trip over; each kind was met in real databases."""

from .bubbles import bubble
from .composers import Composer
from .database import Row
from .javascript import js
from .layout import sha256
from .seeded import rng_for, uuid4
from .talk import Conversation, converse


def odd_rows(seed: int) -> list[Row]:
    """Tombstones, keys that are null, bubbles of chats that are gone, an empty blob, half a character."""
    rng = rng_for(seed, "oddities")
    gone = converse(
        seed, "gone", cwd="/home/dev/projects/gone", start_ms=1_760_000_000_000, turns=2, file_lines=8
    )
    tombstones: list[Row] = [(f"composerData:{gone.id}", None), (f"bubbleId:{gone.id}:{uuid4(rng)}", None)]
    return [
        *tombstones,
        (None, js({"left": "by a failed write"})),
        (None, None),
        (
            f"bubbleId:{gone.id}:",
            js({"_v": 2, "type": 2, "bubbleId": "", "text": "an id that was never set"}),
        ),
        *_orphans(gone),
        # JavaScript escapes a lone surrogate; this is what makes JSON readers refuse the whole row.
        (
            f"bubbleId:{gone.id}:{uuid4(rng)}",
            '{"_v":3,"type":1,"text":"cut in the middle of an emoji \\ud83d"}',
        ),
        (f"agentKv:blob:{sha256(bytes(1))}", bytes(1)),
        (f"composerVirtualRowHeights:{gone.id}", js({"heights": [24, 48, 24]})),
        ("inlineDiffsData", b"[]"),
    ]


def twisted(composer: Composer, rows: list[Row]) -> list[Row]:
    """The rows of a chat, with an earlier wording of its first prompt that no header names.

    In version 10 also its record is JSON inside a JSON string.
    """
    if not composer.odd or composer.version < 10:
        return rows
    (key, record), *rest = rows
    first = (key, js(record)) if composer.version == 10 else (key, record)
    return [first, *rest, _superseded(composer.talk)]


def _orphans(talk: Conversation) -> list[Row]:
    return [(f"bubbleId:{talk.id}:{entry.id}", js(bubble(talk, entry, 3))) for entry in talk.entries]


def _superseded(talk: Conversation) -> Row:
    body = bubble(talk, talk.entries[0], 3)
    body["bubbleId"] = talk.entries[0].id[::-1].replace("-", "0")
    body["text"] = f"[first wording] {body['text']}"
    return f"bubbleId:{talk.id}:{body['bubbleId']}", js(body)
