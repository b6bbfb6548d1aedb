"""Captures single files for tests.

python -m tests.support.capturing FILE SCRATCH IMAGE     writes the image, and prints the way and the peak of memory
"""

import sys
import tempfile
from pathlib import Path

from archiver.model import Role, Store
from archiver.monitor import Silent
from archiver.source.capture import Capture, Policy, Receiver, capture
from archiver.source.find import Source
from tests.support import writer
from tests.support.received import Received, Written


def database(file: Path) -> Source:
    """A source that is a database by its name."""
    return Source(Store.CLI_CHAT, file.name, file, sqlite=True)


def plain(file: Path) -> Source:
    """A source that is a plain file by its name."""
    return Source(Store.TRANSCRIPT, file.name, file, sqlite=False)


def take(
    source: Source, scratch: Path, receiver: Receiver | None = None, **policy: object
) -> tuple[Capture, Received]:
    """Capture a source; pauses are short, since nobody waits for Cursor here."""
    received = receiver or Received()
    settings = {"pause_seconds": 0.01, **policy}
    return capture(source, received, Policy(scratch=scratch, **settings), Silent()), received


def commits(received: Received, folder: Path) -> int:
    """How many commits the captured database shows."""
    image = Path(tempfile.mkdtemp(dir=folder)) / "image"
    image.write_bytes(received.files[Role.DATABASE])
    return writer.commits(image)


def peak_bytes() -> int:
    """The peak of this process's resident set; ``getrusage`` would count the parent's at the start, too (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    file, scratch, image = map(Path, sys.argv[1:])
    captured = capture(database(file), Written(image), Policy(scratch=scratch), Silent())
    print(captured.method, peak_bytes())
