"""The real command ``archive``: run in this process for speed, or as a program of its own."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from archiver.cli.main import run
from tests.support.archives import PASSWORD

PROGRAM = Path(sys.executable).with_name("archive")

_OURS = ("ARCHIVE_", "CURSOR_", "XDG_")


class Done(NamedTuple):
    """What a run left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Command:
    """The command as one person uses it, who has their own home, archive and cache below ``folder``.

    Args:
        folder: Where everything of theirs lies.
        **variables: Further environment variables; ``None`` takes one away.
    """

    def __init__(self, folder: Path, **variables: str | None) -> None:
        self.folder = folder
        self.repo = folder / "repo"
        self.cache = folder / "cache"
        (folder / "person").mkdir(parents=True, exist_ok=True)
        own = {
            "HOME": str(folder / "person"),
            "ARCHIVE_REPO": str(self.repo),
            "ARCHIVE_CACHE": str(self.cache),
            "ARCHIVE_PASSWORD": PASSWORD,
            "COLUMNS": "100",
            **variables,
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        self.environment = kept | {name: value for name, value in own.items() if value is not None}

    def using(self, **variables: str | None) -> "Command":
        """The same person with other environment variables."""
        return Command(self.folder, **variables)

    def __call__(self, *arguments: object) -> Done:
        """Run in this process, with nobody at the terminal."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(os, "environ", self.environment)
            patch.setattr(sys, "stdin", io.StringIO())
            patch.chdir(self.folder)
            code = run([str(argument) for argument in arguments])
        return Done(code, out.getvalue(), err.getvalue())

    def json(self, *arguments: object, code: int = 0) -> dict[str, Any]:
        """Run with ``--json``, expect an exit code, and give the result."""
        done = self(*arguments, "--json")
        assert done.code == code, done.err
        return done.document

    def start(self, *arguments: object, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the installed program."""
        command = [str(PROGRAM), *map(str, arguments)]
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, **options)
