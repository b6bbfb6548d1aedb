"""Storage in memory, for tests and for trying things out."""

import threading
from collections.abc import Iterator

from archiver.errors import ObjectMissingError
from archiver.model import Bytes
from archiver.storage.base import Listed


class MemoryStorage:
    """Objects in a dictionary."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self._lock = threading.Lock()

    @property
    def location(self) -> str:
        """A name for people."""
        return "memory"

    def put(self, name: str, data: Bytes) -> bool:
        """Keep ``data`` unless the name is taken."""
        with self._lock:
            taken = name in self.objects
            if not taken:
                self.objects[name] = bytes(data)
        return not taken

    def get(self, name: str) -> bytes:
        """The object's bytes."""
        try:
            return self.objects[name]
        except KeyError:
            raise ObjectMissingError(f"there is no object {name}") from None

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        """Some of the object's bytes."""
        return self.get(name)[offset : offset + length]

    def list(self, prefix: str = "") -> Iterator[Listed]:
        """The objects of this prefix."""
        for name, data in list(self.objects.items()):
            if name.startswith(prefix):
                yield Listed(name, len(data))

    def delete(self, name: str) -> None:
        """Forget the object."""
        self.objects.pop(name, None)
