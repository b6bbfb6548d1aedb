"""Which snapshot and which sources a person means."""

import calendar
import fnmatch
import re
from collections.abc import Callable
from datetime import datetime, time

from archiver.errors import UserError
from archiver.layout.manifest import SourceEntry
from archiver.repo import snapshots
from archiver.repo.archive import Archive
from archiver.repo.snapshots import Loaded, Snapshot

LATEST = "latest"

_ID = re.compile(r"[0-9a-fA-F]{4,64}")


def snapshot(archive: Archive, text: str, now: datetime) -> Snapshot:
    """The snapshot that ``text`` names: an id's beginning, ``latest``, or a date (the last one at or before it).

    Args:
        archive: Where to look.
        text: What the person typed.
        now: The clock, with a time zone: what relative dates are relative to.

    Raises:
        UserError: There is none, or several.
    """
    if _ID.fullmatch(text) and (found := snapshots.by_prefix(archive, text)) is not None:
        return snapshots.load(archive, found)
    loaded = snapshots.load_all(archive)
    if text == LATEST:
        return _last(loaded, lambda _: True, "the archive has no snapshot yet")
    moment_ms = round(moment(text, now).timestamp() * 1000)
    return _last(
        loaded,
        lambda snapshot: snapshot.manifest.started_ms <= moment_ms,
        f"there is no snapshot from '{text}' or before",
    )


def moment(text: str, now: datetime) -> datetime:
    """The end of what ``text`` names: a day stands for its last moment, a time for itself.

    Raises:
        UserError: It is no date.
    """
    # dateparser takes a tenth of a second to import, which only those who type dates should pay.
    from dateparser.date import DateDataParser  # noqa: PLC0415

    settings = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "RETURN_TIME_AS_PERIOD": True,
        "PREFER_DATES_FROM": "past",
    }
    data = DateDataParser(languages=["en"], settings=settings).get_date_data(text)
    if data.date_obj is None:
        raise UserError(
            f"'{text}' is neither the beginning of a snapshot's id nor a date",
            hint="try 'latest', '2026-11-03', 'yesterday 18:00', or an id from: archive snapshots",
        )
    return _end_of(data.date_obj, data.period or "time").replace(tzinfo=now.tzinfo)


def sources(entries: list[SourceEntry], wanted: list[str]) -> list[SourceEntry]:
    """The entries that ``wanted`` names by store, path, folder or pattern; all of them when nothing is wanted.

    Raises:
        UserError: Something that is wanted matches nothing.
    """
    if not wanted:
        return entries
    for want in wanted:
        if not any(_matches(entry, want) for entry in entries):
            stores = ", ".join(sorted({entry.store for entry in entries}))
            raise UserError(
                f"no source of this snapshot matches '{want}'", hint=f"name a path, or one of: {stores}"
            )
    return [entry for entry in entries if any(_matches(entry, want) for want in wanted)]


def _matches(entry: SourceEntry, want: str) -> bool:
    want = want.rstrip("/")
    return (
        want in (entry.store, entry.path)
        or entry.path.startswith(want + "/")
        or fnmatch.fnmatchcase(entry.path, want)
    )


def _last(loaded: Loaded, suits: Callable[[Snapshot], bool], otherwise: str) -> Snapshot:
    suitable = [snapshot for snapshot in loaded.snapshots if suits(snapshot)]
    if suitable:
        return suitable[-1]
    if loaded.damage:
        raise loaded.damage[0]
    raise UserError(otherwise, hint="see what there is: archive snapshots")


def _end_of(moment: datetime, period: str) -> datetime:
    if period == "time":
        return moment
    if period == "year":
        moment = moment.replace(month=12, day=31)
    if period == "month":
        moment = moment.replace(day=calendar.monthrange(moment.year, moment.month)[1])
    return datetime.combine(moment.date(), time.max, moment.tzinfo)
