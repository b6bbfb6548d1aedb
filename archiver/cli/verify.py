"""``archive verify``."""

from typing import Annotated

import typer

from archiver.cli import documents, options, places, text
from archiver.cli.terminal import Terminal, out, say
from archiver.errors import ExitCode, UsageError
from archiver.ops import choose
from archiver.ops import verify as operation
from archiver.ops.verify import Verified


def verify(
    snapshot: Annotated[
        str | None, typer.Argument(help="Only this snapshot: id's beginning, 'latest', or date.")
    ] = None,
    data: Annotated[bool, typer.Option("--data", help="Open every frame and hash every blob.")] = False,
    data_sample: Annotated[
        str | None,
        typer.Option("--data-sample", help="Do so for a random share of the packs.", metavar="PERCENT"),
    ] = None,
    names_only: Annotated[
        bool, typer.Option("--names-only", help="Without any key: check that every object matches its name.")
    ] = False,
    repo: options.Repo = None,
    password_file: options.PasswordFile = None,
    password_command: options.PasswordCommand = None,
    json: options.Json = False,
) -> int:
    """Check that the archive is whole and would restore."""
    if names_only and (data or data_sample or snapshot):
        raise UsageError(
            "--names-only checks everything that can be checked without a key, and goes with nothing else"
        )
    share = 1.0 if data else _share(data_sample)
    with Terminal(quiet=json) as terminal:
        if names_only:
            result = operation.verify_names(options.storage(repo), terminal)
        else:
            with options.open_archive(repo, password_file, password_command) as archive:
                chosen = (
                    None if snapshot is None else choose.snapshot(archive, snapshot, places.now(), terminal)
                )
                result = operation.verify(archive, chosen, share, terminal)
    if json:
        out(options.to_json(documents.verified(result)))
    else:
        _render(result, names_only=names_only)
    return result.exit_code


def _share(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"'{text}' is not a share of the data, such as 10%")
    return share


def _render(result: Verified, *, names_only: bool) -> None:
    for damage in result.damage:
        out(f"{'newer' if damage.newer else 'damaged'}: {damage.object}: {damage.message}")
    for hit in result.hit:
        out(
            f"hit: snapshot {hit.snapshot[:8]}: {'all sources of a list' if hit.source == '*' else hit.source}"
        )
    for note in result.notes:
        say(f"note: {note}")
    checked = text.count(result.objects, "object")
    if not names_only:
        checked += f", {text.count(result.snapshots, 'snapshot')}, {text.count(result.blobs, 'blob')}"
        checked += f", {result.packs_read} of {text.count(result.packs, 'pack')} read ({text.size(result.read_bytes)})"
    out(f"checked {checked}: {_verdict(result)}")


def _verdict(result: Verified) -> str:
    if result.exit_code is ExitCode.DONE:
        return "all sound"
    if result.exit_code is ExitCode.NEWER:
        return f"{text.count(len(result.damage), 'object')} of a later version, the others sound"
    return text.count(sum(not damage.newer for damage in result.damage), "damaged object")
