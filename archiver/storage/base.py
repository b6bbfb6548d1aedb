"""What an archive asks of the place that holds it."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from archiver.model import Bytes


class Listed(NamedTuple):
    """One stored object."""

    name: str
    size_bytes: int


class Storage(Protocol):
    """Named bytes, written once. Names are relative, with ``/`` between parts.

    Every method raises ``StorageError`` when the place does not answer, has no room or forbids it.
    """

    @property
    def location(self) -> str:
        """Where it is, for people."""

    def put(self, name: str, data: Bytes) -> bool:
        """Store ``data`` durably unless the name is taken; whole or not at all.

        Returns:
            Whether it was stored; an object that was there stays as it is.
        """

    def get(self, name: str) -> bytes:
        """The object's bytes.

        Raises:
            ObjectMissingError: There is none of this name.
        """

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        """``length`` bytes from ``offset``; fewer where the object ends.

        Raises:
            ObjectMissingError: There is none of this name.
        """

    def list(self, prefix: str = "") -> Iterator[Listed]:
        """All objects whose names start with ``prefix``, in no order that counts."""

    def delete(self, name: str) -> None:
        """Remove the object; done too when there is none."""
