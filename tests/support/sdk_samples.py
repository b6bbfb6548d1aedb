"""Homes that the real SDK wrote, where they are at hand."""

import tarfile
from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "samples" / "sdk"


def unpack(name: str, target: Path) -> Path:
    """Unpack one sample and give its home; skips the test where the samples are not at hand."""
    packed = _FOLDER / f"{name}.tar.xz"
    if not packed.is_file():
        pytest.skip(f"the SDK's sample {name} is not at hand")
    with tarfile.open(packed) as archive:
        archive.extractall(target, filter="data")
    return target / name / "home"
