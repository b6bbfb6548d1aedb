"""Results as Markdown tables that also read well as plain text."""

from collections.abc import Callable, Iterable, Iterator

from benchmarks import middle
from benchmarks.middle import Costs
from benchmarks.results import Cost, NewRows, Outcome, SmallStores
from benchmarks.scenario import RESTORE, VERIFY
from benchmarks.tools import ARCHIVE, BORG, CP, RESTIC, SQLITE

_NOTHING = "-"


def render(outcomes: list[Outcome], store_count: int) -> Iterator[str]:
    """All tables, each under a line that says what it shows.

    Args:
        outcomes: One for each round, at least one; what an hour writes is the same in each.
        store_count: How many small stores there were.
    """
    costs, hours = middle.costs(outcomes), outcomes[0].hours
    snapshots = {key: cost for key, cost in costs.items() if key[0] not in {RESTORE, VERIFY}}
    yield "Seconds:"
    yield _of_each(costs, lambda cost: f"{cost.seconds:.2f}")
    yield "MB added to the store:"
    yield _of_each(snapshots, lambda cost: _megabytes(cost.added_bytes))
    yield "Peak memory in MB (resident):"
    yield _of_each(costs, lambda cost: f"{cost.peak_bytes / 1e6:.0f}")
    yield "Seconds of `archive` as a multiple of:"
    yield _ratios(costs, (SQLITE, CP, RESTIC, BORG), lambda cost: cost.seconds)
    yield "Bytes that `archive` adds as a multiple of:"
    yield _ratios(snapshots, (RESTIC, BORG), lambda cost: cost.added_bytes)
    yield "What an hour writes, and what `archive` adds for it, in MB:"
    yield _hours(costs, hours)
    yield f"{store_count} small stores, in seconds:"
    yield _small(middle.small_stores(outcomes))


def _of_each(costs: Costs, figure: Callable[[Cost], str]) -> str:
    names = _unique(tool for _, tool in costs)
    phases = _unique(phase for phase, _ in costs)
    rows = [
        [phase, *(figure(costs[phase, name]) if (phase, name) in costs else _NOTHING for name in names)]
        for phase in phases
    ]
    return _table(["", *names], rows)


def _ratios(costs: Costs, others: tuple[str, ...], figure: Callable[[Cost], float]) -> str:
    names = [name for name in others if any(tool == name for _, tool in costs)]
    phases = _unique(phase for phase, tool in costs if tool == ARCHIVE)
    rows = []
    for phase in phases:
        ours = figure(costs[phase, ARCHIVE])
        theirs = [figure(costs[phase, name]) if (phase, name) in costs else 0 for name in names]
        rows.append([phase, *(f"{ours / each:.2f}" if each else _NOTHING for each in theirs)])
    return _table(["", *names], [row for row in rows if set(row[1:]) != {_NOTHING}])


def _hours(costs: Costs, hours: dict[str, NewRows]) -> str:
    rows = []
    for name, written in hours.items():
        added_bytes = costs[name, ARCHIVE].added_bytes
        row = [name, _megabytes(written.plain_bytes), _megabytes(written.packed_bytes)]
        rows.append([*row, _megabytes(added_bytes), f"{added_bytes / written.packed_bytes:.2f}"])
    return _table(["", "new rows", "the same, zstd 3", "archive adds", "ratio"], rows)


def _small(small: SmallStores) -> str:
    rows = [
        ["first snapshot", f"{small.first:.2f}"],
        ["unchanged", f"{small.unchanged:.2f}"],
        ["unchanged, the operation alone", f"{small.operation:.3f}"],
        ["a command that only opens the archive", f"{small.start:.2f}"],
    ]
    return _table([f"{_megabytes(small.plain_bytes)} MB together", ARCHIVE], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    """The first column to the left, the others to the right."""
    widths = [max(3, *map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = []
    for first, *others in (header, rule, *rows):
        cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.2f}" if count < 10_000_000 else f"{count / 1e6:.1f}"


def _unique(names: Iterable[str]) -> list[str]:
    """Each name once, in order."""
    return list(dict.fromkeys(names))
