"""Conversations before they are written in any store's form."""

from random import Random
from typing import Literal

import msgspec

from . import code, topics
from .cast import Cast, new_cast
from .seeded import hex_id, rng_for, uuid4

ToolKind = Literal["read", "edit", "shell", "grep", "ls"]


class ToolUse(msgspec.Struct, frozen=True):
    """One call of a tool and what it gave.

    Attributes:
        kind: The tool.
        call_id: The model's id of the call.
        path: The file or folder inside the project, with forward slashes.
        argument: The command of `shell`, the pattern of `grep`, else empty.
        output: What was read, printed or found; for `edit` the diff.
        before: The file before an edit, else empty.
        after: The file after an edit, else empty.
    """

    kind: ToolKind
    call_id: str
    path: str
    argument: str
    output: str
    before: str = ""
    after: str = ""


class Entry(msgspec.Struct, frozen=True):
    """A prompt, a thought, an answer or a tool call: what the editor shows as one bubble."""

    id: str
    kind: Literal["prompt", "thought", "answer", "tool"]
    at_ms: int
    text: str = ""
    tool: ToolUse | None = None


class Conversation(msgspec.Struct, frozen=True):
    """One chat.

    Attributes:
        id: A lower-case UUID.
        title: What Cursor calls it.
        cwd: The project's folder as the platform writes it.
        model: The model's id.
        created_ms: When it began.
        entries: In order; the first is a prompt.
    """

    id: str
    title: str
    cwd: str
    model: str
    created_ms: int
    entries: tuple[Entry, ...]

    @property
    def updated_ms(self) -> int:
        """When the last entry was written."""
        return self.entries[-1].at_ms

    def turns(self) -> list[list[Entry]]:
        """The entries, cut before each prompt."""
        turns: list[list[Entry]] = []
        for entry in self.entries:
            if entry.kind == "prompt":
                turns.append([])
            turns[-1].append(entry)
        return turns

    def absolute(self, path: str) -> str:
        """A project's file as a full path of the platform."""
        separator = "\\" if "\\" in self.cwd else "/"
        return separator.join([self.cwd, *path.split("/")])


def converse(seed: int, key: object, *, cwd: str, start_ms: int, turns: int, file_lines: int) -> Conversation:
    """A chat of about ``turns`` prompts whose tools show files of about ``file_lines`` lines."""
    rng = rng_for(seed, "chat", key)
    cast, topic = new_cast(rng), rng.choice(topics.TOPICS)
    title = topic.title.format_map(cast.slots())
    entries = spoken(rng, cast, topic.opening, start_ms, file_lines)
    for exchange in _follow_ups(rng, _about(rng, turns) - 1):
        at_ms = entries[-1].at_ms + rng.randrange(20_000, 900_000)
        entries += spoken(rng, cast, exchange, at_ms, file_lines)
    model = rng.choice(topics.MODELS)
    return Conversation(uuid4(rng), title[0].upper() + title[1:], cwd, model, start_ms, tuple(entries))


def spoken(rng: Random, cast: Cast, exchange: topics.Exchange, at_ms: int, file_lines: int) -> list[Entry]:
    """The entries of one prompt: the prompt, a thought, some tool calls, the answer."""
    slots = cast.slots()
    entries = [
        Entry(uuid4(rng), "prompt", at_ms, exchange.ask.format_map(slots)),
        Entry(uuid4(rng), "thought", at_ms + 2_000, exchange.thought.format_map(slots)),
    ]
    for tool in _tools(rng, cast, file_lines):
        entries.append(Entry(uuid4(rng), "tool", entries[-1].at_ms + rng.randrange(500, 9_000), tool=tool))
    done_ms = entries[-1].at_ms + rng.randrange(2_000, 30_000)
    return [*entries, Entry(uuid4(rng), "answer", done_ms, exchange.answer.format_map(slots))]


def _follow_ups(rng: Random, count: int) -> list[topics.Exchange]:
    """What is asked next, in rounds: nobody asks the same twice in a row."""
    rounds = count // len(topics.FOLLOW_UPS) + 1
    asked = [
        exchange for _ in range(rounds) for exchange in rng.sample(topics.FOLLOW_UPS, len(topics.FOLLOW_UPS))
    ]
    return asked[:count]


def _tools(rng: Random, cast: Cast, file_lines: int) -> list[ToolUse]:
    kinds: list[ToolKind] = ["ls", "grep", "read", "edit", "shell"]
    chosen = sorted(rng.sample(kinds, rng.randrange(1, 4)), key=kinds.index)
    return [_tool(rng, kind, cast, _about(rng, file_lines)) for kind in chosen]


def _tool(rng: Random, kind: ToolKind, cast: Cast, lines: int) -> ToolUse:
    call_id = f"toolu_{hex_id(rng, 24)}"
    path = f"src/{cast.module}.{cast.suffix}"
    if kind == "ls":
        names = sorted(f"{name}.{cast.suffix}" for name in rng.sample(topics.MODULES, 6))
        return ToolUse(kind, call_id, "src", "", "\n".join(names))
    if kind == "grep":
        return ToolUse(kind, call_id, "src", cast.func, code.search_output(rng, cast, lines // 4 + 1))
    if kind == "shell":
        command = code.LANGUAGES[cast.suffix].command.format_map(cast.slots())
        return ToolUse(kind, call_id, "", command, code.run_output(rng, cast, lines // 4 + 1))
    text = code.source_file(rng, cast, lines)
    if kind == "read":
        return ToolUse(kind, call_id, path, "", text)
    after, hunk = code.changed(rng, cast, text)
    return ToolUse(kind, call_id, path, "", hunk, text, after)


def _about(rng: Random, mean: int) -> int:
    """A count at least 1 with a long tail, as lengths of chats and files have."""
    return max(1, round(rng.expovariate(1 / mean)))
