"""``archive snapshot`` and ``archive snapshots``."""

from collections import Counter
from typing import Annotated

import typer

from archiver.cli import documents, options, places, text
from archiver.cli.terminal import Terminal, out, say
from archiver.errors import ExitCode
from archiver.layout.prefix import Kind, object_name
from archiver.ops import snapshot as operation
from archiver.ops.scratch import scratch
from archiver.ops.snapshot import Request, Taken
from archiver.repo import snapshots as repo_snapshots
from archiver.source.capture import Policy


def snapshot(
    home: options.Home = None,
    cursor_user_dir: options.CursorUserDir = None,
    memories: options.Memories = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by. Repeatable.")] = None,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence", help="Also keep the raw main files and -shm, with SHA-256 and custody details."
        ),
    ] = False,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """Capture everything that Cursor keeps, while it runs."""
    where = options.find_places(home, cursor_user_dir, memories)
    with (
        options.open_archive(repo, password_file, password_command) as archive,
        scratch(places.cache_folder() / "scratch") as folder,
        Terminal(quiet=json) as terminal,
    ):
        request = Request(
            places=where,
            policy=Policy(scratch=folder, evidence=evidence),
            host=places.host(),
            user=places.user(),
            now_ms=places.clock_ms(),
            tags=tuple(tag or ()),
        )
        taken = operation.take(archive, request, terminal)
    if json:
        out(options.to_json(documents.snapshot_taken(taken)))
    else:
        _render(taken)
    return ExitCode.PROBLEMS if terminal.problems else ExitCode.DONE


def snapshots(
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """List the snapshots, oldest first."""
    with options.open_archive(repo, password_file, password_command) as archive:
        loaded = repo_snapshots.load_all(archive)
        sizes = {listed.name: listed.size_bytes for listed in archive.storage.list("snapshots/")}
    damage = [str(error) for error in loaded.damage]
    names = [object_name(Kind.SNAPSHOT, snapshot.snapshot_id) for snapshot in loaded.snapshots]
    found = [(snapshot, sizes.get(name, 0)) for snapshot, name in zip(loaded.snapshots, names, strict=True)]
    if json:
        out(options.to_json(documents.snapshot_list(found, damage)))
    else:
        _render_list(found)
        for message in damage:
            say(f"archive: problem: {message}")
    return loaded.damage[0].exit_code if loaded.damage else ExitCode.DONE


def _render(taken: Taken) -> None:
    manifest, stats = taken.snapshot.manifest, taken.snapshot.manifest.stats
    statuses = Counter(result.status for result in taken.results)
    what = ", ".join(f"{number} {status}" for status, number in statuses.most_common())
    out(f"snapshot {taken.snapshot.snapshot_id[:8]} of {text.when(manifest.started_ms)}")
    out(f"  {text.count(len(taken.results), 'source')} ({what}), {text.size(stats.image_bytes)} as files")
    out(
        f"  {text.size(stats.new_plain_bytes)} were new and took {text.size(taken.stored_bytes)}"
        f" in the archive; {stats.seconds:.1f} s"
    )
    if manifest.problems:
        out(f"  {text.count(len(manifest.problems), 'problem')}, kept with the snapshot")


def _render_list(found: list[tuple[repo_snapshots.Snapshot, int]]) -> None:
    if not found:
        say("no snapshot yet; take one: archive snapshot")
        return
    header = ("ID", "TIME", "HOST", "FILES", "STORED", "PROBLEMS", "TAGS")
    rows = [
        (
            snapshot.snapshot_id[:8],
            text.when(snapshot.manifest.started_ms),
            snapshot.manifest.host,
            text.size(snapshot.manifest.stats.image_bytes),
            text.size(snapshot.manifest.stats.stored_bytes + manifest_bytes),
            str(len(snapshot.manifest.problems) or ""),
            " ".join(snapshot.manifest.tags),
        )
        for snapshot, manifest_bytes in found
    ]
    for line in text.columns([header, *rows], right=frozenset({3, 4, 5})):
        out(line)
