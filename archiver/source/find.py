"""Finds every source in a home, and in what lies outside it by the user's settings (specs/sources.md)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from archiver.monitor import Problem
from archiver.source import rules, tree
from archiver.source.rules import Rule
from archiver.source.walk import Source, Walk, readable


class Places(msgspec.Struct, frozen=True):
    """Where to look.

    Attributes:
        home: The folder under which Cursor keeps its data.
        env: The environment; only ``CURSOR_CONFIG_DIR``, ``CURSOR_DATA_DIR`` and ``XDG_CONFIG_HOME`` are read.
        own_home: The home is the running user's own. Otherwise ``XDG_CONFIG_HOME`` is an examiner's setting, and
            counts only if it lies inside the home.
        cursor_user_dirs: Further ``User`` folders of editors, or the folders that hold them.
        memories: Further folders of memories, beside ``memories`` in the home.
        mounts: Where the drives of Windows are mounted, if they are.
    """

    home: Path
    env: Mapping[str, str]
    own_home: bool = True
    cursor_user_dirs: tuple[Path, ...] = ()
    memories: tuple[Path, ...] = ()
    mounts: Path | None = None


class Found(msgspec.Struct, frozen=True):
    """What was found.

    Attributes:
        sources: Sorted by path; each file once.
        roots: ``@name`` -> the absolute folder, for what lies outside the home.
        problems: What could not be looked into.
    """

    sources: tuple[Source, ...]
    roots: dict[str, str]
    problems: tuple[Problem, ...]


class _Root(msgspec.Struct, frozen=True):
    folder: Path
    name: str
    rules: tuple[Rule, ...]


def find(places: Places) -> Found:
    """Look everywhere and report every source once; what cannot be read is a problem, never an error."""
    walk = Walk()
    roots: dict[str, str] = {}
    walk.problems.extend(_missing(places))
    for root in _roots(places):
        label = _label(root, places.home)
        if label.startswith("@"):
            roots[label] = str(root.folder.absolute())
        walk.root(root.folder, label, tree.build(root.rules))
    sources = sorted(walk.sources.values(), key=lambda source: source.path)
    used = {source.path.split("/")[0] for source in sources}
    return Found(
        tuple(sources), {name: folder for name, folder in roots.items() if name in used}, tuple(walk.problems)
    )


def _roots(places: Places) -> Iterator[_Root]:
    yield _Root(places.home, "", rules.HOME)
    for number, folder in enumerate(places.cursor_user_dirs, 1):
        yield _Root(_user_dir(folder), f"@user-{number}", rules.USER)
    yield from _moved(places)
    for number, folder in enumerate(places.memories, 1):
        yield _Root(folder, "@memories" if number == 1 else f"@memories-{number}", rules.MEMORIES)
    if places.mounts is not None:
        yield from _windows_users(places.mounts)


def _moved(places: Places) -> Iterator[_Root]:
    """What the environment moves elsewhere; a relative path means nothing there, and is passed over."""
    moves = (
        ("CURSOR_CONFIG_DIR", "@config", rules.CURSOR),
        ("CURSOR_DATA_DIR", "@data", rules.CURSOR),
        ("XDG_CONFIG_HOME", "@xdg-config", rules.CONFIG),
    )
    for variable, name, wanted in moves:
        folder = Path(places.env.get(variable, ""))
        if folder.is_absolute() and (variable != "XDG_CONFIG_HOME" or _may_count(folder, places)):
            yield _Root(folder, name, wanted)


def _may_count(folder: Path, places: Places) -> bool:
    return places.own_home or folder.resolve().is_relative_to(places.home.resolve())


def _user_dir(folder: Path) -> Path:
    return folder / "User" if _is_folder(folder / "User") else folder


def _windows_users(mounts: Path) -> Iterator[_Root]:
    for drive in _folders(mounts):
        for user in _folders(drive / "Users"):
            yield _Root(user, f"@mnt-{readable(drive.name)}-{readable(user.name)}", rules.PERSON)


def _folders(folder: Path) -> list[Path]:
    """The folders in a folder that may be entered; a drive without Windows or another person's home is none of ours."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in inside if _is_folder(path) and os.access(path, os.R_OK | os.X_OK)]


def _label(root: _Root, home: Path) -> str:
    """The path of a root inside the home, or its own name."""
    if not root.name:
        return ""
    for folder, inside in (
        (root.folder.absolute(), home.absolute()),
        (root.folder.resolve(), home.resolve()),
    ):
        if folder.is_relative_to(inside):
            return "/".join(readable(part) for part in folder.relative_to(inside).parts)
    return root.name


def _missing(places: Places) -> Iterator[Problem]:
    """The folders that a person named and that are not there; the environment may name what is not made yet."""
    for folder in (places.home, *places.cursor_user_dirs, *places.memories):
        if not _is_folder(folder):
            yield Problem("missing-folder", f"there is no folder {readable(str(folder))}")


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  Path.is_dir raises where a parent may not be entered
