"""What goes wrong with single sources is said, and never stops the others."""

import shutil
from pathlib import Path

import pytest

from archiver.errors import ExitCode
from tests.support import truth
from tests.support.command import Command
from tests.support.samplehome import make_home

GLOBAL = ".config/Cursor/User/globalStorage/state.vscdb"
PLAN = ".cursor/plans/slow-query-on-importer-list_a65cde42.plan.md"


@pytest.fixture
def person(tmp_path) -> Command:
    make_home(tmp_path / "person")
    found = Command(tmp_path)
    assert found("init", "--no-recovery-code").code == 0
    return found


def _home(person: Command) -> Path:
    return person.folder / "person"


def test_one_bad_source(person):
    """A broken database gives exit code 3 and a line that names source and reason; the snapshot is there all the same."""
    database = _home(person) / GLOBAL
    database.write_bytes(database.read_bytes()[:100_000])
    done = person("snapshot")
    assert done.code == ExitCode.PROBLEMS
    assert f"archive: problem: {GLOBAL}: " in done.err
    assert "malformed" in done.err
    assert "1 problem, kept with the snapshot" in done.out
    (listed,) = person.json("snapshots")["snapshots"]
    assert [(problem["code"], problem["source"]) for problem in listed["problems"]] == [
        ("corrupt-database", GLOBAL)
    ]
    assert person("verify", "--data").code == ExitCode.DONE
    assert person("restore", "files", "latest", "--to", person.folder / "to", "--source", GLOBAL).code == 0
    assert (person.folder / "to" / GLOBAL).read_bytes() == database.read_bytes()


def test_a_source_that_cannot_be_restored(person):
    """A damaged source is left out and named, on stderr and in JSON; the exit code says that the archive is damaged."""
    assert person("snapshot").code == 0
    before = set((person.repo / "packs").rglob("*/*"))
    (_home(person) / PLAN).write_text("another plan\n" * 100)
    assert person("snapshot").code == 0
    (pack,) = set((person.repo / "packs").rglob("*/*")) - before
    data = bytearray(pack.read_bytes())
    data[100] ^= 1
    pack.write_bytes(data)
    done = person("restore", "files", "latest", "--to", person.folder / "to", "--json")
    assert done.code == ExitCode.DAMAGED
    assert f"archive: problem: {PLAN}: not restored: " in done.err
    assert [problem["source"] for problem in done.document["problems"]] == [PLAN]
    restored = truth.tree(person.folder / "to")
    assert sorted(restored) == sorted(file["source"] for file in done.document["files"])
    assert PLAN not in restored
    assert GLOBAL in restored


def test_a_snapshot_after_a_pack_was_lost(person):
    """When a pack is gone the next snapshot says so, with exit code 3, and restores whole."""
    assert person("snapshot").code == 0
    shutil.rmtree(person.repo / "packs")
    lost = person("verify")
    assert lost.code == ExitCode.DAMAGED
    assert f"hit: snapshot {person.json('snapshots')['snapshots'][0]['id'][:8]}: " in lost.out
    done = person("snapshot")
    assert done.code == ExitCode.PROBLEMS
    assert "is stored again" in done.err
    restored = person.json("restore", "files", "latest", "--to", person.folder / "to")
    assert len(restored["files"]) == len(person.json("sources")["sources"])


def test_nothing_is_overwritten(person):
    """A second restore into the same folder is refused, unless it is told to overwrite."""
    assert person("snapshot").code == 0
    words = ("restore", "files", "latest", "--to", person.folder / "to", "--source", GLOBAL)
    assert person(*words).code == ExitCode.DONE
    before = truth.tree(person.folder / "to")
    (person.folder / "to" / f"{GLOBAL}-wal").write_bytes(b"stale")
    assert person(*words).code == ExitCode.IMPOSSIBLE
    assert person(*words, "--overwrite").code == ExitCode.DONE
    assert truth.tree(person.folder / "to") == before
