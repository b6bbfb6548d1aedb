"""Entries of a conversation as the editor's bubbles, and their headers."""

from typing import Final

from .javascript import Json, iso, js
from .seeded import derived_uuid
from .talk import Conversation, Entry
from .tools import former_data

# Most of a real bubble is such empty lists.
_EMPTY_LISTS: Final = (
    "approximateLintErrors", "lints", "codebaseContextChunks", "commits", "pullRequests", "attachedCodeChunks",
    "assistantSuggestedDiffs", "gitDiffs", "interpreterResults", "images", "attachedFolders", "userResponsesToSuggestedCodeBlocks",
    "suggestedCodeBlocks", "diffsForCompressingFiles", "relevantFiles", "toolResults", "notepads", "capabilities",
    "multiFileLinterErrors", "diffHistories", "recentLocationsHistory", "recentlyViewedFiles", "docsReferences",
    "webReferences", "aiWebSearchResults", "attachedFoldersListDirResults", "humanChanges", "contextPieces",
    "editTrailContexts", "allThinkingBlocks", "cursorRules", "documentationSelections", "consoleLogs",
)  # fmt: skip


def bubble(talk: Conversation, entry: Entry, version: int | None) -> Json:
    """One bubble; ``version`` is its ``_v``, absent in the oldest."""
    body: Json = {} if version is None else {"_v": version}
    body |= {"type": 1 if entry.kind == "prompt" else 2, "bubbleId": entry.id}
    body |= {key: [] for key in _EMPTY_LISTS}
    body |= {"isAgentic": True, "unifiedMode": 2, "tokenCount": {"inputTokens": 0, "outputTokens": 0}}
    if version == 3:
        body["createdAt"] = iso(entry.at_ms)
    body["text"] = entry.text if entry.kind in ("prompt", "answer") else ""
    return body | (_prompt(talk, entry) if entry.kind == "prompt" else _step(talk, entry))


def header(entry: Entry, *, grouping: bool) -> Json:
    """What a chat's list says of one bubble; newer editors show only those with a ``grouping``."""
    head: Json = {"bubbleId": entry.id, "type": 1 if entry.kind == "prompt" else 2}
    if entry.kind == "answer":
        head["serverBubbleId"] = derived_uuid("server", entry.id)
    if grouping:
        head["createdAt"] = iso(entry.at_ms)
        head["grouping"] = {"isRenderable": True, "hasText": bool(entry.text), "textPreview": entry.text[:80]}
    return head


def rich_text(text: str) -> str:
    """The editor's own form of a text, a Lexical document in JSON."""
    words = {
        "type": "text",
        "version": 1,
        "text": text,
        "detail": 0,
        "format": 0,
        "mode": "normal",
        "style": "",
    }
    paragraph = {
        "type": "paragraph",
        "version": 1,
        "children": [words],
        "direction": "ltr",
        "format": "",
        "indent": 0,
    }
    return js(
        {"root": {"type": "root", "version": 1, "children": [paragraph], "direction": "ltr", "indent": 0}}
    )


def _prompt(talk: Conversation, entry: Entry) -> Json:
    return {
        "richText": rich_text(entry.text),
        "requestId": derived_uuid("request", entry.id),
        "checkpointId": derived_uuid("checkpoint", entry.id),
        "supportedTools": [1, 3, 15, 18, 19, 38, 39, 40, 41, 42],
        "modelInfo": {"modelName": talk.model},
    }


def _step(talk: Conversation, entry: Entry) -> Json:
    body: Json = {
        "codeBlocks": [],
        "timingInfo": {"clientRpcSendTime": entry.at_ms, "clientEndTime": entry.at_ms + 900},
    }
    if entry.tool:
        body |= {"capabilityType": 15, "toolFormerData": former_data(talk, entry.tool)}
    elif entry.kind == "thought":
        body |= {"thinking": {"text": entry.text, "signature": "c2FtcGxl"}, "thinkingDurationMs": 1500}
    return body
