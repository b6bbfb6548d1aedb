"""The help of every command, as a person sees it.

After a change on purpose: ``python -m tests.unit.test_cli_help`` writes the files anew.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from archiver.cli.main import app
from archiver.errors import ExitCode
from tests.support.command import Command

GOLDEN = Path(__file__).parents[1] / "golden" / "help"

Words = tuple[str, ...]


def _commands(group: typer.Typer, words: Words = ()) -> Iterator[Words]:
    yield words
    for command in group.registered_commands:
        yield (*words, str(command.name))
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(inner.typer_instance, (*words, str(inner.name)))


COMMANDS = sorted(_commands(app))


def _file(words: Words) -> Path:
    return GOLDEN / f"{'-'.join(('archive', *words))}.txt"


@pytest.fixture
def person(tmp_path) -> Command:
    return Command(tmp_path)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help(person, words):
    """The help on stdout is the golden text, with ``-h`` as with ``--help``."""
    for option in ("--help", "-h"):
        done = person(*words, option)
        assert (done.code, done.err) == (0, "")
        assert done.out == _file(words).read_text()


def test_no_help_is_left_over():
    """There is a golden text for every command, and for nothing else."""
    assert {path.name for path in GOLDEN.iterdir()} == {_file(words).name for words in COMMANDS}


@pytest.mark.parametrize("code", ExitCode, ids=lambda code: code.name)
def test_exit_codes_are_listed(code):
    """Every exit code that the program may leave with stands in its help, once."""
    words = _file(()).read_text().partition("Exit codes:")[2].split()
    assert words.count(str(int(code))) == 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_is_whole(words):
    """Each command says what it does in a sentence, and each of its options what it is for."""
    lines = _file(words).read_text().splitlines()
    assert lines[2].startswith("  ")
    assert lines[2].strip()[0].isupper()
    bare = [
        line
        for line in lines
        if line.startswith("  -") and len(line.split("  ")) < 3 and "--help" not in line
    ]
    assert bare == []


def _write_all() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for words in COMMANDS:
            _file(words).write_text(Command(Path(folder))(*words, "--help").out)


if __name__ == "__main__":
    _write_all()
