"""What goes to the terminal while an operation runs: status, progress and problems, all on stderr."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from archiver.monitor import Problem

if TYPE_CHECKING:
    from archiver.cli.progress import Bar


class Terminal:
    """A monitor that shows a progress bar on a terminal, and problems always.

    Args:
        quiet: Show no progress even on a terminal (the result is for a program).
    """

    def __init__(self, *, quiet: bool) -> None:
        self.problems: list[Problem] = []
        self._bar: Bar | None = None
        if not quiet and sys.stderr.isatty():
            from archiver.cli import progress  # noqa: PLC0415  slow to import, and useless without a terminal

            self._bar = progress.Bar()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """A stage starts."""
        if self._bar is not None:
            self._bar.begin(what, total_bytes)

    def advance(self, done_bytes: int, what: str | None = None) -> None:  # noqa: ARG002  part of the protocol
        """More of the stage is done."""
        if self._bar is not None:
            self._bar.advance(done_bytes)

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
