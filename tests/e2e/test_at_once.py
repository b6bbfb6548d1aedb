"""Two snapshots of one home into one archive at the same time."""

from archiver.errors import ExitCode
from tests.support.command import Command
from tests.support.samplehome import live_for, make_home


def test_two_snapshots_at_once(tmp_path):
    """Both succeed, both are listed, and everything that they stored verifies."""
    home = make_home(tmp_path / "person")
    live_for(home, minutes=1, seed=1)
    person = Command(tmp_path)
    assert person("init", "--no-recovery-code").code == 0
    running = [person.start("snapshot", "--tag", tag, stdout=-1, stderr=-1) for tag in ("one", "two")]
    for process in running:
        _, err = process.communicate(timeout=120)
        # The second one may find a source busy for a moment, which is said and not fatal.
        assert process.returncode in {ExitCode.DONE, ExitCode.PROBLEMS}, err
        assert process.returncode == ExitCode.DONE or b"busy" in err
    listed = person.json("snapshots")["snapshots"]
    assert sorted(tag for snapshot in listed for tag in snapshot["tags"]) == ["one", "two"]
    verified = person.json("verify", "--data")
    assert (verified["ok"], verified["snapshots"], verified["notes"]) == (True, 2, [])
