"""The progress bar: what is done, how fast, and how long it will take."""

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


class Bar:
    """One bar on stderr, for one stage at a time; gone when it is closed."""

    def __init__(self) -> None:
        self._task: TaskID | None = None
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._progress.start()

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()

    def begin(self, what: str, total_bytes: int | None) -> None:
        """A stage starts, and the one before is over."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total_bytes)

    def advance(self, done_bytes: int) -> None:
        """More of the stage is done."""
        if self._task is not None:
            self._progress.advance(self._task, done_bytes)
