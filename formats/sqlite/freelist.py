"""Pages that the database no longer uses; they keep what was deleted until they are written again.

Source: https://sqlite.org/fileformat2.html, "The Freelist".
"""

import struct
from collections.abc import Iterator

import msgspec

from formats.errors import FormatError, Report
from formats.sqlite.pages import Claims, Pages

_HEAD = struct.Struct(">II")


class Trunk(msgspec.Struct, frozen=True):
    """A freelist page that lists others, in its own order."""

    number: int
    leaves: tuple[int, ...]


def trunks(pages: Pages, claims: Claims, report: Report) -> Iterator[Trunk]:
    """The freelist, trunk by trunk, without the pages that are taken or that do not exist.

    It ends where it is damaged, and reports so; it reports also if the header counts its pages otherwise.
    """
    number, found = pages.header.freelist_trunk, 0
    while number:
        try:
            claims.take(number)
            following, listed = _listed(pages, number)
        except FormatError as error:
            report(error)
            break
        trunk = Trunk(number, tuple(leaf for leaf in listed if _claimed(leaf, claims, report)))
        found += 1 + len(trunk.leaves)
        yield trunk
        number = following
    expected = pages.header.freelist_count
    if found != expected:
        report(FormatError("pages in the freelist", where="header", expected=expected, found=found))


def _listed(pages: Pages, number: int) -> tuple[int, tuple[int, ...]]:
    data = pages.page(number)
    following, count = _HEAD.unpack_from(data)
    most = pages.header.usable_bytes // 4 - 2
    if count > most:
        where = f"page {number}"
        raise FormatError("leaves of a freelist trunk", where=where, expected=f"at most {most}", found=count)
    return following, struct.unpack_from(f">{count}I", data, 8)


def _claimed(leaf: int, claims: Claims, report: Report) -> bool:
    try:
        claims.take(leaf)
    except FormatError as error:
        report(error)
        return False
    return True
