"""Fixtures that most tests share."""

import tarfile
from pathlib import Path

import pytest

from archiver.storage.memory import MemoryStorage
from tests.support.archives import TestedArchive
from tests.support.samplehome import SampleHome, make_home

SAMPLES = Path(__file__).parents[2] / "shared" / "samples" / "sdk"


@pytest.fixture
def home(tmp_path: Path) -> SampleHome:
    """A small Cursor home with every store."""
    return make_home(tmp_path / "home")


@pytest.fixture
def tested(tmp_path: Path) -> TestedArchive:
    """An empty archive in memory."""
    return TestedArchive(MemoryStorage(), tmp_path / "scratch")


@pytest.fixture(params=["1.0.9", "1.0.18", "1.0.32", "1.0.32-jsonl", "cli-layout"])
def sdk_sample(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home that the real SDK wrote: hot WALs, killed writers."""
    packed = SAMPLES / f"{request.param}.tar.xz"
    if not packed.exists():
        pytest.skip("the samples of real SDK stores are not part of the tree")
    with tarfile.open(packed) as tar:
        tar.extractall(tmp_path / "sample", filter="data")
    return tmp_path / "sample" / request.param
