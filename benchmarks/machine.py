"""What the figures were measured with: they mean little without it."""

import os
import platform
import shutil
from datetime import UTC, datetime
from importlib.metadata import version

from benchmarks.command import Command, answer
from benchmarks.tools import BORG, RESTIC

_VERSION_WORDS = {RESTIC: ("restic", "version"), BORG: ("borg", "--version")}


def describe(database_bytes: int, rounds: int) -> str:
    """One paragraph: when, on what, with which versions."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = [
        f"archive {version('cursor-archive')}",
        f"Python {platform.python_version()}",
        f"SQLite {version('apsw-sqlite3mc')}",
        *(_first_line(words) for name, words in _VERSION_WORDS.items() if shutil.which(name)),
    ]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs,"
        f" {memory_gb:.0f} GB of memory. Database of {database_bytes / 1e6:.0f} MB;"
        f" {'one round' if rounds == 1 else f'medians of {rounds} rounds'}. {', '.join(versions)}."
    )


def _first_line(words: tuple[str, ...]) -> str:
    line = answer(Command(words)).splitlines()[0]
    return " ".join(line.split()[:2])
