"""Walks folders along the tree of rules and collects sources and what stood in the way."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from archiver.model import Store
from archiver.monitor import Problem
from archiver.source.rules import is_database
from archiver.source.tree import Node

_SIDECARS = ("-wal", "-shm", "-journal")


class Source(msgspec.Struct, frozen=True):
    """One database or file that Cursor keeps.

    Attributes:
        store: What it is to Cursor.
        path: Where it was found, ``/``-separated, below the home or below a named root (``@name/…``).
        file: The absolute path behind all symbolic links, so that SQLite's sidecar files lie beside it.
        sqlite: By its name a database; only capture looks at its bytes.
    """

    store: Store
    path: str
    file: Path
    sqlite: bool


class _Folder(msgspec.Struct, frozen=True):
    """A folder on the way.

    Attributes:
        real: The absolute path behind all symbolic links.
        path: What it is called in the archive.
        nodes: What is looked for in it.
        above: The real paths of the folders that led here.
        odd: Part of ``path`` stands for bytes that are not UTF-8.
    """

    real: str
    path: str
    nodes: tuple[Node, ...]
    above: tuple[str, ...] = ()
    odd: bool = False

    @property
    def stray(self) -> bool:
        return all(node.stray for node in self.nodes)

    def enter(self, name: str, real: str) -> "_Folder":
        nodes = tuple(below for node in self.nodes for below in node.enter(name))
        written = readable(name)
        path = f"{self.path}/{written}" if self.path else written
        return _Folder(real, path, nodes, (*self.above, self.real), self.odd or not _is_text(name))

    def store_of(self, name: str) -> Store | None:
        stores = (node.store_of(name) for node in self.nodes)
        return next((store for store in stores if store is not None), None)


class Walk:
    """Collects over several roots; a file that was found once is not found again."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}
        self.problems: list[Problem] = []
        self._seen: set[tuple[str, tuple[int, ...]]] = set()

    def root(self, folder: Path, label: str, tree: Node) -> None:
        """Walk below a folder whose path in the archive is ``label``, which is empty for the home."""
        self._visit(_Folder(os.path.realpath(folder), label, (tree,)))

    def _visit(self, folder: _Folder) -> None:
        # Two links may lead into the same folder by different rules; the same rules need it only once.
        key = (folder.real, tuple(map(id, folder.nodes)))
        if key in self._seen:
            return
        self._seen.add(key)
        entries = self._list(folder)
        names = {entry.name for entry in entries}
        for entry in entries:
            self._entry(folder, entry, names)

    def _list(self, folder: _Folder) -> Sequence[os.DirEntry[str]]:
        try:
            with os.scandir(folder.real) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            self._hindrance(folder, "unreadable-folder", f"cannot list the folder: {error.strerror}")
            return ()

    def _entry(self, folder: _Folder, entry: os.DirEntry[str], names: set[str]) -> None:
        main = _main_name(entry.name, names)
        store = folder.store_of(main) if main else None
        inside = folder.enter(entry.name, entry.path)
        if store is None and not inside.nodes:
            return
        try:
            if entry.is_symlink():
                inside = msgspec.structs.replace(inside, real=os.path.realpath(entry.path, strict=True))
            if store is not None and entry.is_file():
                self._found(store, inside, sqlite=main == entry.name and is_database(main))
            elif inside.nodes and entry.is_dir():
                self._descend(inside, link=entry.is_symlink())
        except OSError as error:
            self._hindrance(inside, "broken-link", f"the link leads nowhere: {error.strerror}")

    def _descend(self, folder: _Folder, *, link: bool) -> None:
        # A link among the user's own files may lead anywhere, to a whole disk for instance.
        if link and folder.stray:
            return
        if folder.real in folder.above:
            self._hindrance(folder, "link-loop", "the link leads back to a folder that it lies in")
            return
        self._visit(folder)

    def _found(self, store: Store, place: _Folder, *, sqlite: bool) -> None:
        if place.real in self.sources:
            return
        self.sources[place.real] = Source(store, place.path, Path(place.real), sqlite)
        if place.odd:
            message = r"the name is not UTF-8; its odd bytes are written as \xNN"
            self.problems.append(Problem("odd-name", message, place.path))

    def _hindrance(self, place: _Folder, code: str, message: str) -> None:
        # The user's own folders are full of links and locks that are none of ours.
        if not place.nodes or not place.stray:
            self.problems.append(Problem(code, message, place.path))


def readable(name: str) -> str:
    r"""A file name as text that maps back to its bytes: ``\xNN`` for bytes that are not UTF-8, ``\\`` for ``\``."""
    return os.fsencode(name.replace("\\", "\\\\")).decode("utf-8", "backslashreplace")


def _is_text(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _main_name(name: str, names: set[str]) -> str | None:
    """The database's name for a file that is one or is left of one; none for what belongs to another file.

    A ``-wal`` or ``-journal`` without its main file is all that is left of a database; a ``-shm`` holds nothing.
    """
    suffix = next((suffix for suffix in _SIDECARS if name.endswith(suffix)), "")
    main = name.removesuffix(suffix)
    return None if suffix and (main in names or suffix == "-shm") else main
