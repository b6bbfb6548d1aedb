"""The life of one large database, with a snapshot by each tool after each thing that happens to it."""

import filecmp
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from benchmarks import tools
from benchmarks.command import BenchmarkError, Command, answer, module, run
from benchmarks.results import NewRows, Row
from benchmarks.tools import Place, Tool

DATABASE = Path(".config/Cursor/User/globalStorage/state.vscdb")
FIRST, UNCHANGED, COPIED, VACUUMED = "first snapshot", "unchanged", "copied beside itself", "after VACUUM"
RESTORE, VERIFY = "restore all", "verify all"

# Times within 2 s of a capture prove nothing, so that every careful tool reads such a file again.
SETTLE_SECONDS = 3
_READ_BYTES = 1 << 20


def hour_name(number: int) -> str:
    """The phase of an hour of work; the first is 1."""
    return f"hour {number}"


def play(
    folder: Path, original: Path, hour_count: int, tell: Callable[[Row], None]
) -> tuple[list[Row], dict[str, NewRows]]:
    """One round, from empty stores to verified ones.

    Args:
        folder: A new folder, for everything.
        original: A closed database; a copy of it is worked on.
        hour_count: How many hours of work.
        tell: Hears of each cost at once.

    Returns:
        All costs in order, and what each hour wrote by the name of its phase.

    Raises:
        BenchmarkError: A command failed, or what it restored is not what was there.
    """
    place = Place(folder, folder / "home", folder / "home" / DATABASE)
    place.database.parent.mkdir(parents=True)
    shutil.copyfile(original, place.database)
    rows: list[Row] = []
    hours: dict[str, NewRows] = {}
    for row in _Round(place).phases(hour_count, hours):
        tell(row)
        rows.append(row)
    return rows, hours


class _Round:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._tools = tools.installed(place)
        self._number = 0

    def phases(self, hour_count: int, hours: dict[str, NewRows]) -> Iterator[Row]:
        self._set_up()
        yield from self._snapshots(FIRST)
        yield from self._snapshots(UNCHANGED)
        for number in range(1, hour_count + 1):
            written = answer(module("data", "hour", self._place.database, number))
            hours[hour_name(number)] = msgspec.json.decode(written, type=NewRows)
            yield from self._snapshots(hour_name(number))
        yield from self._copied()
        answer(module("data", "vacuum", self._place.database))
        yield from self._snapshots(VACUUMED)
        yield from self._restores()
        yield from self._verifies()

    def _set_up(self) -> None:
        for tool in self._tools:
            tool.store.parent.mkdir()
            if tool.setup:
                answer(tool.setup)

    def _snapshots(self, phase: str, *, only_history: bool = False) -> Iterator[Row]:
        self._number += 1
        self._settle()
        for tool in self._tools:
            if tool.verify is None:
                if only_history:
                    continue
                shutil.rmtree(tool.store, ignore_errors=True)
                tool.store.mkdir()
            yield self._measured(phase, tool, tool.snapshot(self._number))

    def _copied(self) -> Iterator[Row]:
        """Cursor copies its database beside itself when it closes."""
        copy = self._place.database.with_name("state.vscdb.backup")
        shutil.copyfile(self._place.database, copy)
        yield from self._snapshots(COPIED, only_history=True)
        copy.unlink()

    def _restores(self) -> Iterator[Row]:
        for tool in self._tools:
            if tool.restore:
                to = self._place.folder / "restored"
                to.mkdir()
                yield self._measured(RESTORE, tool, tool.restore(self._number, to))
                self._check_restored(tool, to)
                shutil.rmtree(to)

    def _check_restored(self, tool: Tool, to: Path) -> None:
        database = self._place.database
        found = next(to.rglob(database.name), None)
        if found is None:
            raise BenchmarkError(f"{tool.name} restored no {database.name}")
        if not filecmp.cmp(found, database, shallow=False):
            sizes = f"{found.stat().st_size} bytes restored, {database.stat().st_size} expected"
            raise BenchmarkError(f"{tool.name} restored another {database.name} than it was given: {sizes}")

    def _verifies(self) -> Iterator[Row]:
        for tool in self._tools:
            if tool.verify:
                yield self._measured(VERIFY, tool, tool.verify)

    def _settle(self) -> None:
        # borg reads the newest file of all again each time; this one is newer than the database.
        (self._place.home / "newest").write_text(str(self._number), encoding="ascii")
        time.sleep(SETTLE_SECONDS)

    def _measured(self, phase: str, tool: Tool, command: Command) -> Row:
        """Run it with the same start for all: the database in memory, nothing left to be written to the disk."""
        _read(self._place.database)
        os.sync()
        before = folder_bytes(tool.store)
        cost = run(command, self._place.folder / "log")
        added_bytes = folder_bytes(tool.store) - before
        return Row(phase, tool.name, msgspec.structs.replace(cost, added_bytes=added_bytes))


def folder_bytes(folder: Path) -> int:
    """The lengths of all files in it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _read(file: Path) -> None:
    with file.open("rb", buffering=0) as opened:
        while opened.read(_READ_BYTES):
            pass
