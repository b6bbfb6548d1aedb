"""What goes to the terminal while an operation runs: status, progress and problems, all on stderr."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from archiver.monitor import Problem


class Terminal:
    """A monitor that shows a progress bar on a terminal, and problems always.

    Args:
        quiet: Show no progress even on a terminal (the result is for a program).
    """

    def __init__(self, *, quiet: bool) -> None:
        self.problems: list[Problem] = []
        self._task: TaskID | None = None
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """A stage starts."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total_bytes)

    def advance(self, done_bytes: int, what: str | None = None) -> None:  # noqa: ARG002  part of the protocol
        """More of the stage is done."""
        if self._task is not None:
            self._progress.advance(self._task, done_bytes)

    def note(self, message: str) -> None:
        """A line for the person."""
        say(message)

    def problem(self, problem: Problem) -> None:
        """Show a problem at once and keep it."""
        self.problems.append(problem)
        where = f"{problem.source}: " if problem.source else ""
        say(f"archive: problem: {where}{problem.message}")


def say(message: str) -> None:
    """One line on stderr."""
    print(message, file=sys.stderr)  # noqa: T201  the one home of status output


def out(message: str) -> None:
    """One line of the result, on stdout."""
    print(message)  # noqa: T201  the one home of results
