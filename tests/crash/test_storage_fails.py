"""Whatever call to the storage fails, every listed snapshot stays whole and the next snapshot succeeds."""

import pytest

from archiver.errors import ArchiveError
from archiver.monitor import Silent
from archiver.ops.verify import verify
from archiver.storage.memory import MemoryStorage
from tests.support.archives import TestedArchive
from tests.support.faulty import FailingStorage
from tests.support.samplehome import live_for, make_home


def _verified(tested: TestedArchive):
    with tested.open() as opened:
        return verify(opened, None, 1.0, Silent())


def _calls_of_a_snapshot(tmp_path) -> int:
    home = make_home(tmp_path / "count")
    tested = TestedArchive(MemoryStorage(), tmp_path / "scratch")
    tested.take(home.root)
    live_for(home, minutes=1, seed=1)
    counting = FailingStorage(tested.storage)
    tested.take(home.root, counting)
    return counting.calls


@pytest.mark.spec("AR-3")
@pytest.mark.parametrize("done_first", [False, True], ids=["not done", "done but no answer"])
def test_every_kth_call_may_fail(tmp_path, done_first):
    """For every k, a snapshot whose k-th storage call fails leaves a sound archive that takes the next snapshot."""
    calls = _calls_of_a_snapshot(tmp_path)
    assert calls >= 6
    for fail_at in range(1, calls + 1):
        home = make_home(tmp_path / f"home{fail_at}{done_first}")
        tested = TestedArchive(MemoryStorage(), tmp_path / "scratch")
        tested.take(home.root)
        live_for(home, minutes=1, seed=1)
        with pytest.raises(ArchiveError, match="on purpose"):
            tested.take(home.root, FailingStorage(tested.storage, fail_at, done_first=done_first))
        found = _verified(tested)
        assert (found.damage, found.hit) == ((), ())
        before = len(tested.snapshots())
        tested.take(home.root)
        assert len(tested.snapshots()) == before + 1
        assert _verified(tested).damage == ()
