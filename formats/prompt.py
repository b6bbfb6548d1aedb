"""What Cursor wraps around and puts before the words that a person typed."""

import re

import msgspec

from formats.records import Attachment, Context
from formats.times import clock_ms, iso_ms

QUERY = "user_query"
TIME = "timestamp"
_WRAPPERS = f"{QUERY}|{TIME}|user_info|attached_files|git_status|rules|system_notification|cursor_commands"
_OPENING = re.compile(rf"\s*<({_WRAPPERS})>")
_MARKER = re.compile(r"\s*\[(?:(Image)|File: ([^\]\n]*))\]")


class Prompt(msgspec.Struct, frozen=True):
    """A prompt in its parts; ``text`` is what the person typed, ``time_ms`` the minute that a wrapper names."""

    text: str
    context: tuple[Context, ...]
    attachments: tuple[Attachment, ...]
    time_ms: int | None


def prompt(text: str) -> Prompt:
    """Take the wrappers and markers off from the front; from the first other word on all is the person's.

    So a person who writes about wrappers is not misread, and the work grows with the text alone.
    """
    typed: list[str] = []
    context: list[Context] = []
    attachments: list[Attachment] = []
    at = 0
    while step := _wrapper(text, at) or _marker(text, at):
        part, at = step
        if isinstance(part, Attachment):
            attachments.append(part)
        elif part.kind == QUERY:
            typed.append(part.text)
        else:
            context.append(part)
    typed.append(text[at:])
    words = "\n\n".join(stripped for words in typed if (stripped := words.strip()))
    return Prompt(words, tuple(context), tuple(attachments), _time_ms(context))


def _wrapper(text: str, at: int) -> tuple[Context, int] | None:
    opening = _OPENING.match(text, at)
    if not opening:
        return None
    closing = f"</{opening[1]}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None
    return Context(opening[1], text[opening.end() : end].strip()), end + len(closing)


def _marker(text: str, at: int) -> tuple[Attachment, int] | None:
    marker = _MARKER.match(text, at)
    if not marker:
        return None
    found = Attachment("image") if marker[1] else Attachment("file", marker[2])
    return found, marker.end()


def _time_ms(context: list[Context]) -> int | None:
    texts = [part.text for part in context if part.kind == TIME]
    times = (read(text) for text in texts for read in (iso_ms, clock_ms))
    return next((time for time in times if time is not None), None)
