"""The command ``archive``: its verbs, its exit codes, and the one place that catches everything."""

import os
import sys
import traceback
from typing import Annotated

import typer

from archiver import __version__
from archiver.cli import init, key, options, restore, snapshot, sources, sql, verify
from archiver.cli.terminal import out, say
from archiver.errors import ArchiveError, ExitCode, UsageError

EXIT_CODES = """\b
Exit codes:
  0 done                          10 there is no archive
  1 it cannot be done             11 the archive is locked
  2 wrong usage                   12 wrong key
  3 done, with problems           13 the archive is newer, please update
  4 a source is missing           14 the archive is damaged
  70 a bug                        130 interrupted
"""

app = typer.Typer(
    name="archive",
    help="Keeps an encrypted, deduplicated history of Cursor's chats.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init.init)
app.command("sources")(sources.sources)
app.command("snapshot")(snapshot.snapshot)
app.command("snapshots")(snapshot.snapshots)
app.add_typer(restore.app, name="restore")
app.command("verify")(verify.verify)
app.command("sql")(sql.sql)
app.add_typer(key.app, name="key")


def _print_version(wanted: bool) -> None:
    if wanted:
        out(f"archive {__version__}")
        raise typer.Exit


@app.callback()
def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Keeps an encrypted, deduplicated history of Cursor's chats."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; everything that can go wrong becomes a message and an exit code."""
    json = "--json" in arguments
    try:
        code = int(app(arguments, prog_name="archive", standalone_mode=False) or ExitCode.DONE)
        sys.stdout.flush()
    except typer.TyperException as error:
        return _report_usage(error, json=json)
    except (BrokenPipeError, SystemExit):
        # The reader of our output went away (Typer then exits); a second write at exit would only complain about that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except ArchiveError as error:
        return _report(error, json=json)
    except Exception:  # noqa: BLE001  the command line's edge: a bug must not look like damage
        traceback.print_exc()
        say("archive: error: this is a bug; the archive and the sources are as they were")
        return ExitCode.BUG
    if code == ExitCode.INTERRUPTED:
        say("archive: interrupted; what is stored so far is sound")
    return code


def _report_usage(error: typer.TyperException, *, json: bool) -> int:
    message = error.format_message()
    if message.startswith("Usage:"):
        # A command of commands that was called without one: its help says what there is.
        say(message)
        return ExitCode.USAGE
    return _report(UsageError(message[:1].lower() + message[1:].rstrip("."), hint="see --help"), json=json)


def _report(error: ArchiveError, *, json: bool) -> int:
    say(f"archive: error: {error}")
    if error.hint:
        say(f"archive: hint: {error.hint}")
    if json:
        details = {"message": str(error), "hint": error.hint, "exit_code": int(error.exit_code)}
        out(options.to_json({"schema": "archive.error/1", "error": details}))
    return error.exit_code
