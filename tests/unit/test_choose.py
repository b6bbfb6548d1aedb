"""Which snapshot and which sources people mean by what they type."""

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest

from archiver.errors import UserError
from archiver.layout.manifest import Image, Manifest, SourceEntry
from archiver.model import FileState, Fingerprint, Method, Role
from archiver.monitor import Silent
from archiver.ops import choose
from archiver.repo import snapshots

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 21, 15, 30, 12, tzinfo=BERLIN)

EMPTY = Manifest(
    started_ms=0, finished_ms=0, host="testhost", user="tester", home="/home/dev", tool="a test", sources=[]
)


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch):
    """The tests run where clocks are changed twice a year."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def opened(tested):
    """An open archive with a snapshot at each of some moments; ``at`` finds one again by its moment."""
    with tested.open() as found:
        yield found


def _commit(opened, *moments: datetime) -> list[str]:
    started = [round(moment.timestamp() * 1000) for moment in moments]
    return [
        snapshots.commit(opened, msgspec.structs.replace(EMPTY, started_ms=started_ms))[0]
        for started_ms in started
    ]


def _chosen(opened, text: str, now: datetime = NOW) -> str:
    return choose.snapshot(opened, text, now, Silent()).snapshot_id


def _at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026-11-03", _at(2026, 11, 3, 23, 59, 59)),
        ("yesterday", _at(2026, 11, 20, 23, 59, 59)),
        ("yesterday 18:00", _at(2026, 11, 20, 18)),
        ("today", _at(2026, 11, 21, 23, 59, 59)),
        ("18:00", _at(2026, 11, 20, 18)),
        ("12:00", _at(2026, 11, 21, 12)),
        ("2026-11", _at(2026, 11, 30, 23, 59, 59)),
        ("2024-02", _at(2024, 2, 29, 23, 59, 59)),
        ("2025", _at(2025, 12, 31, 23, 59, 59)),
        ("2 hours ago", _at(2026, 11, 21, 13, 30, 12)),
        ("3 Nov 2026 18:00:30", _at(2026, 11, 3, 18, 0, 30)),
        ("2026-07-03 18:00", datetime(2026, 7, 3, 16, tzinfo=UTC)),
        ("2026-11-03 18:00", datetime(2026, 11, 3, 17, tzinfo=UTC)),
        ("2026-11-03T18:00:00Z", datetime(2026, 11, 3, 18, tzinfo=UTC)),
    ],
)
def test_what_a_date_means(text, end):
    """A day, a month or a year means its end, and a time means itself, by the clock that hung on the wall then."""
    found = choose.moment(text, NOW)
    assert found.replace(microsecond=0) == end
    assert found.microsecond == 999_999


@pytest.mark.parametrize("text", ["", " ", "gibberish", "latest!", "zzzz"])
def test_what_is_no_date(text):
    """What is neither an id nor a date is refused, with examples."""
    with pytest.raises(UserError, match="neither the beginning") as refused:
        choose.moment(text, NOW)
    assert "yesterday 18:00" in (refused.value.hint or "")


def test_the_last_snapshot_at_or_before(opened):
    """A date names the last snapshot at or before it; before the first one there is none."""
    morning, evening, next_day = _commit(
        opened, _at(2026, 11, 3, 9), _at(2026, 11, 3, 21), _at(2026, 11, 4, 9)
    )
    assert _chosen(opened, "2026-11-03") == evening
    assert _chosen(opened, "2026-11-03 12:00") == morning
    assert _chosen(opened, "2026-11-20") == next_day
    assert _chosen(opened, "latest") == next_day
    with pytest.raises(UserError, match="no snapshot from '2026-11-02' or before"):
        _chosen(opened, "2026-11-02")


def test_a_time_as_lists_show_it(opened):
    """The time that ``archive snapshots`` prints names that snapshot, though it hides the milliseconds."""
    moment = datetime(2026, 11, 3, 9, 15, 30, 700_000, tzinfo=BERLIN)
    _, shown = _commit(opened, _at(2026, 11, 3, 9), moment)
    assert _chosen(opened, moment.strftime("%Y-%m-%d %H:%M:%S")) == shown


def test_an_archive_without_snapshots(opened):
    """In an empty archive ``latest`` is refused, not looked for elsewhere."""
    with pytest.raises(UserError, match="has no snapshot yet"):
        _chosen(opened, "latest")


@pytest.mark.spec("AR-54")
def test_ids_may_be_shortened(opened):
    """Any unique beginning of an id names its snapshot, also in capitals; an ambiguous one is refused."""
    found = sorted(_commit(opened, *(_at(2026, 11, 3, 9, 0, second) for second in range(40))))
    for snapshot_id in found:
        assert _chosen(opened, snapshot_id[:16].upper()) == snapshot_id
        assert _chosen(opened, snapshot_id) == snapshot_id


@pytest.mark.spec("AR-54")
def test_an_ambiguous_id(opened):
    """Where several snapshots start alike, none is taken, and the message says how many there are."""
    _commit(opened, _at(2026, 11, 3, 9))
    ids = opened.snapshot_ids()
    opened.storage.objects[f"snapshots/{ids[0][:4]}{'0' * 60}"] = b"another"
    with pytest.raises(UserError, match=f"2 snapshots start with '{ids[0][:4]}'"):
        _chosen(opened, ids[0][:4])
    assert _chosen(opened, ids[0]) == ids[0]


def test_a_snapshot_that_cannot_be_read_may_be_the_one(opened):
    """When a manifest is damaged, ``latest`` still finds one, and says that it may not be the latest."""
    older, newer = _commit(opened, _at(2026, 11, 3), _at(2026, 11, 4))
    opened.storage.objects[f"snapshots/{newer}"] = b"damaged"
    monitor = Silent()
    assert choose.snapshot(opened, "latest", NOW, monitor).snapshot_id == older
    assert [(problem.code, newer in problem.message) for problem in monitor.problems] == [
        ("snapshot-unreadable", True)
    ]
    assert choose.snapshot(opened, older[:8], NOW, Silent()).snapshot_id == older


def _entry(store: str, path: str) -> SourceEntry:
    nothing = FileState(0, 0, 0, 0)
    image = {Role.FILE: Image(0, "")}
    return SourceEntry(store, path, Method.READ, 0, 0, Fingerprint(nothing), settled=True, images=image)


ENTRIES = [
    _entry("ide-global", ".config/Cursor/User/globalStorage/state.vscdb"),
    _entry("ide-global", ".config/Cursor/User/globalStorage/state.vscdb.backup"),
    _entry("ide-workspace", ".config/Cursor/User/workspaceStorage/abc/state.vscdb"),
    _entry("plan", ".cursor/plans/one.plan.md"),
    _entry("plan", ".cursor/plans/[two].plan.md"),
    _entry("transcript", ".cursor/projects/p/agent-transcripts/x.jsonl"),
]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ([], [0, 1, 2, 3, 4, 5]),
        (["ide-global"], [0, 1]),
        ([".config/Cursor/User/globalStorage/state.vscdb"], [0]),
        ([".config/Cursor/User/globalStorage"], [0, 1]),
        ([".config/Cursor/User/globalStorage/"], [0, 1]),
        (["*.plan.md"], [3, 4]),
        (["*/state.vscdb"], [0, 2]),
        ([".cursor/plans/[two].plan.md"], [4]),
        (["transcript", "ide-workspace"], [2, 5]),
        (["plan", "*.md"], [3, 4]),
    ],
)
def test_sources_by_store_path_folder_or_pattern(wanted, numbers):
    """What is wanted may be a store, a path, a folder or a pattern; each source comes once, in order of path."""
    assert choose.sources(ENTRIES, wanted) == [ENTRIES[number] for number in numbers]


@pytest.mark.parametrize("wanted", [["memory"], ["plan", ".cursor/plan"], ["/.cursor"], ["IDE-GLOBAL"], [""]])
def test_a_wish_that_nothing_fits(wanted):
    """Each wish must fit something: a misspelt one must not restore less than was asked for."""
    with pytest.raises(UserError, match=f"matches '{wanted[-1]}'") as refused:
        choose.sources(ENTRIES, wanted)
    assert "ide-workspace" in (refused.value.hint or "")
