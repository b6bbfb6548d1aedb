"""Every command's JSON result has the fields that specs/cli-json.md documents, and no others."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from archiver.errors import ExitCode
from archiver.model import Store
from tests.support import truth
from tests.support.command import Command
from tests.support.samplehome import make_home

SPEC = (Path(__file__).parents[2] / "specs" / "cli-json.md").read_text()


class Exact(msgspec.Struct, forbid_unknown_fields=True):
    """A shape in which every field must be there, and no other may."""


class Problem(Exact):
    code: str
    message: str
    source: str | msgspec.UnsetType = msgspec.UNSET


class Init(Exact):
    schema: Literal["archive.init/1"]
    repo: str
    archive_id: str
    recovery_code: str | None


class ListedSource(Exact):
    store: Store
    path: str
    file: str
    main_bytes: int
    wal_bytes: int
    journal_bytes: int
    journal_mode: Literal["wal", "delete"] | None
    changed: Literal["new", "changed", "unchanged"] | None


class Sources(Exact):
    schema: Literal["archive.sources/1"]
    home: str
    roots: dict[str, str]
    sources: list[ListedSource]
    problems: list[Problem]


class RawFile(Exact):
    role: Literal["wal", "journal", "main", "shm", "file"]
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    uid: int
    inode: int
    sha256: str


class Captured(Exact):
    store: Store
    path: str
    status: Literal["captured", "unchanged", "raw", "failed"]
    image_bytes: int
    method: str
    captured_ms: int
    duration_ms: int
    images: dict[str, int]
    raw: list[RawFile]
    steps: list[str]


class Stats(Exact):
    read_bytes: int
    image_bytes: int
    new_blobs: int
    new_plain_bytes: int
    stored_bytes: int
    seconds: float


class Listed(Exact):
    id: str
    time_ms: int
    finished_ms: int
    host: str
    user: str
    home: str
    roots: dict[str, str]
    tool: str
    parent: str | None
    tags: list[str]
    evidence: bool
    stats: Stats
    problems: list[Problem]


class Snapshots(Exact):
    schema: Literal["archive.snapshots/1"]
    snapshots: list[Listed]
    problems: list[Problem]


class Taken(Listed):
    schema: Literal["archive.snapshot/1"]
    sources: list[Captured]


class RestoredFile(Exact):
    source: str
    role: str
    file: str
    bytes: int


class Restored(Exact):
    schema: Literal["archive.restore-files/1"]
    snapshot: str
    to: str
    files: list[RestoredFile]
    problems: list[Problem]


class Damage(Exact):
    object: str
    message: str


class Hit(Exact):
    snapshot: str
    source: str
    store: str


class Verified(Exact):
    schema: Literal["archive.verify/1"]
    ok: bool
    objects: int
    snapshots: int
    packs: int
    packs_read: int
    blobs: int
    read_bytes: int
    damage: list[Damage]
    hit: list[Hit]
    notes: list[str]


class Sql(Exact):
    schema: Literal["archive.sql/1"]
    columns: list[str]
    rows: list[list[int | float | str | dict[str, str] | None]]


class Key(Exact):
    id: str
    kind: Literal["passphrase", "recovery"]
    label: str
    created_ms: int
    opened: bool


class Keys(Exact):
    schema: Literal["archive.keys/1"]
    keys: list[Key]


class KeyAdded(Exact):
    schema: Literal["archive.key-added/1"]
    id: str
    recovery_code: str | None


class KeyRemoved(Exact):
    schema: Literal["archive.key-removed/1"]
    id: str


class KeyChanged(Exact):
    schema: Literal["archive.key-changed/1"]
    added: str
    removed: str | None


class ErrorDetails(Exact):
    message: str
    hint: str | None
    exit_code: int


class Error(Exact):
    schema: Literal["archive.error/1"]
    error: ErrorDetails


SHAPES = (
    *(
        Init,
        Sources,
        Taken,
        Snapshots,
        Restored,
        Verified,
        Sql,
        Keys,
        KeyAdded,
        KeyRemoved,
        KeyChanged,
        Error,
    ),
    *(Problem, ListedSource, Captured, RawFile, Stats, Listed, RestoredFile, Damage, Hit, Key, ErrorDetails),
)


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Somebody who took one snapshot of a sample home, with evidence."""
    folder = tmp_path_factory.mktemp("json")
    make_home(folder / "person")
    found = Command(folder)
    assert found.json("init")["schema"] == "archive.init/1"
    found.json("snapshot", "--evidence", "--tag", "one")
    return found


def _shaped(document: dict[str, Any], shape: type[Exact]) -> Any:
    return msgspec.convert(document, shape)


def _mode(data: bytes) -> str | None:
    return {1: "delete", 2: "wal"}[data[18]] if data.startswith(truth.MAGIC) else None


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_the_shapes_are_those_of_the_page(shape):
    """Each field that is checked below stands on the page, so the shapes cannot drift away from it."""
    fields = {field.encode_name for field in msgspec.structs.fields(shape)} - {"schema"}
    assert {field for field in fields if not re.search(rf"[`\"]{field}[`\"]", SPEC)} == set()


