"""``archive sources``."""

from contextlib import ExitStack

from archiver.cli import documents, options, password, places, text
from archiver.cli.password import PasswordFrom
from archiver.cli.terminal import Terminal, out, say
from archiver.errors import ExitCode, NoArchiveError
from archiver.ops.sources import Listed, list_sources
from archiver.repo import archive
from archiver.repo.archive import Archive
from archiver.source.find import Found
from archiver.storage.base import Storage


def sources(
    home: options.Home = None,
    cursor_user_dir: options.CursorUserDir = None,
    memories: options.Memories = None,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """List everything that Cursor keeps, and what changed since the last snapshot."""
    where = options.find_places(home, cursor_user_dir, memories)
    with ExitStack() as stack:
        terminal = stack.enter_context(Terminal(quiet=json))
        opened = _archive_if_any(options.storage(repo), PasswordFrom(password_file, password_command))
        if opened is not None:
            stack.enter_context(opened)
        found, listed = list_sources(opened, where, places.host(), terminal)
    if json:
        out(options.to_json(documents.source_list(str(where.home), found.roots, listed, terminal.problems)))
    else:
        _render(found, listed)
    return ExitCode.PROBLEMS if terminal.problems else ExitCode.DONE


def _archive_if_any(storage: Storage, source: PasswordFrom) -> Archive | None:
    """The archive, if there is one and its password is to be had without asking: a list should not ask."""
    try:
        archive_id = archive.read_archive_id(storage)
    except NoArchiveError:
        return None
    known = password.existing(source, archive_id, ask=False)
    if known is None:
        say(f"what changed is not shown: the password of {storage.location} was not given")
        return None
    return archive.open_archive(storage, lambda _: known, places.cache_folder())


def _render(found: Found, listed: list[Listed]) -> None:
    header = ("STORE", "SIZE", "WAL", "MODE", "SINCE LAST", "PATH")
    rows = [
        (
            str(entry.source.store),
            text.size(entry.state.main_bytes),
            text.size(entry.state.wal_bytes) if entry.state.wal_bytes else "",
            entry.state.journal_mode or "",
            entry.changed or "",
            entry.source.path,
        )
        for entry in listed
    ]
    for line in text.columns([header, *rows], right=frozenset({1, 2})):
        out(line)
    for name, folder in found.roots.items():
        out(f"{name} is {folder}")
    total = sum(entry.state.main_bytes + entry.state.wal_bytes for entry in listed)
    say(f"{text.count(len(listed), 'source')}, {text.size(total)}")
