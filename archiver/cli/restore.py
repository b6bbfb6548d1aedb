"""``archive restore``."""

from pathlib import Path
from typing import Annotated

import typer

from archiver.cli import options, places, text
from archiver.cli.terminal import Terminal, out
from archiver.errors import ExitCode
from archiver.ops import choose
from archiver.ops.restore_files import restore_files

app = typer.Typer(help="Write back what a snapshot holds.", no_args_is_help=True)


@app.command("files")
def files(
    snapshot: Annotated[
        str, typer.Argument(help="An id's beginning, 'latest', or a date: the last one at or before it.")
    ],
    to: Annotated[Path, typer.Option("--to", help="The folder to write into.", metavar="DIR")],
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source", help="Only this path, folder, pattern or store. Repeatable.", metavar="PATH|STORE"
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Also write captured raw files (-wal, -journal, evidence) below _raw/."),
    ] = False,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """Write each captured file under its original relative path, bit for bit."""
    with (
        options.open_archive(repo, password_file, password_command) as archive,
        Terminal(quiet=json) as terminal,
    ):
        chosen = choose.snapshot(archive, snapshot, places.now(), terminal)
        entries = choose.sources(choose.readable_entries(archive, chosen.manifest, terminal), source or [])
        written = restore_files(archive, entries, to, terminal, overwrite=overwrite, raw=raw)
    total = sum(file.size_bytes for file in written)
    if json:
        document = {
            "schema": "archive.restore-files/1",
            "snapshot": chosen.snapshot_id,
            "to": str(to),
            "files": [
                {
                    "source": file.source,
                    "role": str(file.role),
                    "file": str(file.file),
                    "bytes": file.size_bytes,
                }
                for file in written
            ],
            "problems": terminal.problems,
        }
        out(options.to_json(document))
    else:
        out(
            f"restored {text.count(len(written), 'file')}, {text.size(total)}, of snapshot {chosen.snapshot_id[:8]}"
            f" ({text.when(chosen.manifest.started_ms)}) into {to}"
        )
    return ExitCode.DAMAGED if terminal.problems else ExitCode.DONE
