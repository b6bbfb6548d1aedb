"""What the editor keeps beside the bubbles: checkpoints, diffs, their fates, file texts, request contexts."""

from .database import Row
from .javascript import js
from .layout import folder_uri
from .seeded import derived_uuid
from .talk import Conversation, Entry
from .tools import content_key


def companion_rows(talk: Conversation) -> list[Row]:
    """All of them for one chat."""
    rows: list[Row] = []
    for turn in talk.turns():
        edits = [entry for entry in turn if entry.tool and entry.tool.kind == "edit"]
        rows += [_checkpoint(talk, turn[0], edits), _request_context(talk, turn[0])]
        for entry in edits:
            rows += _edit_rows(talk, entry)
    return rows


def _checkpoint(talk: Conversation, prompt: Entry, edits: list[Entry]) -> Row:
    files = [
        {
            "uri": {"scheme": "file", "external": folder_uri(talk.absolute(entry.tool.path))},
            "originalModelDiffWrtV0": [_change(entry.tool.output)],
            "isNewlyCreated": False,
        }
        for entry in edits
        if entry.tool
    ]
    value = {
        "files": files,
        "nonExistentFiles": [],
        "newlyCreatedFolders": [],
        "activeInlineDiffs": [],
        "inlineDiffNewlyCreatedResources": {"files": [], "folders": []},
    }
    return f"checkpointId:{talk.id}:{derived_uuid('checkpoint', prompt.id)}", js(value)


def _request_context(talk: Conversation, prompt: Entry) -> Row:
    value = {
        "terminalFiles": [],
        "cursorRules": [],
        "attachedFoldersListDirResults": [],
        "summarizedComposers": [],
        "ideEditorsState": {"visibleFiles": [], "recentlyViewedFiles": [talk.absolute("README.md")]},
        "gitStatusRaw": "## main...origin/main\n M README.md\n",
        "bubbleId": prompt.id,
    }
    return f"messageRequestContext:{talk.id}:{prompt.id}", js(value)


def _edit_rows(talk: Conversation, entry: Entry) -> list[Row]:
    assert entry.tool
    diff_id = derived_uuid("diff", entry.id)
    change = _change(entry.tool.output)
    fate = {"fate": "accepted", "range": change["original"], "addedLines": 1, "removedLines": 1}
    return [
        (
            f"codeBlockDiff:{talk.id}:{diff_id}",
            js({"newModelDiffWrtV0": [change], "originalModelDiffWrtV0": []}),
        ),
        (f"codeBlockPartialInlineDiffFates:{talk.id}:{diff_id}", js([fate])),
        (content_key(entry.tool.before), entry.tool.before),
        (content_key(entry.tool.after), entry.tool.after),
    ]


def _change(hunk: str) -> dict[str, object]:
    start = int(hunk[4 : hunk.index(",")])
    added = [line[1:] for line in hunk.splitlines() if line.startswith("+")]
    return {"original": {"startLineNumber": start, "endLineNumberExclusive": start + 1}, "modified": added}
