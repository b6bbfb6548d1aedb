"""Receivers of captures: one keeps every byte and insists on what specs/capture.md promises, one writes a large file."""

from pathlib import Path

from archiver.model import Role


class Kept:
    """One part's bytes; gaps read as zeros."""

    def __init__(self, page_bytes: int) -> None:
        self.page_bytes = page_bytes
        self.data = bytearray()
        self.finished = False
        self._first_page_given = False

    def write(self, offset: int, data: bytes) -> None:
        assert not self.finished, "written to after its end"
        assert not self._first_page_given, "the first page comes last"
        if offset == 0 and self.page_bytes:
            self._first_page_given = True
            self.data[: len(data)] = data
            return
        assert offset >= len(self.data), "offsets rise"
        assert self.page_bytes or offset == len(self.data), "only a database has holes"
        self.data += bytes(offset - len(self.data)) + data

    def finish(self, size_bytes: int) -> None:
        assert size_bytes == len(self.data)
        assert self._first_page_given or not self.page_bytes
        self.finished = True


class Received:
    """All parts of one source, by role."""

    def __init__(self) -> None:
        self.parts: dict[Role, Kept] = {}

    def part(self, role: Role, page_bytes: int) -> Kept:
        self.parts[role] = Kept(page_bytes)
        return self.parts[role]

    @property
    def files(self) -> dict[Role, bytes]:
        """The bytes of the finished parts."""
        return {role: bytes(part.data) for role, part in self.parts.items() if part.finished}


class Written:
    """Writes the database to a file, with holes where it has holes, and forgets everything else."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def part(self, role: Role, page_bytes: int) -> "_WrittenPart":  # noqa: ARG002
        return _WrittenPart(self._file if role is Role.DATABASE else Path("/dev/null"))


class _WrittenPart:
    def __init__(self, file: Path) -> None:
        self._opened = file.open("wb")

    def write(self, offset: int, data: bytes) -> None:
        self._opened.seek(offset)
        self._opened.write(data)

    def finish(self, size_bytes: int) -> None:  # noqa: ARG002
        self._opened.close()
