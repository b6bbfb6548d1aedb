"""Makes the transcripts beside it: every shape of line that is known, and what a reader meets besides.

python -m tests.golden.decoders.transcript.v1.make_inputs
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent


def _said(role: str, *blocks: object) -> dict[str, object]:
    return {"role": role, "message": {"content": list(blocks)}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


SHAPES = [
    {"type": "metadata", "metadata": {"overview": "A coupon counts twice", "revision": 3}},
    {"role": "user", "message": {"content": "An older prompt, as plain text"}},
    _said(
        "user",
        _text(
            "<timestamp>Monday, Jul 27, 2026, 10:16 PM (UTC-6)</timestamp>\n"
            "<user_info>\nOS: linux\n</user_info>\n"
            "<attached_files>\nsrc/cart.js\n</attached_files>\n"
            "[Image]\n[File: notes.pdf]\n"
            "<user_query>\nWhy is <user_info> in my log?\n</user_query>"
        ),
    ),
    _said(
        "assistant",
        _text("I look.\n\nThe user sees a wrapper."),
        {"type": "tool_use", "id": "call-1", "name": "Read", "input": {"path": "src/cart.js"}},
        {"type": "tool_use", "name": "mcp_issues_get", "input": {}, "caller": "direct"},
    ),
    _said(
        "tool",
        {"type": "tool_result", "tool_use_id": "call-1", "content": [_text("cart")], "is_error": False},
        {"type": "tool_result", "tool_use_id": "call-9", "content": "of no call"},
    ),
    _said("assistant", _text("It is the wrapper.\n\n[REDACTED]"), {"type": "redacted", "data": "c2VhbGVk"}),
    {"type": "turn_ended", "status": "success"},
    _said("user", _text("<user_query>\nNot closed"), {"type": "hologram", "depth": 3}, "loose"),
    {"type": "error", "error": "the connection was lost"},
    {"type": "turn_ended", "status": "error", "error": "no quota", "code": 429},
    {"type": "heartbeat", "at": 7},
    {"role": "oracle", "message": {"content": "Of no known role"}},
]
CHILD = [_said("user", _text("Find the tests.")), _said("assistant", _text("There are none."))]


def _lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def main() -> None:
    """Write all of them."""
    child = FOLDER / "parent-1" / "subagents" / "child-1.jsonl"
    child.parent.mkdir(parents=True, exist_ok=True)
    child.write_bytes(_lines(*CHILD))
    (FOLDER / "shapes.jsonl").write_bytes(_lines(*SHAPES))
    (FOLDER / "torn.jsonl").write_bytes(_lines(*CHILD)[:-20])
    (FOLDER / "no-line-end.jsonl").write_bytes(_lines(*CHILD).rstrip())
    (FOLDER / "errors-only.jsonl").write_bytes(_lines({"type": "error", "error": "no network"}))
    odd = b'\n[1]\n{"role":"user"\n{"role":"user","message":{"content":"\\ud800 and \xff"}}\r\n'
    (FOLDER / "odd.jsonl").write_bytes(odd)
    (FOLDER / "unknown.jsonl").write_bytes(_lines({"v": 9, "said": "In a later layout"}))
    (FOLDER / "empty.jsonl").write_bytes(b"")
    (FOLDER / "opaque.jsonl").write_bytes(b"\x00\x01\x02\n")


if __name__ == "__main__":
    main()
