"""Many small stores that did not change: what each of them costs a snapshot."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks import tools
from benchmarks.command import Command, answer, module, run
from benchmarks.results import SmallStores
from benchmarks.scenario import SETTLE_SECONDS, folder_bytes
from benchmarks.tools import Place


def play(folder: Path, count: int, tell: Callable[[str], None]) -> SmallStores:
    """Make ``count`` stores in the new ``folder`` and take snapshots of them.

    Raises:
        BenchmarkError: A command failed.
    """
    place = Place(folder, folder / "home", folder)
    answer(module("data", "stores", place.home, count))
    tool = tools.archive(place)
    tool.store.parent.mkdir()
    if tool.setup:
        answer(tool.setup)
    time.sleep(SETTLE_SECONDS)
    tell(f"snapshots of {count} small stores")
    operation = module("operation", place.home)
    operation = msgspec.structs.replace(operation, environment=tools.archive_environment(place))
    return SmallStores(
        first=_seconds(place, tool.snapshot(1)),
        unchanged=_seconds(place, tool.snapshot(2)),
        operation=float(answer(operation)),
        start=_seconds(place, tools.archive_command(place, "snapshots")),
        plain_bytes=folder_bytes(place.home),
    )


def _seconds(place: Place, command: Command) -> float:
    os.sync()
    return run(command, place.folder / "log").seconds
