"""A private folder for copies that a capture needs for a moment."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STALE_SECONDS = 24 * 3600


@contextlib.contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A new folder below ``parent`` that only this user can read, removed at the end.

    What a killed program left here is removed by a later one once it is a day old.
    """
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    oldest = time.time() - STALE_SECONDS
    for path in parent.iterdir():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path, ignore_errors=True)
