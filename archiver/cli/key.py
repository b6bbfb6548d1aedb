"""``archive key``."""

from typing import Annotated

import typer

from archiver.cli import documents, options, password, places, text
from archiver.cli.password import NEW_VARIABLE, PasswordFrom
from archiver.cli.terminal import out, say
from archiver.errors import ExitCode
from archiver.ops import keys

app = typer.Typer(help="Manage what opens the archive.", no_args_is_help=True)

Label = Annotated[str, typer.Option("--label", help="What to call it in lists.")]


@app.command("list")
def list_keys(
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> None:
    """List the passphrases and recovery codes that open the archive."""
    with options.open_archive(repo, password_file, password_command) as archive:
        slots = keys.list_slots(archive)
    if json:
        out(options.to_json(documents.key_list(slots, archive.slot_id)))
        return
    rows = [
        (
            stored.slot_id[:8],
            str(stored.slot.info.kind),
            text.when(stored.slot.info.created_ms),
            stored.slot.info.label,
            "just used" if stored.slot_id == archive.slot_id else "",
        )
        for stored in slots
    ]
    for line in text.columns([("ID", "KIND", "ADDED", "LABEL", ""), *rows]):
        out(line)


@app.command("add")
def add(
    label: Label = "added",
    recovery: Annotated[
        bool, typer.Option("--recovery", help="Make another recovery code instead of a passphrase.")
    ] = False,
    new_password_file: options.NewPasswordFile = None,
    new_password_command: options.NewPasswordCommand = None,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> None:
    """Add a passphrase (asked for, or from ARCHIVE_NEW_PASSWORD) or a recovery code."""
    with options.open_archive(repo, password_file, password_command) as archive:
        if recovery:
            slot_id, code = keys.add_recovery(archive, label, places.clock_ms()())
        else:
            chosen = password.new(PasswordFrom(new_password_file, new_password_command, NEW_VARIABLE))
            slot_id, code = keys.add_passphrase(archive, chosen, label, places.clock_ms()()), None
    if json:
        out(options.to_json({"schema": "archive.key-added/1", "id": slot_id, "recovery_code": code}))
        return
    say(f"added key {slot_id[:8]}")
    if code is not None:
        say("the recovery code is shown only now, so write it down:")
        out(code)


@app.command("remove")
def remove(
    key: Annotated[str, typer.Argument(help="The beginning of the key's id, from: archive key list.")],
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> None:
    """Remove a passphrase or a recovery code; never the last one."""
    with options.open_archive(repo, password_file, password_command) as archive:
        slot_id = keys.remove(archive, key)
    if json:
        out(options.to_json({"schema": "archive.key-removed/1", "id": slot_id}))
    else:
        say(f"removed key {slot_id[:8]}; a copy of the archive made before still opens with it")


@app.command("change")
def change(
    new_password_file: options.NewPasswordFile = None,
    new_password_command: options.NewPasswordCommand = None,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """Replace the passphrase that opens the archive now (the new one is asked for, or from ARCHIVE_NEW_PASSWORD)."""
    with options.open_archive(repo, password_file, password_command) as archive:
        chosen = password.new(PasswordFrom(new_password_file, new_password_command, NEW_VARIABLE))
        changed = keys.change(archive, chosen, places.clock_ms()())
    if json:
        document = {"schema": "archive.key-changed/1", "added": changed.added, "removed": changed.removed}
        out(options.to_json(document))
    elif changed.removed is None:
        say(
            f"added key {changed.added[:8]}; the recovery code stays good; see archive key list for older passphrases"
        )
    else:
        say(
            f"key {changed.added[:8]} takes the place of {changed.removed[:8]}; older copies still open with the old one"
        )
    in_keyring = places.keyring_marker(archive.keys.archive_id).exists()
    return password.remember(archive.keys.archive_id, chosen) if in_keyring else ExitCode.DONE
