"""Which snapshot and which sources a person means."""

import calendar
import fnmatch
import re
from collections.abc import Callable
from datetime import datetime, time

from archiver.errors import ArchiveError, UserError
from archiver.layout.manifest import Manifest, SourceEntry, decode_entries
from archiver.model import BlobId
from archiver.monitor import Monitor, Problem
from archiver.repo import snapshots
from archiver.repo.archive import Archive
from archiver.repo.snapshots import Loaded, Snapshot

LATEST = "latest"

_ID = re.compile(r"[0-9a-fA-F]{4,64}")


def snapshot(archive: Archive, text: str, now: datetime, monitor: Monitor) -> Snapshot:
    """The snapshot that ``text`` names: an id's beginning, ``latest``, or a date (the last one at or before it).

    Args:
        archive: Where to look.
        text: What the person typed.
        now: The clock: what relative dates are relative to.
        monitor: Hears of snapshots that cannot be read, any of which may be the one that ``latest`` or a date means.

    Raises:
        UserError: There is none, or several.
    """
    if _ID.fullmatch(text) and (found := snapshots.by_prefix(archive, text)) is not None:
        return snapshots.load(archive, found)
    loaded = snapshots.load_all(archive)
    if text == LATEST:
        return _last(loaded, lambda _: True, "the archive has no snapshot yet", monitor)
    moment_ms = round(moment(text, now).timestamp() * 1000)
    return _last(
        loaded,
        lambda snapshot: snapshot.manifest.started_ms <= moment_ms,
        f"there is no snapshot from '{text}' or before",
        monitor,
    )


def moment(text: str, now: datetime) -> datetime:
    """The end of what ``text`` names, in the system's time zone unless it names another.

    A day stands for its last moment, and a time for the end of its second, since lists show no smaller parts.

    Raises:
        UserError: It is no date.
    """
    # dateparser takes a tenth of a second to import, which only those who type dates should pay.
    from dateparser.date import DateDataParser  # noqa: PLC0415

    settings = {
        "RELATIVE_BASE": now.astimezone().replace(tzinfo=None),
        "RETURN_TIME_AS_PERIOD": True,
        "PREFER_DATES_FROM": "past",
    }
    data = DateDataParser(languages=["en"], settings=settings).get_date_data(text)
    if data.date_obj is None:
        raise UserError(
            f"'{text}' is neither the beginning of a snapshot's id nor a date",
            hint="try 'latest', '2026-11-03', 'yesterday 18:00', or an id from: archive snapshots",
        )
    # The zone's offset is that of the date itself, which in winter is not that of a summer's now.
    return _end_of(data.date_obj, data.period or "time").astimezone()


def readable_entries(archive: Archive, manifest: Manifest, monitor: Monitor) -> list[SourceEntry]:
    """The sources of a snapshot, in order of path, but for those of lists that are lost, which ``monitor`` hears of.

    Raises:
        DamageError: A list that is not lost holds a path that leads elsewhere ([AR-53]), or is no list.
    """
    found: list[SourceEntry] = []
    for blob_hex in manifest.sources:
        name = f"the source list {blob_hex}"
        try:
            value = archive.reader.read(BlobId(bytes.fromhex(blob_hex)))
        except ArchiveError as error:
            monitor.problem(Problem("source-list-unreadable", f"{name} is lost, and its sources: {error}"))
            continue
        found += decode_entries(value, name)
    return found


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


def _last(loaded: Loaded, suits: Callable[[Snapshot], bool], otherwise: str, monitor: Monitor) -> Snapshot:
    suitable = [snapshot for snapshot in loaded.snapshots if suits(snapshot)]
    if suitable:
        for error in loaded.damage:
            message = f"a snapshot that may be the one you mean was passed over: {error}"
            monitor.problem(Problem("snapshot-unreadable", message))
        return suitable[-1]
    if loaded.damage:
        raise loaded.damage[0]
    raise UserError(otherwise, hint="see what there is: archive snapshots")


def _end_of(moment: datetime, period: str) -> datetime:
    if period == "time":
        return moment.replace(microsecond=999_999)
    if period == "year":
        moment = moment.replace(month=12, day=31)
    if period == "month":
        moment = moment.replace(day=calendar.monthrange(moment.year, moment.month)[1])
    return datetime.combine(moment.date(), time.max, moment.tzinfo)
