"""Times that Cursor writes as text, as milliseconds since 1970."""

import re
from datetime import UTC, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = re.compile(
    r"[A-Z][a-z]+day, ([A-Z][a-z]{2}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2})\s([AP])M"
    r" \(UTC(?:([+-])(\d{1,2})(?::(\d{2}))?)?\)",
    re.ASCII,
)


def iso_ms(text: str) -> int | None:
    """The moment that an ISO 8601 text names; nothing if it is none, or leaves its zone open."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _ms(moment) if moment.tzinfo else None


def clock_ms(text: str) -> int | None:
    """The minute that a prompt's time names: ``Monday, Jul 27, 2026, 10:16 PM (UTC-6)``; nothing for others."""
    found = _CLOCK.fullmatch(text)
    if not found or found[1] not in _MONTHS or not 1 <= int(found[4]) <= 12:
        return None
    month, hour = _MONTHS.index(found[1]) + 1, int(found[4]) % 12 + (12 if found[6] == "P" else 0)
    ahead = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    try:
        zone = timezone(-ahead if found[7] == "-" else ahead)
        return _ms(datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=zone))
    except ValueError:
        return None


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)
