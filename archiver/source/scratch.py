"""The scratch folder: where bytes of a source wait when the source must not."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from tempfile import SpooledTemporaryFile

from archiver.errors import SourceError
from archiver.source.raw import CHUNK_BYTES, chunks
from archiver.source.receiver import Part

_MEMORY_BYTES = 8 << 20
_PIECE_BYTES = 256 << 20


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say that it is the scratch folder which failed, and not the source."""
    try:
        yield
    except OSError as error:
        message = f"cannot write to the scratch folder {folder}: {error.strerror}"
        raise SourceError(
            message, hint="a locked or busy database needs room there for a copy of it"
        ) from error


def has_room(folder: Path, size_bytes: int) -> bool:
    """Whether a copy of this size fits into the scratch folder, which is made if need be."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return shutil.disk_usage(folder).free > size_bytes


class Spool:
    """A part that keeps its bytes in memory, and in the scratch folder if they are many; has no gaps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = SpooledTemporaryFile(_MEMORY_BYTES, dir=str(folder))  # noqa: SIM115  closed by ``close``

    def write(self, offset: int, data: bytes) -> None:
        """Keep the bytes."""
        with writing(self._folder):
            self._file.seek(offset)
            self._file.write(data)

    def finish(self, size_bytes: int) -> None:
        """Nothing to do: ``empty_into`` hands the bytes on."""

    def empty_into(self, part: Part, tick: Callable[[int], None], last_bytes: int = 0) -> None:
        """Hand all bytes on, the first ``last_bytes`` of them last."""
        self._file.seek(0)
        last = self._file.read(last_bytes)
        offset = len(last)
        while chunk := self._file.read(CHUNK_BYTES):
            part.write(offset, chunk)
            offset += len(chunk)
            tick(len(chunk))
        if last:
            part.write(0, last)
            tick(len(last))

    def close(self) -> None:
        """Forget the bytes."""
        self._file.close()


def copy(source: FileIO, target: Path) -> os.stat_result:
    """Copy the bytes that a file has now, sharing them where the file system can.

    Returns:
        What ``stat`` said of the source before.
    """
    status = os.fstat(source.fileno())
    with writing(target.parent), target.open("wb", buffering=0) as copied:
        if not _shared(source, copied, status.st_size):
            for chunk in chunks(source, status.st_size):
                copied.write(chunk)
    return status


def _shared(source: FileIO, target: FileIO, size_bytes: int) -> bool:
    """Let the kernel copy, which costs neither time nor room on some file systems; false if it cannot."""
    if not hasattr(os, "copy_file_range"):
        return False
    done = 0
    try:
        while done < size_bytes:
            count = os.copy_file_range(
                source.fileno(), target.fileno(), min(size_bytes - done, _PIECE_BYTES), done, done
            )
            if count == 0:
                break
            done += count
    except OSError:
        # Which file systems can, only trying tells; a real fault of the disk comes up again in the plain copy.
        pass
    if done < size_bytes:
        target.truncate(0)
    return done == size_bytes
