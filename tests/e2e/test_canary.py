"""Nothing that was said can be found in what is stored: neither the text nor where it came from."""

import base64
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.samplehome import live_for, make_home, plant_canary

CANARY = "quetzal-7391-moonlit-harbour"
HOME = "home-of-xiomara-vandersteen"


def _ways_to_write(text: str) -> dict[str, bytes]:
    """The bytes that show ``text`` to whoever searches for it in the usual encodings."""
    plain = text.encode()
    ways = {
        "utf-8": plain,
        "utf-16-le": text.encode("utf-16-le"),
        "utf-16-be": text.encode("utf-16-be"),
        "hex": plain.hex().encode(),
        "HEX": plain.hex().upper().encode(),
    }
    for shift in range(3):
        # What stands before shifts the groups of three bytes; the groups at both ends are not the canary's alone.
        encoded = base64.b64encode(bytes(shift) + plain)
        ways[f"base64+{shift}"] = encoded[4:-4]
    return ways


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Somebody whose every store holds the canary, after two snapshots, a restore and a check."""
    folder = tmp_path_factory.mktemp("canary")
    home = make_home(folder / HOME)
    assert len(plant_canary(home, CANARY)) > 30
    found = Command(folder)
    steps = (["init"], ["snapshot", "--home", home.root], ["snapshot", "--home", home.root, "--evidence"])
    for words in (*steps, ["verify", "--data"], ["sources", "--home", home.root]):
        assert found(*words).code == 0
    live_for(home, minutes=1, seed=1)
    assert found("snapshot", "--home", home.root).code == 0
    return found


def _found_in(folder: Path, text: str) -> list[tuple[str, str]]:
    ways = _ways_to_write(text)
    return [
        (path.relative_to(folder).as_posix(), way)
        for path in folder.rglob("*")
        for way, needle in ways.items()
        if needle in (path.read_bytes() if path.is_file() else b"")
        or needle.lower() in str(path).lower().encode()
    ]


def test_the_search_would_find_it(person):
    """The search itself works: it finds the canary in the home, and in bytes that were made to hold it in each way."""
    assert _found_in(person.folder / HOME / ".cursor" / "plans", CANARY)
    for way, needle in _ways_to_write(CANARY).items():
        assert len(needle) > len(CANARY) // 2, way
        if way.startswith("base64"):
            assert needle in base64.b64encode(b"x" * int(way[-1]) + CANARY.encode() + b"y" * 7)


@pytest.mark.parametrize("text", [CANARY, HOME, "state.vscdb", "ide-global", "globalStorage", "bubbleId"])
def test_nothing_is_found_in_the_archive(person, text):
    """Neither the canary nor a path, a store's name or a key of Cursor's is in any file of the archive."""
    assert _found_in(person.repo, text) == []


@pytest.mark.parametrize("text", [CANARY, HOME, "state.vscdb", "CREATE TABLE", "SQLite format 3"])
def test_nothing_is_found_in_the_cache(person, text):
    """The cache is encrypted as well, and scratch is empty when a command is done."""
    assert [path for path in person.cache.rglob("*") if path.is_file()]
    assert _found_in(person.cache, text) == []
    assert list((person.cache / "scratch").iterdir()) == []


def test_the_folders_are_closed_to_others(person):
    """On a shared machine nobody else can even list what is kept."""
    folders = [person.repo, *person.repo.rglob("*"), *person.cache.rglob("*")]
    assert [path for path in folders if path.is_dir() and path.stat().st_mode & 0o077] == []
