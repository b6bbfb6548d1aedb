"""Chats of the editor as rows of its global database, in each of the schema's versions."""

import base64

import msgspec

from .agentstate import AgentState, agent_state
from .bubbles import bubble, header
from .companions import companion_rows
from .database import Row
from .javascript import Json, js
from .model import SampleWorkspace
from .talk import Conversation

VERSIONS = (17, 14, 10, 3, 1)


class Composer(msgspec.Struct, frozen=True):
    """A chat of the editor.

    Attributes:
        talk: What was said.
        version: The ``_v`` of its `composerData`, one of `VERSIONS`.
        workspace: Where it was held.
        archived: Whether the user put it away.
        stateless: Write the empty ``conversationState`` although the version has one.
        odd: Write what real databases hold now and then (`oddities.twisted`, and a bare id among the headers).
    """

    talk: Conversation
    version: int
    workspace: SampleWorkspace
    archived: bool = False
    stateless: bool = False
    odd: bool = False


def composer_rows(composer: Composer) -> list[Row]:
    """All rows of one chat; its `composerData` comes first."""
    talk, version = composer.talk, composer.version
    state = agent_state(talk) if version >= 14 and not composer.stateless else None
    rows: list[Row] = [(f"composerData:{talk.id}", js(composer_data(composer, state)))]
    if version >= 10:
        rows += bubble_rows(talk)
        rows += companion_rows(talk)
    if state:
        rows += agent_rows(talk, state)
    return rows


def bubble_rows(talk: Conversation) -> list[Row]:
    """A row for each bubble, as all versions from 10 on have them."""
    return [(f"bubbleId:{talk.id}:{entry.id}", js(bubble(talk, entry, 3))) for entry in talk.entries]


def agent_rows(talk: Conversation, state: AgentState) -> list[Row]:
    """The agent's blobs: JSON as text, protobuf as bytes or as hex in text, as met in the wild."""
    rows: list[Row] = []
    for blob_id, data in state.blobs.items():
        as_text = data.decode() if data.startswith(b"{") else data.hex() if blob_id < "4" else data
        rows.append((f"agentKv:blob:{blob_id}", as_text))
    return [*rows, (f"agentKv:checkpoint:{talk.id}", state.root_id)]


def composer_data(composer: Composer, state: AgentState | None) -> Json:
    """The chat's own record."""
    talk, version = composer.talk, composer.version
    record: Json = {"_v": version, "composerId": talk.id, "name": talk.title, "text": "", "richText": ""}
    record |= {"hasLoaded": True, "status": "completed", "isArchived": composer.archived}
    record |= {"createdAt": talk.created_ms, "lastUpdatedAt": talk.updated_ms}
    record |= {"unifiedMode": "agent", "forceMode": "edit", "isAgentic": True}
    record |= {"modelConfig": {"modelName": talk.model, "maxMode": False}}
    record |= {
        "context": {"fileSelections": [], "selections": [], "mentions": {}},
        "todos": [],
        "codeBlockData": {},
    }
    record |= {"originalFileStates": {}, "newlyCreatedFiles": [], "usageData": {}, "capabilities": []}
    record |= _body(composer)
    if version >= 14:
        record |= {"conversationState": state_text(version, state), "agentBackend": "cursor-agent"}
        record |= {"contextTokensUsed": 1200 * len(talk.entries), "contextTokenLimit": 200_000}
    if version >= 17:
        record["workspaceIdentifier"] = workspace_identifier(composer.workspace)
    return record


def state_text(version: int, state: AgentState | None) -> str:
    """The newest root as the record holds it; a lone ``~`` stands for none."""
    if state is None:
        return "~"
    root = state.roots[-1]
    return root.hex() if version == 14 else "~" + base64.b64encode(root).decode()


def state_root(text: str) -> bytes:
    """The root that such a text holds; nothing for the empty one."""
    return base64.b64decode(text[1:]) if text.startswith("~") else bytes.fromhex(text)


def head(composer: Composer) -> Json:
    """The chat's entry in the lists of chats."""
    talk = composer.talk
    return {
        "type": "head",
        "composerId": talk.id,
        "name": talk.title,
        "createdAt": talk.created_ms,
        "lastUpdatedAt": talk.updated_ms,
        "unifiedMode": "agent",
        "forceMode": "edit",
        "isArchived": composer.archived,
        "hasUnreadMessages": False,
        "totalLinesAdded": sum(1 for entry in talk.entries if entry.tool and entry.tool.kind == "edit"),
        "workspaceIdentifier": workspace_identifier(composer.workspace),
    }


def workspace_identifier(workspace: SampleWorkspace) -> Json:
    """How newer records name a workspace."""
    return {"id": workspace.id, "uri": {"external": workspace.uri, "fsPath": workspace.folder}}


def _body(composer: Composer) -> Json:
    talk, version = composer.talk, composer.version
    if version == 1:
        return _inline(talk)
    headers: list[object] = [header(entry, grouping=version >= 14) for entry in talk.entries]
    if composer.odd and version == 10:
        headers[0] = talk.entries[0].id
    bubbles = {entry.id: bubble(talk, entry, 2) for entry in talk.entries} if version == 3 else {}
    return {"fullConversationHeadersOnly": headers, "conversationMap": bubbles}


def _inline(talk: Conversation) -> Json:
    """Version 1: bubbles in the record, and tool calls apart from them in a map that is JSON inside JSON."""
    bubbles = [bubble(talk, entry, None) for entry in talk.entries]
    calls = {body["bubbleId"]: body.pop("toolFormerData") for body in bubbles if "toolFormerData" in body}
    return {"conversation": bubbles, "capabilities": [{"type": 15, "data": {"bubbleDataMap": js(calls)}}]}
