"""A storage that fails on purpose."""

from collections.abc import Iterator

from archiver.errors import StorageError
from archiver.model import Bytes
from archiver.storage.base import Listed, Storage


class FailingStorage:
    """Passes calls on until the k-th one, which fails, as do all after it: as if the process or the disk had died.

    Args:
        inner: The real storage.
        fail_at: Which call fails, from 1 on; 0 for none.
        done_first: Whether the failing call still takes effect, as when only its answer is lost.
    """

    def __init__(self, inner: Storage, fail_at: int = 0, *, done_first: bool = False) -> None:
        self.inner = inner
        self.calls = 0
        self._fail_at = fail_at
        self._done_first = done_first

    @property
    def location(self) -> str:
        return self.inner.location

    def put(self, name: str, data: Bytes) -> bool:
        if self._fails_now():
            if self._done_first and self.calls == self._fail_at:
                self.inner.put(name, data)
            raise StorageError("the storage fails on purpose")
        return self.inner.put(name, data)

    def get(self, name: str) -> bytes:
        self._fail_now()
        return self.inner.get(name)

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        self._fail_now()
        return self.inner.get_range(name, offset, length)

    def list(self, prefix: str = "") -> Iterator[Listed]:
        self._fail_now()
        return self.inner.list(prefix)

    def delete(self, name: str) -> None:
        self._fail_now()
        self.inner.delete(name)

    def _fails_now(self) -> bool:
        self.calls += 1
        return 0 < self._fail_at <= self.calls

    def _fail_now(self) -> None:
        if self._fails_now():
            raise StorageError("the storage fails on purpose")
