"""``archive init``."""

from typing import Annotated

import typer

from archiver.cli import options, password, places
from archiver.cli.password import PasswordFrom
from archiver.cli.terminal import out, say
from archiver.errors import ExitCode
from archiver.ops import init as operation
from archiver.repo import archive


def init(
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    keyring: Annotated[
        bool, typer.Option("--keyring", help="Keep the password in the system's keyring.")
    ] = False,
    no_recovery: Annotated[
        bool,
        typer.Option(
            "--no-recovery-code", help="Make no recovery code: a lost password then loses everything."
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Make an archive, and print its recovery code once."""
    storage = options.storage(repo)
    archive.refuse_existing(storage)
    chosen = password.new(PasswordFrom(password_file, password_command))
    made = operation.init(storage, chosen, places.clock_ms()(), with_recovery=not no_recovery)
    archive_id = made.unlocked.keys.archive_id
    if json:
        document = {"schema": "archive.init/1", "repo": storage.location, "archive_id": archive_id.hex()}
        out(options.to_json({**document, "recovery_code": made.recovery_code}))
    else:
        say(f"made an encrypted archive in {storage.location}")
        if made.recovery_code is not None:
            say(
                "its recovery code opens it when the password is lost; it is shown only now, so write it down:"
            )
            out(made.recovery_code)
    return password.remember(archive_id, chosen) if keyring else ExitCode.DONE
