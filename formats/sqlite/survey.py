"""Every page that the schema leads to, and what it is used for."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import chain as concatenated

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.btree import TABLE_INTERIOR, cells
from formats.sqlite.overflow import chain
from formats.sqlite.pages import Claims, Pages
from formats.sqlite.schema import SCHEMA, entries
from formats.sqlite.walk import Node, tree


class Use(StrEnum):
    """What a page is used for."""

    INTERIOR = "interior"
    LEAF = "leaf"
    OVERFLOW = "overflow"


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A page, and the b-tree that it belongs to."""

    number: int
    use: Use
    root: int


def reachable(pages: Pages, claims: Claims, report: Report) -> Iterator[Reached]:
    """The pages of all b-trees and of their overflow chains, each once."""
    for entry in concatenated([SCHEMA], entries(pages, report)):
        if entry.root:
            for node in tree(pages, entry.root, claims, report):
                yield Reached(node.number, Use.LEAF if node.leaf else Use.INTERIOR, entry.root)
                for number in _overflow(pages, node, claims, report):
                    yield Reached(number, Use.OVERFLOW, entry.root)


def _overflow(pages: Pages, node: Node, claims: Claims, report: Report) -> Iterator[int]:
    if node.kind == TABLE_INTERIOR:
        return
    for cell in cells(node.data, node.number, pages.header.usable_bytes, report):
        try:
            yield from chain(pages, cell, claims)
        except FormatError as error:
            report(error.within(f"page {node.number}, cell at {cell.offset}"))
