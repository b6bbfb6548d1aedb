"""Identifies leaves in a thread of its own, so that the next ones can be read meanwhile (BLAKE3 releases the interpreter's lock)."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from archiver.model import BlobId

BATCH = 16
MAX_WAITING = 2


class Ahead:
    """Takes leaves in, and hands them on in the same order, with their ids.

    Args:
        identify: Gives a leaf's id; called in another thread.
        store: Receives each leaf and its id; called in the caller's thread.
    """

    def __init__(self, identify: Callable[[bytes], BlobId], store: Callable[[bytes, BlobId], None]) -> None:
        self._identify = identify
        self._store = store
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="identify")
        self._batch: list[bytes] = []
        self._waiting: deque[tuple[list[bytes], Future[list[BlobId]]]] = deque()

    def add(self, leaf: bytes) -> None:
        """Take in the next leaf."""
        self._batch.append(leaf)
        if len(self._batch) == BATCH:
            self._submit()

    def finish(self) -> None:
        """Hand on all that is left."""
        self._submit()
        while self._waiting:
            self._hand_on()
        self._worker.shutdown()

    def _submit(self) -> None:
        if not self._batch:
            return
        batch, self._batch = self._batch, []
        self._waiting.append((batch, self._worker.submit(self._identify_all, batch)))
        while len(self._waiting) > MAX_WAITING:
            self._hand_on()

    def _identify_all(self, batch: list[bytes]) -> list[BlobId]:
        return [self._identify(leaf) for leaf in batch]

    def _hand_on(self) -> None:
        batch, identified = self._waiting.popleft()
        for leaf, content in zip(batch, identified.result(), strict=True):
            self._store(leaf, content)
