"""Makes v1: an archive of two snapshots that every later version must read, and what a restore of them must give.

    python -m tests.golden.archives.make_v1

What is expected is computed from the home by SQLite and hashlib, before anything is read from the archive. Once format
version 1 is released, v1 is never made again.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from archiver.crypto import recovery
from archiver.monitor import Silent
from archiver.ops import snapshot as operation
from archiver.ops.snapshot import Request, Taken
from archiver.repo import archive
from archiver.repo.archive import Archive
from archiver.source.capture import Policy
from archiver.source.find import Places, find
from archiver.storage.local import LocalStorage
from tests.support import truth
from tests.support.samplehome import SampleHome, delete_chat, live_for, make_home

FOLDER = Path(__file__).with_name("v1")
# Manifests hold the home's path: one that says nothing of the machine that made this.
WORKSHOP = Path(tempfile.gettempdir()) / "archive-golden-v1"
PASSWORD = "a golden password: never use it for your own chats"
MADE_MS = 1_777_000_000_000
HOUR_MS = 3_600_000


def main() -> None:
    for folder in (FOLDER, WORKSHOP):
        shutil.rmtree(folder, ignore_errors=True)
    code = recovery.new_code()
    storage = LocalStorage(FOLDER / "repo")
    unlocked = archive.create(storage, PASSWORD, code, MADE_MS)
    with Archive(storage, unlocked, None) as opened:
        taken = list(_snapshots(opened, make_home(WORKSHOP / "home")))
    document = {"password": PASSWORD, "recovery_code": code, "snapshots": taken}
    (FOLDER / "expected.json").write_text(json.dumps(document, indent=1) + "\n")
    shutil.rmtree(FOLDER / "repo" / "tmp")
    shutil.rmtree(WORKSHOP)


def _snapshots(opened: Archive, home: SampleHome) -> Iterator[dict[str, object]]:
    """Two moments: as Cursor was closed, and after some work and a deleted chat, with evidence."""
    yield _snapshot(opened, home, MADE_MS + HOUR_MS, evidence=False)
    live_for(home, minutes=5, seed=1)
    delete_chat(home, next(chat.id for chat in home.chats if chat.store == "ide-global"))
    yield _snapshot(opened, home, MADE_MS + 2 * HOUR_MS, evidence=True)


def _snapshot(opened: Archive, home: SampleHome, now_ms: int, *, evidence: bool) -> dict[str, object]:
    files = _expected(home)
    taken = _take(opened, home, now_ms, evidence=evidence)
    return {"id": taken.snapshot.snapshot_id, "started_ms": now_ms, "sha256": files}


def _expected(home: SampleHome) -> dict[str, str]:
    """By path the SHA-256 of what a restore must write, but for what ``truth.uncounted`` zeroes."""
    scratch = WORKSHOP / "expected"
    scratch.mkdir(exist_ok=True)
    sources = find(_places(home)).sources
    return {
        source.path: hashlib.sha256(truth.content(source.file, scratch)).hexdigest() for source in sources
    }


def _take(opened: Archive, home: SampleHome, now_ms: int, *, evidence: bool) -> Taken:
    scratch = WORKSHOP / "scratch"
    scratch.mkdir(exist_ok=True)
    request = Request(
        places=_places(home),
        policy=Policy(scratch=scratch, evidence=evidence),
        host="golden",
        user="dev",
        now_ms=lambda: now_ms,
        tags=("golden",),
    )
    return operation.take(opened, request, Silent())


def _places(home: SampleHome) -> Places:
    return Places(home=home.root, env={}, own_home=False)


if __name__ == "__main__":
    main()
