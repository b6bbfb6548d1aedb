"""Reads the bytes of a file as they are, and keeps the evidence of what was read."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from archiver.errors import SourceError
from archiver.model import RawFile, Role
from archiver.source.receiver import Part
from archiver.source.setback import UnsettledError

CHUNK_BYTES = 1 << 20


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say which file the operating system refuses; a receiver's errors must not arise inside.

    Raises:
        UnsettledError: The file is gone; another look tells whether the source is.
        SourceError: The file cannot be read.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise UnsettledError(f"{what} is gone") from error
    except OSError as error:
        raise SourceError(f"cannot read {what}: {error.strerror}") from error


def open_raw(file: Path) -> FileIO:
    """Open a file for ``pour``; raises as ``reading`` does."""
    with reading(file.name):
        return FileIO(file, "rb")


def pour(
    file: FileIO,
    role: Role,
    part: Part,
    tick: Callable[[int], None],
    status: os.stat_result | None = None,
) -> RawFile:
    """Write all bytes that a file has now into a part, and leave it to the caller to finish the part.

    Args:
        file: Open, and left open.
        role: Which file it is.
        part: Where its bytes go, from offset 0.
        tick: Called with the number of bytes of each chunk.
        status: ``stat`` of the source, where ``file`` is only a copy of it.

    Raises:
        SourceError: The file could not be read.
    """
    status = status or os.fstat(file.fileno())
    digest = hashlib.sha256()
    offset = 0
    for chunk in chunks(file, status.st_size):
        part.write(offset, chunk)
        digest.update(chunk)
        offset += len(chunk)
        tick(len(chunk))
    return RawFile(
        role=role,
        size_bytes=offset,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        mode=status.st_mode,
        inode=status.st_ino,
        uid=status.st_uid,
        sha256=digest.hexdigest(),
    )


def chunks(file: FileIO, limit_bytes: int) -> Iterator[bytes]:
    """The first bytes of a file, in pieces; fewer if it ends earlier. Raises as ``reading`` does."""
    name = Path(str(file.name)).name
    file.seek(0)
    while limit_bytes > 0:
        with reading(name):
            chunk = file.read(min(CHUNK_BYTES, limit_bytes))
        if not chunk:
            return
        limit_bytes -= len(chunk)
        yield chunk
