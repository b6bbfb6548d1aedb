"""kill -9 at random moments: the archive stays whole, and the home is as Cursor left it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from archiver.storage.local import LocalStorage
from tests.crash.test_storage_fails import _verified
from tests.support.archives import PASSWORD, TestedArchive
from tests.support.samplehome import SMALL, live_for, make_home

COMMAND = Path(sys.executable).with_name("archive")
ROUNDS = 12


def _run(home: Path, tmp_path: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"ARCHIVE_PASSWORD": PASSWORD, "ARCHIVE_CACHE": str(tmp_path / "cache")}
    arguments = ["snapshot", "--home", home, "--repo", tmp_path / "repo"]
    return subprocess.Popen(
        [COMMAND, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_killed_at_random_moments(tmp_path):
    """After each kill everything that is listed verifies; at the end a snapshot succeeds, through the same cache."""
    source = random.Random(7)
    home = make_home(tmp_path / "home", scale=SMALL)
    tested = TestedArchive(LocalStorage(tmp_path / "repo"), tmp_path / "scratch")
    whole = _timed(home.root, tmp_path)
    for number in range(ROUNDS):
        live_for(home, minutes=1, seed=number)
        running = _run(home.root, tmp_path)
        # Most of a run is the start of Python and Argon2: aim at the part that writes.
        time.sleep(whole * source.uniform(0.5, 1.0))
        running.send_signal(signal.SIGKILL)
        running.wait(timeout=60)
        found = _verified(tested)
        assert (found.damage, found.hit) == ((), ())
    before = len(tested.snapshots())
    assert _run(home.root, tmp_path).wait(timeout=60) == 0
    assert len(tested.snapshots()) == before + 1


def _timed(home: Path, tmp_path: Path) -> float:
    began = time.monotonic()
    assert _run(home, tmp_path).wait(timeout=60) == 0
    return time.monotonic() - began
