"""Storage in a folder, durable by default.

An object is written to ``tmp/``, flushed to the disk, and then linked to its name, which fails if the name is taken:
so an object is there whole or not at all, and two writers cannot replace each other's. What a crash leaves in
``tmp/`` is removed by a later writer once it is a day old.
"""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from archiver.errors import ObjectMissingError, StorageError
from archiver.model import Bytes
from archiver.storage.base import Listed

TEMPORARY = "tmp"
STALE_SECONDS = 24 * 3600

# File systems without hard links (exFAT, some network shares) answer with one of these.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES}


class LocalStorage:
    """Objects as files below ``root``.

    Args:
        root: The folder; made, with its parents, when the first object is put.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._swept = False

    @property
    def location(self) -> str:
        """The folder."""
        return str(self._root)

    def put(self, name: str, data: Bytes) -> bool:
        """Store ``data`` durably unless the name is taken."""
        target = self._path(name)
        temporary = self._root / TEMPORARY / secrets.token_hex(16)
        try:
            self._make_folder(temporary.parent)
            self._sweep()
            self._make_folder(target.parent)
            try:
                _write_durably(temporary, data)
                stored = _take_name(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
            _flush_folder(target.parent)
        except OSError as error:
            raise self._failed("write", name, error) from error
        return stored

    def get(self, name: str) -> bytes:
        """The object's bytes."""
        try:
            return self._path(name).read_bytes()
        except OSError as error:
            raise self._failed("read", name, error) from error

    def get_range(self, name: str, offset: int, length: int) -> bytes:
        """Some of the object's bytes."""
        try:
            with self._path(name).open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except OSError as error:
            raise self._failed("read", name, error) from error

    def list(self, prefix: str = "") -> Iterator[Listed]:
        """The objects of this prefix."""
        folder = self._root / prefix.rpartition("/")[0]
        try:
            for path, size_bytes in _files(folder):
                name = path.relative_to(self._root).as_posix()
                if name.startswith(prefix) and not name.startswith(TEMPORARY + "/"):
                    yield Listed(name, size_bytes)
        except OSError as error:
            raise self._failed("list", prefix, error) from error

    def delete(self, name: str) -> None:
        """Remove the object's file."""
        path = self._path(name)
        try:
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                _flush_folder(path.parent)
        except OSError as error:
            raise self._failed("delete", name, error) from error

    def _path(self, name: str) -> Path:
        parts = name.split("/")
        if not all(parts) or "." in parts or ".." in parts:
            raise StorageError(f"'{name}' is no name of an object")
        return self._root.joinpath(*parts)

    def _make_folder(self, folder: Path) -> None:
        """Make ``folder`` so that it survives a crash: each new folder is flushed into its parent."""
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _flush_folder(folder.parent)

    def _sweep(self) -> None:
        """Remove half-written files of writers that died long ago, once in the life of this object."""
        if self._swept:
            return
        self._swept = True
        oldest = time.time() - STALE_SECONDS
        for path, _ in _files(self._root / TEMPORARY):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _failed(self, verb: str, name: str, error: OSError) -> StorageError:
        if isinstance(error, FileNotFoundError) and verb == "read":
            return ObjectMissingError(f"there is no object {name} in {self._root}")
        hint = (
            "free some space and try again; what is stored so far is sound"
            if error.errno == errno.ENOSPC
            else None
        )
        return StorageError(
            f"cannot {verb} {name or 'objects'} in {self._root}: {error.strerror or error}", hint=hint
        )


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file below ``folder`` with its size; nothing if there is no such folder."""
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
            continue
        with contextlib.suppress(FileNotFoundError):
            yield Path(entry.path), entry.stat().st_size


def _write_durably(path: Path, data: Bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _take_name(temporary: Path, target: Path) -> bool:
    """Give the finished file its name unless it is taken."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _rename_unless_taken(temporary, target)
    return True


def _rename_unless_taken(temporary: Path, target: Path) -> bool:
    """The best that a file system without links allows: an exclusive placeholder, replaced at once.

    A crash between the two steps leaves an empty object, which every reader refuses and the next writer replaces.
    """
    try:
        with target.open("xb"):
            pass
    except FileExistsError:
        if target.stat().st_size > 0:
            return False
    temporary.replace(target)
    return True


def _flush_folder(folder: Path) -> None:
    """Make names in ``folder`` durable, where the system can open folders (Windows cannot, and need not)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
