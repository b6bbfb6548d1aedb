"""The tools that are measured, each as the commands that a user of it would give."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.command import Command, module

ARCHIVE = "archive"
SQLITE = "SQLite backup"
CP = "cp"
RESTIC = "restic"
BORG = "borg"
_PASSWORD = "made up for a benchmark"  # noqa: S105  of stores that live for minutes


class Place(msgspec.Struct, frozen=True):
    """Where a round happens.

    Attributes:
        folder: All of it; each tool keeps its store and its caches in a folder of its own name.
        home: What is backed up, directly in ``folder``.
        database: The one database in the home, closed.
    """

    folder: Path
    home: Path
    database: Path


class Tool(msgspec.Struct, frozen=True):
    """One way to keep what a home holds.

    Attributes:
        name: As it is in the tables.
        store: The folder whose growth is what a snapshot costs; its parent exists.
        snapshot: Takes a snapshot with this number.
        setup: Makes the store.
        restore: Writes everything of the snapshot with this number below an empty folder.
        verify: Reads and proves everything in the store. A tool without it has no history either: its store is
            made anew for each snapshot.
    """

    name: str
    store: Path
    snapshot: Callable[[int], Command]
    setup: Command | None = None
    restore: Callable[[int, Path], Command] | None = None
    verify: Command | None = None


def installed(place: Place) -> list[Tool]:
    """The tools that this machine has, ours first."""
    tools = [archive(place), _sqlite_backup(place), _cp(place)]
    others = {RESTIC: _restic, BORG: _borg}
    return tools + [make(place) for name, make in others.items() if shutil.which(name)]


def archive(place: Place) -> Tool:
    """This project's command."""
    return Tool(
        name=ARCHIVE,
        store=_store(place, ARCHIVE),
        setup=archive_command(place, "init", "--no-recovery-code"),
        snapshot=lambda _: archive_command(place, "snapshot", "--home", str(place.home)),
        restore=lambda _, to: archive_command(place, "restore", "files", "latest", "--to", str(to)),
        verify=archive_command(place, "verify", "--data"),
    )


def archive_command(place: Place, *words: str) -> Command:
    """The command as it is installed beside this Python."""
    program = Path(sys.executable).with_name("archive")
    return Command((str(program), *words), archive_environment(place), place.folder)


def archive_environment(place: Place) -> dict[str, str]:
    """Which archive, with which password, with its cache where the round is."""
    return {
        "ARCHIVE_REPO": str(_store(place, ARCHIVE)),
        "ARCHIVE_PASSWORD": _PASSWORD,
        "ARCHIVE_CACHE": str(place.folder / ARCHIVE / "cache"),
    }


def _sqlite_backup(place: Place) -> Tool:
    store = _store(place, SQLITE)
    command = module("sqlite_backup", place.database, store / place.database.name)
    return Tool(name=SQLITE, store=store, snapshot=lambda _: command)


def _cp(place: Place) -> Tool:
    store = _store(place, CP)
    copy = str(store / place.database.name)
    return Tool(
        name=CP,
        store=store,
        snapshot=lambda _: Command(("cp", str(place.database), copy)),
        restore=lambda _, to: Command(("cp", copy, str(to))),
    )


def _restic(place: Place) -> Tool:
    store = _store(place, RESTIC)
    environment = {
        "RESTIC_REPOSITORY": str(store),
        "RESTIC_PASSWORD": _PASSWORD,
        "RESTIC_CACHE_DIR": str(place.folder / RESTIC / "cache"),
    }

    def command(*words: str) -> Command:
        return Command(("restic", *words), environment, place.folder)

    return Tool(
        name=RESTIC,
        store=store,
        setup=command("init", "--repository-version", "2"),
        snapshot=lambda _: command("backup", "--compression", "auto", place.home.name),
        restore=lambda _, to: command("restore", "latest", "--target", str(to)),
        verify=command("check", "--read-data"),
    )


def _borg(place: Place) -> Tool:
    store = _store(place, BORG)
    environment = {
        "BORG_REPO": str(store),
        "BORG_PASSPHRASE": _PASSWORD,
        "BORG_BASE_DIR": str(place.folder / BORG / "base"),
        "BORG_CACHE_DIR": str(place.folder / BORG / "cache"),
    }

    def command(*words: str, folder: Path = place.folder) -> Command:
        return Command(("borg", *words), environment, folder)

    return Tool(
        name=BORG,
        store=store,
        setup=command("init", "--encryption", "repokey-blake2"),
        snapshot=lambda number: command("create", "--compression", "zstd,3", f"::{number}", place.home.name),
        restore=lambda number, to: command("extract", f"::{number}", folder=to),
        verify=command("check", "--verify-data"),
    )


def _store(place: Place, name: str) -> Path:
    return place.folder / name / "store"
