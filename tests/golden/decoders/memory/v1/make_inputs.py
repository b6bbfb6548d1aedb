"""Makes the memories beside it.

python -m tests.golden.decoders.memory.v1.make_inputs
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent

DECISION = {
    "type": "decision",
    "category": "technical",
    "title": "SQLite for the cart",
    "content": "The cart is kept in SQLite.",
    "source_chunk": "**User:** Where do we keep it?\n\n**Assistant:** In SQLite.",
    "reasoning": "One file, no server.",
    "alternatives": [{"option": "Redis", "why_not": "Needs a server"}, {"option": "A JSON file"}],
    "selected_option": "SQLite",
    "confidence_score": 92,
    "related_entities": [
        {"type": "person", "raw": "Ada", "slug": "ada-l", "resolved": True},
        {"type": "project", "raw": "the shop", "slug": None, "resolved": False},
    ],
    "tools_mentioned": ["sqlite3"],
    "urls_mentioned": ["https://sqlite.org"],
    "target_agents": ["planner"],
}
FULL = {
    "session_id": "2026-07-27-22-16-05-cart",
    "timestamp": "2026-07-27T22:16:05Z",
    "last_updated": "2026-07-28T08:00:00Z",
    "extraction_count": 2,
    "memories": [DECISION, {"type": "insight", "title": "Coupons count once"}],
    "suggestions": ["Add a test"],
}
ODD = {
    "session_id": "odd",
    "timestamp": "yesterday",
    "extraction_count": "two",
    "schema/version": 2,
    "memories": [
        "a memory in a line",
        {
            "type": 7,
            "title": "Wrong types",
            "confidence_score": 0.5,
            "alternatives": [{"option": "A", "votes": 3}, "B"],
            "related_entities": {"raw": "no list"},
            "tools_mentioned": ["grep", 5],
            "mood": {"good": True},
        },
    ],
}


def main() -> None:
    """Write all of them."""
    (FOLDER / "full.json").write_text(json.dumps(FULL, indent=2), encoding="utf-8")
    (FOLDER / "odd.json").write_text(json.dumps(ODD, indent=2), encoding="utf-8")
    (FOLDER / "unknown.json").write_text(json.dumps({"session": "s", "items": [DECISION]}), encoding="utf-8")
    (FOLDER / "opaque.json").write_text("[1, 2]", encoding="utf-8")


if __name__ == "__main__":
    main()
