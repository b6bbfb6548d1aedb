"""Walks down one b-tree."""

from collections.abc import Iterator

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.btree import INDEX_INTERIOR, TABLE_INTERIOR, TABLE_LEAF, children, page_kind
from formats.sqlite.pages import Claims, Data, Pages

MAX_DEPTH = 20
"""SQLite itself calls a deeper tree corrupt."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """One page of a b-tree."""

    number: int
    kind: int
    data: Data

    @property
    def leaf(self) -> bool:
        """Whether it has no pages below it."""
        return self.kind not in {INDEX_INTERIOR, TABLE_INTERIOR}


def tree(pages: Pages, root: int, claims: Claims, report: Report) -> Iterator[Node]:
    """The pages of the b-tree below ``root``, each before those below it, in key order.

    A page that cannot be part of the tree is reported and left out with all that hangs on it.
    """
    table: bool | None = None
    waiting = [(root, 1)]
    while waiting:
        number, depth = waiting.pop()
        try:
            node = _node(pages, number, claims)
            table = _family(node, table)
            below = [] if node.leaf else _below(pages, node, depth, report)
        except FormatError as error:
            report(error)
            continue
        yield node
        waiting.extend((child, depth + 1) for child in reversed(below))


def table_leaves(pages: Pages, root: int, claims: Claims, report: Report) -> Iterator[Node]:
    """The pages of a table that hold its rows, in the order of the rowids."""
    return (node for node in tree(pages, root, claims, report) if node.kind == TABLE_LEAF)


def _node(pages: Pages, number: int, claims: Claims) -> Node:
    claims.take(number)
    data = pages.page(number)
    return Node(number, page_kind(data, number), data)


def _family(node: Node, table: bool | None) -> bool:
    """Whether it is a page of a table; the root decides this for the whole tree."""
    found = node.kind in {TABLE_INTERIOR, TABLE_LEAF}
    if table not in {None, found}:
        raise FormatError("page of the other kind of tree", where=f"page {node.number}", found=node.kind)
    return found


def _below(pages: Pages, node: Node, depth: int, report: Report) -> list[int]:
    if depth == MAX_DEPTH:
        raise FormatError(
            "tree too deep", where=f"page {node.number}", expected=f"at most {MAX_DEPTH} levels"
        )
    return children(node.data, node.number, pages.header.usable_bytes, report)
