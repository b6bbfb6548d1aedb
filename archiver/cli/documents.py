"""The JSON results: plain values in the shapes that specs/cli-json.md documents."""

from typing import Any

import msgspec

from archiver.errors import ExitCode
from archiver.ops.snapshot import SourceResult, Taken
from archiver.ops.sources import Listed
from archiver.ops.verify import Verified
from archiver.repo.slots import StoredSlot
from archiver.repo.snapshots import Snapshot

Document = dict[str, Any]


def snapshot_taken(taken: Taken) -> Document:
    """``archive.snapshot/1``."""
    manifest = taken.snapshot.manifest
    stats = msgspec.to_builtins(manifest.stats)
    return {
        "schema": "archive.snapshot/1",
        **_identity(taken.snapshot),
        "sources": [_source_result(result) for result in taken.results],
        "stats": {**stats, "stored_bytes": taken.stored_bytes},
        "problems": msgspec.to_builtins(manifest.problems),
    }


def snapshot_list(found: list[tuple[Snapshot, int]], damage: list[str]) -> Document:
    """``archive.snapshots/1``; each snapshot comes with the bytes of its manifest."""
    return {
        "schema": "archive.snapshots/1",
        "snapshots": [_snapshot(snapshot, manifest_bytes) for snapshot, manifest_bytes in found],
        "problems": [{"code": "snapshot-unreadable", "message": message} for message in damage],
    }


def source_list(home: str, roots: dict[str, str], listed: list[Listed], problems: list[Any]) -> Document:
    """``archive.sources/1``."""
    return {
        "schema": "archive.sources/1",
        "home": home,
        "roots": roots,
        "sources": [
            {
                "store": str(entry.source.store),
                "path": entry.source.path,
                "file": str(entry.source.file),
                "main_bytes": entry.state.main_bytes,
                "wal_bytes": entry.state.wal_bytes,
                "journal_bytes": entry.state.journal_bytes,
                "journal_mode": entry.state.journal_mode,
                "changed": entry.changed,
            }
            for entry in listed
        ],
        "problems": msgspec.to_builtins(problems),
    }


def verified(result: Verified) -> Document:
    """``archive.verify/1``."""
    return {
        "schema": "archive.verify/1",
        "ok": result.exit_code == ExitCode.DONE,
        **msgspec.to_builtins(result),
        "damage": [{"object": found.object, "message": found.message} for found in result.damage],
    }


def key_list(slots: list[StoredSlot], opened_with: str) -> Document:
    """``archive.keys/1``."""
    return {
        "schema": "archive.keys/1",
        "keys": [
            {
                "id": stored.slot_id,
                "kind": str(stored.slot.info.kind),
                "label": stored.slot.info.label,
                "created_ms": stored.slot.info.created_ms,
                "opened": stored.slot_id == opened_with,
            }
            for stored in slots
        ],
    }


def _identity(snapshot: Snapshot) -> Document:
    manifest = snapshot.manifest
    return {
        "id": snapshot.snapshot_id,
        "time_ms": manifest.started_ms,
        "finished_ms": manifest.finished_ms,
        "host": manifest.host,
        "user": manifest.user,
        "home": manifest.home,
        "roots": manifest.roots,
        "tool": manifest.tool,
        "parent": manifest.parent,
        "tags": list(manifest.tags),
        "evidence": manifest.evidence,
    }


def _snapshot(snapshot: Snapshot, manifest_bytes: int) -> Document:
    manifest = snapshot.manifest
    stats = msgspec.to_builtins(manifest.stats)
    return {
        **_identity(snapshot),
        "stats": {**stats, "stored_bytes": manifest.stats.stored_bytes + manifest_bytes},
        "problems": msgspec.to_builtins(manifest.problems),
    }


def _source_result(result: SourceResult) -> Document:
    document: Document = {
        "store": str(result.source.store),
        "path": result.source.path,
        "status": result.status,
        "image_bytes": 0,
    }
    entry = result.entry
    if entry is None:
        return document
    return document | {
        "image_bytes": entry.image.size_bytes,
        "method": str(entry.method),
        "captured_ms": entry.captured_ms,
        "duration_ms": entry.duration_ms,
        "images": {str(role): image.size_bytes for role, image in entry.images.items()},
        "raw": msgspec.to_builtins(entry.raw),
        "steps": list(entry.steps),
    }
