"""``archive sql``: queries on archived databases, without restoring them."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from archiver.image import vfs
from archiver.image.random_access import ImageFile
from archiver.storage.local import LocalStorage
from tests.support.archives import PASSWORD, TestedArchive
from tests.support.samplehome import SampleHome, live_for, make_home
from tests.support.samplehome.bulk import make_global_db

COMMAND = Path(sys.executable).with_name("archive")
GLOBAL = "*globalStorage/state.vscdb"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleHome, Path]:
    folder = tmp_path_factory.mktemp("sql")
    home = make_home(folder / "home")
    live_for(home, minutes=2, seed=3)
    TestedArchive(LocalStorage(folder / "repo"), folder / "scratch").take(home.root)
    return home, folder


def _sql(folder: Path, *arguments: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ARCHIVE_PASSWORD": PASSWORD, "ARCHIVE_CACHE": str(folder / "cache")}
    command = [COMMAND, "sql", "latest", *arguments, "--repo", folder / "repo"]
    return subprocess.run(command, env=environment, input=typed, capture_output=True, text=True, check=False)


def _live(home: SampleHome, query: str) -> list[tuple]:
    connection = apsw.Connection(str(home.global_db), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(query))
    finally:
        connection.close()


QUERY = "SELECT key, typeof(value), length(value) FROM cursorDiskKV WHERE key IS NOT NULL ORDER BY key"


def test_the_archived_database_answers_as_the_live_one(story):
    """Every row of the archived database, its WAL content included, is what SQLite reads from the live one."""
    home, folder = story
    done = _sql(folder, GLOBAL, QUERY, "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "archive.sql/1"
    assert [tuple(row) for row in document["rows"]] == _live(home, QUERY)
    assert len(document["columns"]) == 3


def test_csv_has_a_header_and_the_same_rows(story):
    """CSV output reads back as the same rows."""
    home, folder = story
    rows = list(csv.reader(io.StringIO(_sql(folder, GLOBAL, QUERY, "--csv").stdout)))
    assert rows[0] == ["key", "typeof(value)", "length(value)"]
    assert len(rows) - 1 == len(_live(home, QUERY))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM cursorDiskKV",
        "CREATE TABLE x (a)",
        "PRAGMA user_version = 9",
        "ATTACH 'x' AS y",
        "VACUUM INTO 'x'",
    ],
)
def test_nothing_can_be_changed(story, statement):
    """Statements that write fail; no file appears, and the archive is as before."""
    _, folder = story
    before = {path: path.read_bytes() for path in (folder / "repo").rglob("*") if path.is_file()}
    done = _sql(folder, GLOBAL, statement)
    assert done.returncode == 1
    assert "archive: error: " in done.stderr
    assert {path: path.read_bytes() for path in (folder / "repo").rglob("*") if path.is_file()} == before
    assert not Path("x").exists()


def test_what_is_no_database_is_said(story):
    """A transcript is not a database; several matches are listed; nonsense is SQLite's error."""
    _, folder = story
    assert "is not an SQLite database" in _sql(folder, "*options.json", "SELECT 1").stderr
    assert "sources match 'ide-global'" in _sql(folder, "ide-global", "SELECT 1").stderr
    assert "SQLite: " in _sql(folder, GLOBAL, "SELEC 1").stderr


def test_without_a_query_there_is_a_shell(story):
    """Statements typed on standard input are answered until it ends."""
    home, folder = story
    done = _sql(folder, GLOBAL, typed="SELECT count(*) FROM ItemTable;\n")
    assert done.stdout.strip() == str(_live(home, "SELECT count(*) FROM ItemTable")[0][0])


def test_one_row_by_key_reads_a_few_leaves(tmp_path):
    """One row of a 40 MB database: a fraction of the archive is read, and --stats says how much."""
    database = tmp_path / "home" / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    database.parent.mkdir(parents=True)
    make_global_db(database, target_bytes=40_000_000, seed=1)
    tested = TestedArchive(LocalStorage(tmp_path / "repo"), tmp_path / "scratch")
    stored_bytes = tested.take(tmp_path / "home").stored_bytes
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    key, length = connection.execute("SELECT key, length(value) FROM cursorDiskKV LIMIT 1 OFFSET 3000").get
    connection.close()
    done = _sql(tmp_path, GLOBAL, f"SELECT length(value) FROM cursorDiskKV WHERE key = '{key}'", "--stats")
    assert done.stdout.strip() == str(length)
    assert "of the archive for a database of" in done.stderr
    with tested.open() as opened:
        entry = next(entry for entry in tested.entries(tested.snapshots()[0]) if entry.image.page_bytes)
        with vfs.opened(ImageFile(opened.reader, entry.image)) as database_view:
            _, rows = database_view.query(f"SELECT length(value) FROM cursorDiskKV WHERE key = '{key}'")
            assert list(rows) == [(length,)]
        assert 0 < opened.reader.read_bytes < stored_bytes / 4
