"""What the files of our SQLite file systems have in common: nobody else can open them, so there is nothing to lock."""


class UnsharedFile:
    """A file of a file system in memory, as SQLite asks for it; who reads and writes is for others to say.

    Source: https://sqlite.org/c3ref/io_methods.html; the names are SQLite's.
    """

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Nothing to keep."""

    def xLock(self, level: int) -> None:  # noqa: N802
        """Nobody else can open it."""

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """Nobody else can open it."""

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        """Nobody else can open it."""
        return False

    def xFileControl(self, op: int, pointer: int) -> bool:  # noqa: N802, ARG002
        """Nothing special is understood."""
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        """The smallest piece that a disk would write."""
        return 4096

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        """Nothing is promised."""
        return 0

    def xClose(self) -> None:  # noqa: N802
        """Nothing is open."""
