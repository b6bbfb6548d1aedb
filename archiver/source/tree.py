"""The rules as a tree of folder names, so that each folder is listed once for all of them."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from archiver.model import Store
from archiver.source.rules import Rule

_NEVER = frozenset({".git", "node_modules"})


class Node:
    """What the rules look for in one folder.

    Attributes:
        folders: Glob of a folder's name -> what is looked for in it.
        names: Glob of a file's name and the store that it belongs to, in the rules' order.
        stray: All rules that lead here look for strays among the user's own files.
    """

    __slots__ = ("folders", "names", "stray")

    def __init__(self) -> None:
        self.folders: dict[str, Node] = {}
        self.names: list[tuple[str, Store]] = []
        self.stray = True

    def enter(self, folder: str) -> "list[Node]":
        """What is looked for in the folder of this name."""
        if folder in _NEVER:
            return []
        return [node for glob, node in self.folders.items() if fnmatchcase(folder, glob)]

    def store_of(self, name: str) -> Store | None:
        """The store of a file of this name, if a rule asks for it."""
        return next((store for glob, store in self.names if fnmatchcase(name, glob)), None)


def build(rules: Iterable[Rule]) -> Node:
    """The tree of all rules; its depth is finite, so no walk along it can run away."""
    root = Node()
    for rule in rules:
        for folders in rule.spelled_out():
            _add(root, folders, rule)
    return root


def _add(node: Node, folders: list[str], rule: Rule) -> None:
    node.stray &= rule.stray
    for folder in folders:
        node = node.folders.setdefault(folder, Node())
        node.stray &= rule.stray
    node.names.extend((glob, rule.store) for glob in rule.names)
