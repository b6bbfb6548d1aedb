"""Homes of every platform are captured and restored wherever the program runs."""

import pytest

from tests.support import truth
from tests.support.command import Command
from tests.support.samplehome import make_home

GLOBAL = {
    "linux": ".config/Cursor/User/globalStorage/state.vscdb",
    "macos": "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    "windows": "AppData/Roaming/Cursor/User/globalStorage/state.vscdb",
}


@pytest.mark.parametrize("platform", GLOBAL)
def test_a_copied_home_of_another_platform(tmp_path, platform):
    """All stores are found under the paths that they have there, and come back under the same ones."""
    home = make_home(tmp_path / "copied", platform=platform)
    person = Command(tmp_path)
    assert person("init", "--no-recovery-code").code == 0
    taken = person.json("snapshot", "--home", home.root)
    paths = {source["path"] for source in taken["sources"]}
    assert GLOBAL[platform] in paths
    expected = {chat.path.relative_to(home.root).as_posix() for chat in home.chats if chat.path.is_file()}
    assert expected <= paths
    restored = person.json("restore", "files", "latest", "--to", tmp_path / "to")
    assert {file["source"] for file in restored["files"]} == paths == set(truth.tree(tmp_path / "to"))
    (tmp_path / "x").mkdir()
    for path in paths:
        data = (tmp_path / "to" / path).read_bytes()
        assert truth.uncounted(data) == truth.content(home.root / path, tmp_path / "x"), path
