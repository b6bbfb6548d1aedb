"""Files that Cursor keeps beside its chats and that are none: a capture must not take them for sources."""

from pathlib import Path

from .javascript import js
from .layout import slug

_LOG = "2026-03-02 08:00:00.000 [info] update#setState idle\n" * 20


def write_bystanders(user_dir: Path, cursor_dir: Path, cwd: str) -> None:
    """Settings, logs, caches, descriptions of tools, contents of terminals."""
    project = cursor_dir / "projects" / slug(cwd)
    files = {
        user_dir / "settings.json": js(
            {"editor.fontSize": 14, "workbench.colorTheme": "Default Dark Modern"}
        ),
        user_dir / "keybindings.json": "[]",
        user_dir / "globalStorage" / "storage.json": js({"windowsState": {}, "theme": "vs-dark"}),
        user_dir / "History" / "-1a2b3c4d" / "entries.json": js({"version": 1, "entries": []}),
        user_dir.parent / "logs" / "20260302T080000" / "main.log": _LOG,
        user_dir.parent / "Local State": js({"os_crypt": {"encrypted_key": "FAKE-key-of-a-sample"}}),
        cursor_dir / "mcp.json": js({"mcpServers": {}}),
        cursor_dir / "argv.json": js({"enable-crash-reporter": False}),
        cursor_dir / "extensions" / "extensions.json": "[]",
        project / "mcps" / "files" / "tools" / "read.json": js(
            {"name": "read", "description": "Read a file"}
        ),
        project
        / "terminals"
        / "1.txt": f"---\npid: 4242\ncwd: {cwd}\n---\n$ git status\nnothing to commit\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
