"""Where the password comes from: never from the command line itself."""

import getpass
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from archiver.cli import places
from archiver.cli.terminal import say
from archiver.errors import ExitCode, UserError, WrongKeyError

SERVICE = "cursor-archive"
VARIABLE = "ARCHIVE_PASSWORD"
NEW_VARIABLE = "ARCHIVE_NEW_PASSWORD"
COMMAND_SECONDS = 120


class PasswordFrom(NamedTuple):
    """What the command line and the environment say of a password's whereabouts."""

    file: Path | None
    command: str | None
    variable: str = VARIABLE


def given(source: PasswordFrom) -> str | None:
    """The password from a file, a command or the environment, in this order; nothing if none is named.

    Raises:
        UserError: The file or the command gives none.
    """
    if source.file is not None:
        return _from_file(source.file)
    if source.command is not None:
        return _from_command(source.command)
    return os.environ.get(source.variable)


def existing(source: PasswordFrom, archive_id: bytes, *, ask: bool = True) -> str | None:
    """The password of an archive: as ``given``, else from the system keyring, else asked for.

    Args:
        source: What is given.
        archive_id: Which archive.
        ask: Whether to prompt when there is no other way; otherwise nothing is returned.

    Raises:
        WrongKeyError: There is no way to ask.
    """
    password = given(source)
    if password is None and places.keyring_marker(archive_id).exists():
        password = _from_keyring(archive_id)
    if password is not None or not ask:
        return password
    if not sys.stdin.isatty():
        raise WrongKeyError(
            "no password was given and there is no terminal to ask on",
            hint=f"set {VARIABLE}, or use --password-file or --password-command",
        )
    return getpass.getpass("archive: password: ", sys.stderr)


def new(source: PasswordFrom) -> str:
    """A new password: as ``given``, else asked for twice.

    Raises:
        UserError: The two differ, it is empty, or there is no way to ask.
    """
    password = given(source)
    if password is None:
        if not sys.stdin.isatty():
            raise UserError(
                "no password was given and there is no terminal to ask on",
                hint=f"set {source.variable}, or name a file or a command that gives it",
            )
        password = getpass.getpass("archive: new password: ", sys.stderr)
        if getpass.getpass("archive: the same again: ", sys.stderr) != password:
            raise UserError("the two passwords differ")
    if not password:
        raise UserError("an empty password protects nothing", hint="choose a passphrase of several words")
    return password


def remember(archive_id: bytes, password: str) -> ExitCode:
    """Keep the password in the system's keyring, and a marker that it is there.

    The archive has the password by then, so a keyring that fails is a problem and no error.
    """
    import keyring  # noqa: PLC0415  takes a while to import, and only those who chose it should wait
    from keyring.errors import KeyringError  # noqa: PLC0415

    marker = places.keyring_marker(archive_id)
    try:
        keyring.set_password(SERVICE, archive_id.hex(), password)
    except KeyringError as error:
        # What the keyring may still hold is an older password: it must not be used any more.
        marker.unlink(missing_ok=True)
        say(f"archive: problem: the system keyring does not take the password: {error}")
        return ExitCode.PROBLEMS
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    return ExitCode.DONE


def _from_keyring(archive_id: bytes) -> str | None:
    import keyring  # noqa: PLC0415  see remember
    from keyring.errors import KeyringError  # noqa: PLC0415

    try:
        return keyring.get_password(SERVICE, archive_id.hex())
    except KeyringError as error:
        raise UserError(f"the system keyring does not give the password: {error}") from error


def _from_file(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read a password from {file}: {error}") from error
    return _first_line(text, str(file))


def _from_command(command: str) -> str:
    try:
        # The person names the command in order to have it run by their shell, as restic and borg do.
        done = subprocess.run(  # noqa: S602
            command, shell=True, check=True, stdout=subprocess.PIPE, timeout=COMMAND_SECONDS
        )
        text = done.stdout.decode("utf-8")
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        # The error's own words would repeat the command, which may hold a secret.
        raise UserError(f"the password command failed ({type(error).__name__})") from None
    return _first_line(text, "the password command")


def _first_line(text: str, where: str) -> str:
    line = text.split("\n", 1)[0].rstrip("\r")
    if not line:
        raise UserError(f"{where} gives an empty password")
    return line
