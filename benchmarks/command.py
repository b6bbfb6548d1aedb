"""Runs one command to its end, and says what it cost."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec

from benchmarks.results import Cost

ROOT = Path(__file__).resolve().parents[1]
LIMIT_SECONDS = 3600
_FOREIGN = ("ARCHIVE_", "RESTIC_", "BORG_")
# macOS counts in bytes, Linux in KiB.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class BenchmarkError(Exception):
    """A command failed, so that its figures would mean nothing."""


class Command(msgspec.Struct, frozen=True):
    """A program and its arguments.

    Attributes:
        words: The program first.
        environment: What is set for it beside our own environment.
        folder: Where it runs.
    """

    words: tuple[str, ...]
    environment: dict[str, str] = {}
    folder: Path = ROOT


def module(name: str, *arguments: object) -> Command:
    """A module of this package as a program of its own."""
    return Command((sys.executable, "-m", f"benchmarks.{name}", *map(str, arguments)))


def run(command: Command, log: Path) -> Cost:
    """Run it; what it prints goes to ``log``.

    Raises:
        BenchmarkError: It did not end with exit code 0 within ``LIMIT_SECONDS``.
    """
    began = time.monotonic()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command.words,
            cwd=command.folder,
            env=_environment(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        limit = threading.Timer(LIMIT_SECONDS, process.kill)
        limit.start()
        try:
            # Not `process.wait`: only wait4 tells the memory of this one child.
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            limit.cancel()
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchmarkError(_failure(command, process.returncode, log.read_text(errors="replace")))
    return Cost(seconds, usage.ru_maxrss * _RSS_UNIT)


def answer(command: Command) -> str:
    """Run it unmeasured, and give what it printed on stdout.

    Raises:
        BenchmarkError: It did not end with exit code 0.
    """
    done = subprocess.run(
        command.words,
        cwd=command.folder,
        env=_environment(command),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise BenchmarkError(_failure(command, done.returncode, done.stderr))
    return done.stdout


def _environment(command: Command) -> dict[str, str]:
    """Ours without what a person has set for real archives: a benchmark must not touch those."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return inherited | command.environment


def _failure(command: Command, code: int, printed: str) -> str:
    return f"{' '.join(command.words)} ended with exit code {code}:\n{printed[-2000:]}"
