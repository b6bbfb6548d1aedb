"""Values as a JavaScript program writes them: Cursor is one."""

import json
from datetime import UTC, datetime
from typing import Any

# The documents are as free as Cursor's own; a type for each of their versions would have to be kept in step
# with the decoders' that these samples are to test.
Json = dict[str, Any]


def js(value: object) -> str:
    """What ``JSON.stringify`` gives: no spaces, no escapes beyond the needed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def iso(time_ms: int) -> str:
    """What ``Date.toISOString`` gives, such as ``2026-03-02T08:00:00.000Z``."""
    moment = datetime.fromtimestamp(time_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z"


def parsed(value: str | bytes) -> Json:
    """An object from its JSON, also where Cursor wrote the JSON of a string that holds the JSON."""
    document: str | Json = json.loads(value)
    while isinstance(document, str):
        document = json.loads(document)
    return document
