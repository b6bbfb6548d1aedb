"""Run SQL on a database inside a snapshot, without restoring it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from archiver.errors import UserError
from archiver.image import vfs
from archiver.image.random_access import ImageFile
from archiver.image.vfs import View
from archiver.layout.manifest import SourceEntry
from archiver.ops import choose
from archiver.repo.archive import Archive


class Opened(NamedTuple):
    """An archived database, open for reading."""

    entry: SourceEntry
    view: View


@contextmanager
def open_database(archive: Archive, entries: list[SourceEntry], wanted: str) -> Iterator[Opened]:
    """Open the one source that ``wanted`` names.

    Raises:
        UserError: No source or several match, or it is no database.
        DamageError: A blob that is needed is missing or was changed.
    """
    found = choose.sources(entries, [wanted])
    databases = [entry for entry in found if entry.image.page_bytes] or found
    if len(databases) > 1:
        some = ", ".join(entry.path for entry in databases[:3])
        raise UserError(f"{len(databases)} sources match '{wanted}'", hint=f"name one: {some}, …")
    with vfs.opened(ImageFile(archive.reader, databases[0].image)) as view:
        yield Opened(databases[0], view)
