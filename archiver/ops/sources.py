"""List what Cursor keeps, and whether it changed since the last snapshot."""

from typing import NamedTuple

from archiver.errors import SourceError
from archiver.monitor import Monitor, Problem
from archiver.ops.snapshot import last_entries, unchanged
from archiver.repo.archive import Archive
from archiver.source.find import Found, Places, find
from archiver.source.state import SourceState, describe
from archiver.source.walk import Source

NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"


class Listed(NamedTuple):
    """A source, what it looks like, and ``new``, ``changed``, ``unchanged``, or nothing when no archive was asked."""

    source: Source
    state: SourceState
    changed: str | None


def list_sources(
    archive: Archive | None, places: Places, host: str, monitor: Monitor
) -> tuple[Found, list[Listed]]:
    """Find all sources; compare them with the last snapshot of this home if there is an archive.

    Raises:
        SourceError: Nothing at all was found.
    """
    found = find(places)
    if not found.sources:
        raise SourceError(
            f"Cursor keeps nothing in {places.home}",
            hint="name the home folder: --home DIR, or --cursor-user-dir DIR",
        )
    for problem in found.problems:
        monitor.problem(problem)
    before = None if archive is None else last_entries(archive, host, str(places.home), monitor)[0]
    listed = []
    for source in found.sources:
        try:
            state = describe(source)
        except SourceError as error:
            monitor.problem(Problem("source-failed", str(error), source.path))
            continue
        changed = None
        if before is not None:
            entry = before.get(source.path)
            changed = (
                NEW if entry is None else UNCHANGED if unchanged(source, entry, evidence=False) else CHANGED
            )
        listed.append(Listed(source, state, changed))
    return found, listed
