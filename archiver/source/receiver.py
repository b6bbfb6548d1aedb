"""Where the bytes of a capture go: what an image is made of, seen from the source."""

from typing import Protocol

from archiver.model import Role


class Part(Protocol):
    """Receives the bytes of one role."""

    def write(self, offset: int, data: bytes) -> None:
        """Bytes at an offset in bytes.

        Offsets rise, and what is left out between them reads as zeros; but the first page of a database comes last,
        since SQLite writes it when all others are there.
        """

    def finish(self, size_bytes: int) -> None:
        """All bytes are there; a part that is never finished is dropped.

        The parts of a capture are finished together, when all of them are known to belong together.
        """


class Receiver(Protocol):
    """Receives the parts of one source."""

    def part(self, role: Role, page_bytes: int) -> Part:
        """A new part; one that was asked for before in the same role is dropped, finished or not.

        Args:
            role: Which bytes these are.
            page_bytes: The database's page size, and 0 for what is not a database.
        """
