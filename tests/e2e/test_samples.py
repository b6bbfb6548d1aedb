"""The stores that the real SDK wrote: captured with their hot WALs, and restored."""

from pathlib import Path

import pytest

from tests.support import truth
from tests.support.command import Command

SIDECARS = ("-wal", "-shm", "-journal")


@pytest.fixture
def person(tmp_path) -> Command:
    found = Command(tmp_path)
    assert found("init", "--no-recovery-code").code == 0
    return found


def test_a_real_home_comes_back(person, sdk_sample, tmp_path):
    """Restored databases have the rows that SQLite reads in the originals, files are equal, and the home is untouched."""
    home = sdk_sample / "home"
    before = truth.tree(home)
    taken = person.json("snapshot", "--home", home)
    assert truth.tree(home) == before
    assert {source["status"] for source in taken["sources"]} == {"captured"}
    assert person("restore", "files", "latest", "--to", tmp_path / "to").code == 0
    scratch = tmp_path / "x"
    scratch.mkdir()
    for source in taken["sources"]:
        _same(home / source["path"], tmp_path / "to" / source["path"], scratch)
    _nothing_was_missed(home, {source["path"] for source in taken["sources"]})


def _same(original: Path, restored: Path, scratch: Path) -> None:
    if Path(f"{original}-wal").exists() or original.read_bytes().startswith(truth.MAGIC):
        assert truth.tables(restored, scratch) == truth.tables(original, scratch), original
        assert truth.integrity(restored) == "ok"
    else:
        assert restored.read_bytes() == original.read_bytes(), original


def _nothing_was_missed(home: Path, captured: set[str]) -> None:
    """Every database, log and transcript of the sample is among the sources."""
    suffixes = (".db", ".ndjson", ".jsonl")
    there = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.name.endswith(suffixes)}
    assert there <= captured
