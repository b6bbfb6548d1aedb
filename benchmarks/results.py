"""What was measured, as values."""

import msgspec


class Cost(msgspec.Struct, frozen=True):
    """What one run took; ``added_bytes`` is by how much the files in its store grew."""

    seconds: float
    peak_bytes: int
    added_bytes: int = 0


class Row(msgspec.Struct, frozen=True):
    """What one tool took in one phase."""

    phase: str
    tool: str
    cost: Cost


class NewRows(msgspec.Struct, frozen=True):
    """What an hour of work wrote: keys and values of its new and rewritten rows.

    Attributes:
        plain_bytes: As they are.
        packed_bytes: Compressed with zstd level 3 in pieces of 1 MiB.
    """

    plain_bytes: int
    packed_bytes: int


class SmallStores(msgspec.Struct, frozen=True):
    """Snapshots of many small stores, in seconds.

    Attributes:
        first: The command's first snapshot.
        unchanged: The command's next one.
        operation: The same operation again, timed inside the process: no start, no password.
        start: A command that only opens the archive and lists its snapshots.
        plain_bytes: All files of the home.
    """

    first: float
    unchanged: float
    operation: float
    start: float
    plain_bytes: int


class Outcome(msgspec.Struct, frozen=True):
    """One round: its costs in order, what each hour of work wrote by the name of its phase, and the small stores."""

    rows: list[Row]
    hours: dict[str, NewRows]
    small: SmallStores
