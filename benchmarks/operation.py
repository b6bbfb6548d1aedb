"""The snapshot operation without the command around it: ``python -m benchmarks.operation HOME``.

The archive is the one that the command's environment variables name. Prints the seconds of one snapshot.
"""

import os
import sys
import time
from pathlib import Path

from archiver.cli import options, places
from archiver.monitor import Silent
from archiver.ops.scratch import scratch
from archiver.ops.snapshot import Request, take
from archiver.source.capture import Policy


def main() -> None:
    """Take one snapshot as the command does, timed once the archive is open."""
    repo, home = Path(os.environ["ARCHIVE_REPO"]), Path(sys.argv[1])
    with (
        options.open_archive(repo, None, None) as archive,
        scratch(places.cache_folder() / "scratch") as folder,
    ):
        request = Request(
            places=options.find_places(home, None, None),
            policy=Policy(scratch=folder),
            host=places.host(),
            user=places.user(),
            now_ms=places.clock_ms(),
        )
        began = time.monotonic()
        take(archive, request, Silent())
        print(time.monotonic() - began)


if __name__ == "__main__":
    main()
