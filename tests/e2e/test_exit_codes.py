"""The exit code says whose turn it is."""

import shutil

import pytest

from archiver.errors import ExitCode
from tests.support.command import Command
from tests.support.samplehome import make_home


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Somebody with an archive and one snapshot."""
    folder = tmp_path_factory.mktemp("codes")
    make_home(folder / "person")
    found = Command(folder)
    assert found("init", "--no-recovery-code").code == 0
    assert found("snapshot").code == 0
    return found


@pytest.fixture
def copied(person, tmp_path) -> Command:
    """The same archive, to be damaged, with a cache of its own."""
    shutil.copytree(person.repo, tmp_path / "repo")
    return Command(tmp_path)


@pytest.mark.parametrize("words", [["snapshots"], ["verify"], ["verify", "--names-only"], ["key", "list"]])
def test_no_archive(tmp_path, words):
    """Where nothing is, every command says so, and how to make an archive."""
    done = Command(tmp_path)(*words)
    assert done.code == ExitCode.NO_ARCHIVE
    assert f"there is no archive at {tmp_path / 'repo'}" in done.err
    assert "hint: make one: archive init" in done.err
    assert not (tmp_path / "repo").exists()


def test_a_wrong_password(person):
    """A wrong password is a wrong key, and the hint names the recovery code."""
    done = person.using(ARCHIVE_PASSWORD="not that one")("snapshots")
    assert (done.code, done.out) == (ExitCode.WRONG_KEY, "")
    assert "recovery code" in done.err
    assert "not that one" not in done.err


def test_no_password_and_nobody_to_ask(person):
    """Without a password and without a terminal nothing waits for ever: it is a wrong key, and the hint says what to set."""
    done = person.using(ARCHIVE_PASSWORD=None)("snapshots")
    assert done.code == ExitCode.WRONG_KEY
    assert "ARCHIVE_PASSWORD" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["restore", "files", "latest"],
        ["restore", "files"],
        ["frobnicate"],
        ["verify", "--data-sample", "0"],
        ["verify", "--data-sample", "101%"],
        ["verify", "--data-sample", "much"],
        ["verify", "--names-only", "latest"],
        ["snapshot", "--repo"],
    ],
    ids=" ".join,
)
def test_usage(person, words):
    """What does not fit together is said in one line, without a traceback."""
    done = person(*words)
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert done.err.startswith("archive: error: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [[], ["key"], ["restore"]], ids=["archive", "key", "restore"])
def test_a_command_of_commands_alone_shows_its_help(person, words):
    """Without a command the help says what there is, on stderr, since it is no result."""
    done = person(*words)
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert "Commands:" in done.err


def test_an_archive_that_is_there_already(person):
    """``init`` never touches an archive, and does not ask for a password before it says so."""
    done = person.using(ARCHIVE_PASSWORD=None)("init")
    assert done.code == ExitCode.IMPOSSIBLE
    assert "already" in done.err


def test_a_home_without_cursor(person, tmp_path):
    """A home in which Cursor keeps nothing is no empty snapshot: it is said, and nothing is stored."""
    before = sorted(person.repo.rglob("*"))
    for words in (["snapshot"], ["sources"]):
        done = person(*words, "--home", tmp_path)
        assert done.code == ExitCode.NO_SOURCE
        assert str(tmp_path) in done.err
        assert "--home" in done.err
    assert sorted(person.repo.rglob("*")) == before


def test_a_folder_that_is_not_there(person, tmp_path):
    """A folder that was named and is not there is a problem, named, while the rest is captured."""
    done = person("snapshot", "--cursor-user-dir", tmp_path / "gone")
    assert done.code == ExitCode.PROBLEMS
    assert f"archive: problem: there is no folder {tmp_path / 'gone'}" in done.err
    assert done.out.startswith("snapshot ")


def test_what_does_not_exist_in_the_archive(person, tmp_path):
    """A snapshot or a source that is not there is the user's turn, with a hint where to look."""
    for words in (["ffff"], ["1999-01-01"], ["latest", "--source", "nothing"]):
        done = person("restore", "files", *words, "--to", tmp_path / "to")
        assert done.code == ExitCode.IMPOSSIBLE
        assert "archive: hint: " in done.err
    assert not (tmp_path / "to").exists()


def test_a_damaged_header(copied):
    """A header whose sum does not fit is damage, for every command."""
    header = copied.repo / "archive"
    header.write_bytes(header.read_bytes()[:-1] + b"\0")
    assert copied("snapshots").code == ExitCode.DAMAGED


@pytest.mark.spec("AR-1")
def test_a_newer_header(copied):
    """A header of a later version is no damage: the person is told to update."""
    header = bytearray((copied.repo / "archive").read_bytes())
    header[9] = 2
    (copied.repo / "archive").write_bytes(header)
    for words in (["snapshots"], ["verify", "--names-only"], ["snapshot"]):
        done = copied(*words)
        assert done.code == ExitCode.NEWER, words
    assert "update archive" in done.err


def test_a_lost_header(copied):
    """Objects without a header are a damaged archive, not a missing one: nobody must be led to make a new one there."""
    (copied.repo / "archive").unlink()
    done = copied("snapshots")
    assert done.code == ExitCode.DAMAGED
    assert "copy that object back" in done.err


def test_a_damaged_pack(copied):
    """``verify`` leaves with the code of damage, and names the pack."""
    pack = next((copied.repo / "packs").rglob("*/*"))
    data = bytearray(pack.read_bytes())
    data[200] ^= 1
    pack.write_bytes(data)
    done = copied("verify", "--data")
    assert done.code == ExitCode.DAMAGED
    assert f"damaged: packs/{pack.name[:2]}/{pack.name}: " in done.out


def test_a_damaged_manifest(copied):
    """A snapshot whose manifest is damaged is named, and the others are still listed."""
    manifest, *others = sorted((copied.repo / "snapshots").iterdir())
    data = bytearray(manifest.read_bytes())
    data[100] ^= 1
    manifest.write_bytes(data)
    done = copied("snapshots", "--json")
    assert done.code == ExitCode.DAMAGED
    assert {found["id"] for found in done.document["snapshots"]} == {path.name for path in others}
    (problem,) = done.document["problems"]
    assert problem["code"] == "snapshot-unreadable"
    assert manifest.name in problem["message"]
    assert manifest.name in copied("snapshots").err


def test_a_repo_that_is_a_file(tmp_path):
    """A repo that cannot be a folder is an error of the storage, in one line."""
    (tmp_path / "repo").write_text("not a folder")
    for words in (["init"], ["snapshots"]):
        done = Command(tmp_path)(*words)
        assert done.code in {ExitCode.IMPOSSIBLE, ExitCode.NO_ARCHIVE}
        assert "Traceback" not in done.err


def test_version(person):
    """``--version`` prints the version and needs no command."""
    done = person("--version")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("archive ")
