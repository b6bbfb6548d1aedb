"""Options that several commands share, and opening the archive that they name."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from archiver.cli import password, places
from archiver.cli.password import PasswordFrom
from archiver.repo import archive
from archiver.repo.archive import Archive
from archiver.source.find import Places
from archiver.storage.local import LocalStorage

Repo = Annotated[
    Path | None,
    typer.Option(
        "--repo", envvar="ARCHIVE_REPO", help="The archive's folder.", show_envvar=True, metavar="DIR"
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON object (specs/cli-json.md).")
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--home", help="The home folder under which Cursor keeps its data; of any platform.", metavar="DIR"
    ),
]
CursorUserDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--cursor-user-dir", help="A 'User' folder elsewhere (Nightly, portable). Repeatable.", metavar="DIR"
    ),
]
Memories = Annotated[
    list[Path] | None, typer.Option("--memories", help="A folder of memories. Repeatable.", metavar="DIR")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        envvar="ARCHIVE_PASSWORD_FILE",
        help="Read the password from a file.",
        metavar="FILE",
    ),
]
PasswordCommand = Annotated[
    str | None,
    typer.Option(
        "--password-command",
        envvar="ARCHIVE_PASSWORD_COMMAND",
        help="Read the password from a command's output.",
        metavar="CMD",
    ),
]
NewPasswordFile = Annotated[
    Path | None,
    typer.Option("--new-password-file", help="Read the new password from a file.", metavar="FILE"),
]
NewPasswordCommand = Annotated[
    str | None,
    typer.Option(
        "--new-password-command", help="Read the new password from a command's output.", metavar="CMD"
    ),
]


def storage(repo: Path | None) -> LocalStorage:
    """The storage that ``--repo`` names."""
    return LocalStorage(repo if repo is not None else places.default_repo())


def open_archive(repo: Path | None, password_file: Path | None, password_command: str | None) -> Archive:
    """Open the archive that the options name; a context manager."""
    source = PasswordFrom(password_file, password_command)
    return archive.open_archive(
        storage(repo), lambda archive_id: password.existing(source, archive_id) or "", places.cache_folder()
    )


def find_places(
    home: Path | None, cursor_user_dirs: list[Path] | None, memories: list[Path] | None
) -> Places:
    """Where to look for sources."""
    own = Path.home()
    return Places(
        home=(home or own).resolve(),
        env=_environment(),
        own_home=home is None or home.resolve() == own.resolve(),
        cursor_user_dirs=tuple(path.resolve() for path in cursor_user_dirs or ()),
        memories=tuple(
            path.resolve() for path in (Path.cwd() / "memories", *(memories or ())) if path.is_dir()
        ),
        mounts=places.windows_mounts() if home is None else None,
    )


def to_json(document: object) -> str:
    """A result as JSON text."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _environment() -> Mapping[str, str]:
    names = ("CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR", "XDG_CONFIG_HOME")
    return {name: os.environ[name] for name in names if os.environ.get(name)}
