"""``archive sql``."""

import csv
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from archiver.cli import options, places, text
from archiver.cli.terminal import Terminal, out, say
from archiver.errors import UsageError
from archiver.image.vfs import Row
from archiver.ops import choose
from archiver.ops.sql import open_database


def sql(
    snapshot: Annotated[str, typer.Argument(help="An id's beginning, 'latest', or a date.")],
    source: Annotated[str, typer.Argument(help="A path, pattern or store that names one database.")],
    query: Annotated[str | None, typer.Argument(help="SQL; without it a small shell opens.")] = None,
    csv_output: Annotated[bool, typer.Option("--csv", help="Print rows as CSV with a header.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Say how much of the archive was read.")] = False,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> None:
    """Run SQL on an archived database, read-only and without restoring it."""
    if query is None and (json or csv_output):
        raise UsageError("--json and --csv need a QUERY")
    with (
        options.open_archive(repo, password_file, password_command) as archive,
        Terminal(quiet=True) as terminal,
    ):
        chosen = choose.snapshot(archive, snapshot, places.now(), terminal)
        entries = choose.readable_entries(archive, chosen.manifest, terminal)
        with open_database(archive, entries, source) as opened:
            if query is None:
                opened.view.shell()
            else:
                names, rows = opened.view.query(query)
                _render(names, rows, "json" if json else "csv" if csv_output else "text")
        if stats:
            say(
                f"read {text.size(archive.reader.read_bytes)} of the archive for a database of {text.size(opened.entry.image.size_bytes)}"
            )


def _render(names: list[str], rows: Iterator[Row], form: str) -> None:
    if form == "json":
        found = [[_plain(value) for value in row] for row in rows]
        out(options.to_json({"schema": "archive.sql/1", "columns": names, "rows": found}))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_text(value) for value in row] for row in rows)
    else:
        for row in rows:
            out("|".join(_text(value) for value in row))


def _plain(value: object) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _text(value: object) -> str:
    """A value as ``sqlite3`` prints it: NULL as nothing, a BLOB as the text that it most often is."""
    if value is None:
        return ""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
