"""Archives that were made once are read for ever, by the program and by the reader that shares no line with it."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from archiver.errors import ExitCode
from archiver.repo import archive, snapshots
from archiver.storage.local import LocalStorage
from tests.support import truth
from tests.support.command import Command
from tests.support.minireader import MiniArchive

GOLDEN = Path(__file__).parents[1] / "golden" / "archives"
ARCHIVES = sorted(path.parent.name for path in GOLDEN.glob("*/expected.json"))
LIMIT_BYTES = 300_000


class Frozen:
    """A copy of one golden archive, and what is known of it.

    Args:
        name: Its folder.
        target: Where it is copied to, since nothing may be written into the frozen one.
    """

    def __init__(self, name: str, target: Path) -> None:
        self.known: dict[str, Any] = json.loads((GOLDEN / name / "expected.json").read_text())
        self.person = Command(target, ARCHIVE_PASSWORD=self.known["password"])
        shutil.copytree(GOLDEN / name / "repo", self.person.repo)

    def open(self) -> archive.Archive:
        return archive.open_archive(LocalStorage(self.person.repo), lambda _: self.known["password"], None)


@pytest.fixture(params=ARCHIVES)
def frozen(request, tmp_path) -> Frozen:
    """Every golden archive in turn."""
    return Frozen(request.param, tmp_path)


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(truth.uncounted(path.read_bytes())).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _state(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Every file's bytes, and the times of files and folders alike."""
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_mode, truth.tree(path.parent).get(path.name, ""))
        for path in (folder, *folder.rglob("*"))
    }


def test_no_frozen_archive_is_forgotten():
    """Every folder of golden archives is exercised here, and stays small enough to be kept."""
    folders = [path for path in GOLDEN.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert sorted(path.name for path in folders) == ARCHIVES
    assert "v1" in ARCHIVES
    for folder in folders:
        assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < LIMIT_BYTES


def test_the_program_restores_what_was_there(frozen, tmp_path):
    """Every snapshot is listed and every file restored as it was, and reading changes nothing in the archive."""
    before = _state(frozen.person.repo)
    listed = frozen.person.json("snapshots")["snapshots"]
    assert [(found["id"], found["time_ms"]) for found in listed] == [
        (known["id"], known["started_ms"]) for known in frozen.known["snapshots"]
    ]
    for known in frozen.known["snapshots"]:
        target = tmp_path / known["id"]
        assert frozen.person("restore", "files", known["id"], "--to", target).code == 0
        assert _digests(target) == known["sha256"]
    verified = frozen.person.json("verify", "--data")
    assert (verified["ok"], verified["notes"]) == (True, [])
    assert frozen.person("key", "list").code == 0
    assert _state(frozen.person.repo) == before


def test_the_mini_reader_restores_what_was_there(frozen, tmp_path):
    """A reader written from the specification alone lists and restores the same, with password and recovery code."""
    for secret in (frozen.known["password"], frozen.known["recovery_code"]):
        mini = MiniArchive(frozen.person.repo, secret)
        found = mini.snapshots()
        assert [name for name, _ in found] == [known["id"] for known in frozen.known["snapshots"]]
    for (_, manifest), known in zip(found, frozen.known["snapshots"], strict=True):
        target = tmp_path / known["id"]
        mini.restore(manifest, target)
        assert _digests(target) == known["sha256"]


def test_the_recovery_code_opens(frozen):
    """The code that was printed when the archive was made still opens it."""
    assert frozen.person.using(ARCHIVE_PASSWORD=frozen.known["recovery_code"])("snapshots").code == 0


def test_a_new_snapshot_continues_an_old_archive(frozen, tmp_path):
    """The program writes into a frozen archive, and what was there stays as it was."""
    before = truth.tree(frozen.person.repo)
    (tmp_path / "person" / "memories" / "2026-01-01").mkdir(parents=True)
    (tmp_path / "person" / "memories" / "2026-01-01" / "one.json").write_text("{}")
    assert frozen.person("snapshot").code == 0
    after = truth.tree(frozen.person.repo)
    assert {name: after.get(name) for name in before} == before
    assert frozen.person.json("verify", "--data")["snapshots"] == len(frozen.known["snapshots"]) + 1


@pytest.mark.spec("AR-1")
def test_a_header_of_a_later_version(frozen):
    """A flipped version byte in the header asks for an update, and says nothing of damage."""
    header = frozen.person.repo / "archive"
    data = bytearray(header.read_bytes())
    data[9] ^= 2
    header.write_bytes(data)
    done = frozen.person("snapshots")
    assert done.code == ExitCode.NEWER
    assert "the data is not at fault" in done.err


@pytest.mark.spec("AR-50")
def test_a_snapshot_of_a_later_version(frozen, tmp_path):
    """A manifest that needs an unknown feature asks for an update by all commands; older snapshots are read as ever."""
    with frozen.open() as opened:
        known = snapshots.load_all(opened).snapshots[-1]
        later = msgspec.structs.replace(known.manifest, features=(*known.manifest.features, "holograms"))
        newer, _ = snapshots.commit(opened, later)
    for words in (["restore", "files", newer, "--to", tmp_path / "to"], ["verify", newer]):
        done = frozen.person(*words)
        assert done.code == ExitCode.NEWER
        assert "holograms" in done.err
    assert not (tmp_path / "to").exists()
    for words in (["snapshots"], ["verify"]):
        assert frozen.person(*words).code == ExitCode.NEWER
    assert frozen.person("restore", "files", known.snapshot_id, "--to", tmp_path / "to").code == 0


def test_golden_files_are_read_only_in_effect():
    """The frozen folders themselves hold no leftovers: nothing but objects and what is expected of them."""
    for name in ARCHIVES:
        inside = {path.name for path in (GOLDEN / name / "repo").iterdir()}
        assert inside == {"archive", "keys", "packs", "index", "snapshots"}
        assert {entry.name for entry in os.scandir(GOLDEN / name)} == {"repo", "expected.json"}
