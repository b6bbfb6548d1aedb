"""One name for each tool, whatever a store calls it (specs/records.md)."""

_NAMES = {
    "createPlan": ("CreatePlan", "create_plan"),
    "delete": ("Delete", "DeleteFile", "delete_file"),
    "edit": ("StrReplace", "Edit", "EditFile", "edit_file", "edit_file_v2"),
    "generateImage": ("GenerateImage", "generate_image"),
    "glob": ("Glob", "file_search", "glob_file_search"),
    "grep": ("Grep", "ripgrep_search", "ripgrep_raw_search"),
    "ls": ("LS", "list_dir", "list_dir_v2"),
    "read": ("Read", "ReadFile", "read_file", "read_file_v2"),
    "readLints": ("ReadLints", "read_lints"),
    "semSearch": ("SemanticSearch", "semantic_search_full"),
    "shell": ("Shell", "run_terminal_command", "run_terminal_command_v2"),
    "task": ("Task", "task_v2"),
    "updateTodos": ("TodoWrite", "todo_write"),
    "webFetch": ("WebFetch", "web_fetch"),
    "webSearch": ("WebSearch", "web_search"),
    "write": ("Write", "create_file"),
}
_CANONICAL = {stored: name for name, all_stored in _NAMES.items() for stored in all_stored}


def canonical(stored: str) -> str:
    """The name that a tool has in every store, or the stored one where no other is known."""
    return _CANONICAL.get(stored, stored)
