"""Several rounds as one: the median of each figure."""

from statistics import median

from benchmarks.results import Cost, Outcome, SmallStores

Costs = dict[tuple[str, str], Cost]
"""By phase and tool, in the order in which they were measured."""


def costs(outcomes: list[Outcome]) -> Costs:
    """The middle cost of each phase and tool."""
    found: dict[tuple[str, str], list[Cost]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            found.setdefault((row.phase, row.tool), []).append(row.cost)
    return {key: _cost(each) for key, each in found.items()}


def small_stores(outcomes: list[Outcome]) -> SmallStores:
    """The middle of each time of the small stores; their bytes are the same in each round."""
    each = [outcome.small for outcome in outcomes]
    return SmallStores(
        first=median(small.first for small in each),
        unchanged=median(small.unchanged for small in each),
        operation=median(small.operation for small in each),
        start=median(small.start for small in each),
        plain_bytes=each[0].plain_bytes,
    )


def _cost(each: list[Cost]) -> Cost:
    return Cost(
        seconds=median(cost.seconds for cost in each),
        peak_bytes=round(median(cost.peak_bytes for cost in each)),
        added_bytes=round(median(cost.added_bytes for cost in each)),
    )
