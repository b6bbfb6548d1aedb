"""The program's own folders, and what machine this is."""

import getpass
import os
import platform
import socket
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import platformdirs

NAME = "cursor-archive"


def default_repo() -> Path:
    """Where an archive is kept unless the person says otherwise."""
    return platformdirs.user_data_path(NAME, appauthor=False) / "archive"


def cache_folder() -> Path:
    """What can be thrown away at any time: ``ARCHIVE_CACHE``, or the platform's cache folder."""
    named = os.environ.get("ARCHIVE_CACHE")
    return Path(named) if named else platformdirs.user_cache_path(NAME, appauthor=False)


def keyring_marker(archive_id: bytes) -> Path:
    """The file that says that this archive's password is in the system's keyring."""
    return platformdirs.user_config_path(NAME, appauthor=False) / f"{archive_id.hex()}.keyring"


def windows_mounts() -> Path | None:
    """Where WSL shows the drives of Windows, if this is WSL."""
    return Path("/mnt") if "microsoft" in platform.release().lower() else None


def host() -> str:
    """This machine's name."""
    return socket.gethostname()


def user() -> str:
    """Who runs the program."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def now() -> datetime:
    """The clock, in the person's time zone."""
    return datetime.now().astimezone()


def clock_ms() -> Callable[[], int]:
    """The clock in milliseconds since 1970 UTC."""
    return lambda: time.time_ns() // 1_000_000
