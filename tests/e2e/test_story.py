"""The story that README.md tells: init, snapshot, restore."""

import os
import re
from pathlib import Path

import pytest

from tests.support import truth
from tests.support.command import Command
from tests.support.samplehome import make_home

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def person(tmp_path) -> Command:
    """Somebody whose own home is a sample home, so that no option is needed."""
    found = Command(tmp_path)
    make_home(tmp_path / "person")
    return found


def _commands_of_readme() -> list[list[str]]:
    return [line.split()[1:] for line in re.findall(r"^archive .*$", README.read_text(), re.MULTILINE)]


def test_the_commands_of_the_readme(person, tmp_path):
    """The README's own lines, word for word: all succeed, and every source is back as SQLite and the disk have it."""
    commands = _commands_of_readme()
    assert [words[0] for words in commands] == ["init", "snapshot", "restore"]
    for words in commands:
        done = person(*words)
        assert done.code == 0, done.err
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    listed = person.json("sources")["sources"]
    assert len(listed) > 50
    for source in listed:
        restored = (tmp_path / "restored" / source["path"]).read_bytes()
        assert truth.uncounted(restored) == truth.content(Path(source["file"]), scratch), source["path"]
    assert len(truth.tree(tmp_path / "restored")) == len(listed)


def test_the_same_as_a_program(person):
    """The installed program does the same: results on stdout, status on stderr, and no progress bar in a pipe."""
    code = person("init").out
    assert re.fullmatch(r"(\w{4}-){8}\w{4}\n", code)
    with person.start("snapshot", stdout=-1, stderr=-1) as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, b"")
    assert re.match(rb"snapshot [0-9a-f]{8} of ", out)


def test_human_output(person):
    """Stdout has the result only; what is merely status goes to stderr."""
    made = person("init")
    assert len(made.out.splitlines()) == 1
    assert made.err.startswith("made an encrypted archive in ")
    empty = person("snapshots")
    assert (empty.out, empty.code) == ("", 0)
    assert "no snapshot yet" in empty.err
    taken = person("snapshot", "--tag", "first")
    assert re.fullmatch(r"snapshot \w{8} of .*\n.*\n.* s\n", taken.out)
    assert taken.err == ""
    listed = person("snapshots").out.splitlines()
    assert listed[0].split() == ["ID", "TIME", "HOST", "FILES", "STORED", "PROBLEMS", "TAGS"]
    assert listed[1].split()[0] == taken.out.split()[1]
    assert listed[1].endswith("first")
    assert person("verify").out.endswith("all sound\n")


def test_a_reader_that_goes_away_is_no_error(person):
    """When the program that reads our output stops reading, there is no traceback and no error."""
    read, write = os.pipe()
    os.close(read)
    with person.start("--help", stdout=write, stderr=-1) as running:
        os.close(write)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, b"")
