"""How an operation tells its caller of progress and of findings, without knowing a terminal."""

from typing import Protocol

import msgspec


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding that did not stop the operation, but that the person must hear of.

    Attributes:
        code: A short stable word for programs, such as ``source-busy``.
        message: One sentence for people, lower case, without a full stop.
        source: The path of the source it concerns (inside the home), if it concerns one.
    """

    code: str
    message: str
    source: str | None = None


class Monitor(Protocol):
    """Receives what an operation reports while it runs."""

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """A stage starts; ``total_bytes`` is an estimate where one is known."""

    def advance(self, done_bytes: int, what: str | None = None) -> None:
        """``done_bytes`` more of the stage are done; ``what`` names the object at hand."""

    def note(self, message: str) -> None:
        """Something worth a line on the terminal that is not a problem."""

    def problem(self, problem: Problem) -> None:
        """A non-fatal finding."""


class Silent:
    """A monitor that keeps the problems and drops the rest."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def begin(self, what: str, total_bytes: int | None = None) -> None:
        """Nothing to show."""

    def advance(self, done_bytes: int, what: str | None = None) -> None:
        """Nothing to show."""

    def note(self, message: str) -> None:
        """Nothing to show."""

    def problem(self, problem: Problem) -> None:
        """Keep the problem."""
        self.problems.append(problem)