def test_init(tmp_path):
    """``init`` tells where, which archive, and the recovery code, which is null when none was made."""
    made = _shaped(Command(tmp_path / "one").json("init"), Init)
    assert made.repo == str(tmp_path / "one" / "repo")
    assert re.fullmatch("[0-9a-f]{64}", made.archive_id)
    assert _shaped(Command(tmp_path / "two").json("init", "--no-recovery-code"), Init).recovery_code is None


def test_sources(person):
    """``sources`` lists what is there, with the sizes that the file system tells and the mode that the header has."""
    found = _shaped(person.json("sources"), Sources)
    assert found.home == str(person.folder / "person")
    assert len(found.sources) > 50
    for source in found.sources:
        assert Path(source.file).stat().st_size == source.main_bytes
        assert source.journal_mode == _mode(Path(source.file).read_bytes())


def test_snapshot(person):
    """``snapshot`` tells what became of each source; the sums agree with the parts."""
    taken = _shaped(person.json("snapshot", "--tag", "a", "--tag", "b"), Taken)
    assert taken.tags == ["a", "b"]
    assert re.fullmatch("[0-9a-f]{64}", taken.id)
    assert taken.stats.image_bytes == sum(source.image_bytes for source in taken.sources)
    assert taken.time_ms <= taken.finished_ms
    assert [source.path for source in taken.sources] == sorted(source.path for source in taken.sources)


def test_snapshots(person):
    """``snapshots`` lists the oldest first, and each continues the one before."""
    found = _shaped(person.json("snapshots"), Snapshots).snapshots
    assert [snapshot.time_ms for snapshot in found] == sorted(snapshot.time_ms for snapshot in found)
    assert [snapshot.parent for snapshot in found] == [None, *(snapshot.id for snapshot in found[:-1])]
    assert found[0].evidence


def test_restore_files(person, tmp_path):
    """``restore files`` lists what was written, with its size on the disk."""
    restored = _shaped(person.json("restore", "files", "latest", "--to", tmp_path / "to", "--raw"), Restored)
    assert restored.to == str(tmp_path / "to")
    assert [Path(file.file).stat().st_size for file in restored.files] == [
        file.bytes for file in restored.files
    ]


def test_verify(person):
    """``verify`` counts what it checked; ``--names-only`` counts less and finds as little."""
    verified = _shaped(person.json("verify", "--data"), Verified)
    assert (verified.ok, verified.damage, verified.hit) == (True, [], [])
    assert verified.packs == verified.packs_read > 0
    stored = [path for path in person.repo.rglob("*") if path.is_file()]
    assert verified.objects == len(stored)
    names = _shaped(person.json("verify", "--names-only"), Verified)
    assert (names.objects, names.read_bytes) == (len(stored), sum(path.stat().st_size for path in stored))


def test_verify_a_share(person):
    """A share of the data reads some packs, and one snapshot its own."""
    assert _shaped(person.json("verify", "--data-sample", "1%"), Verified).packs_read == 1
    assert _shaped(person.json("verify", "latest", "--data-sample", "100"), Verified).snapshots == 1


def test_verify_names_without_a_password(person):
    """Names are checked without any password: whoever keeps a copy for somebody else can do it."""
    assert _shaped(person.using(ARCHIVE_PASSWORD=None).json("verify", "--names-only"), Verified).ok


def test_sql(person):
    """``sql`` gives columns and rows as SQLite gives them in the home, BLOBs in hex."""
    query = "SELECT count(*) AS n, x'00ff' AS b, NULL AS nil, 'text' AS t, 0.5 AS half FROM ItemTable"
    (database,) = [path for path in (person.folder / "person").rglob("state.vscdb") if "global" in str(path)]
    with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as connection:
        count = connection.execute(query).fetchone()[0]
    path = database.relative_to(person.folder / "person").as_posix()
    found = _shaped(person.json("sql", "latest", path, query), Sql)
    assert found.columns == ["n", "b", "nil", "t", "half"]
    assert found.rows == [[count, {"hex": "00ff"}, None, "text", 0.5]]


def test_keys(person):
    """``key`` lists, adds, changes and removes, each with its own schema."""
    added = _shaped(person.json("key", "add", "--recovery", "--label", "spare"), KeyAdded)
    assert added.recovery_code is not None
    found = {key.id: key for key in _shaped(person.json("key", "list"), Keys).keys}
    assert (found[added.id].kind, found[added.id].label) == ("recovery", "spare")
    assert [key.label for key in found.values() if key.opened] == ["passphrase"]
    assert _shaped(person.json("key", "remove", added.id[:12]), KeyRemoved).id == added.id
    other = person.using(ARCHIVE_NEW_PASSWORD=person.environment["ARCHIVE_PASSWORD"])
    changed = _shaped(other.json("key", "change"), KeyChanged)
    assert [key.id for key in found.values() if key.opened] == [changed.removed]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["verify", "--bogus"], ExitCode.USAGE),
        (["verify", "--names-only", "--data"], ExitCode.USAGE),
        (["init"], ExitCode.IMPOSSIBLE),
        (["snapshots", "--repo", "nowhere"], ExitCode.NO_ARCHIVE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors(person, words, code):
    """Whatever fails with ``--json``, usage included, says so in JSON too, with its exit code."""
    error = _shaped(person.json(*words, code=code), Error).error
    assert error.exit_code == code
    assert error.message
