"""Where each platform keeps things, and how it writes paths."""

import hashlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

from .model import Platform

_USER_DIRS: Final[dict[Platform, str]] = {
    "linux": ".config/Cursor/User",
    "macos": "Library/Application Support/Cursor/User",
    "windows": "AppData/Roaming/Cursor/User",
}
_PROJECTS: Final[dict[Platform, str]] = {
    "linux": "/home/dev/projects/",
    "macos": "/Users/dev/projects/",
    "windows": "c:\\Users\\dev\\projects\\",
}


def user_dir(root: Path, platform: Platform) -> Path:
    """The editor's ``User`` folder under the home folder ``root``."""
    return root / _USER_DIRS[platform]


def project_folder(platform: Platform, name: str) -> str:
    """A project's folder as the platform writes it; it is an invented one, not under the sample's root."""
    return _PROJECTS[platform] + name


def folder_uri(folder: str) -> str:
    """The editor's URI of a folder: on Windows the drive's colon is escaped."""
    path = folder.replace("\\", "/")
    return "file://" + quote(path if path.startswith("/") else f"/{path}")


def slug(folder: str) -> str:
    """The name of a project's folder under ``.cursor/projects``."""
    return re.sub("[^A-Za-z0-9]+", "-", folder).strip("-")


def md5(text: str) -> str:
    """Hex MD5, which Cursor makes folder names with."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def sha256(data: bytes) -> str:
    """Hex SHA-256, which Cursor names content with."""
    return hashlib.sha256(data).hexdigest()
