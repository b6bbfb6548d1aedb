"""SQLite's own backup of one database into a new file: ``python -m benchmarks.sqlite_backup FROM TO``."""

import sys

import apsw


def main() -> None:
    """Copy the whole database in one call."""
    # The database is closed. Opened in any other way, SQLite would lay a -wal and a -shm beside it, which the
    # tools that come next would find.
    source = apsw.Connection(
        f"file:{sys.argv[1]}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    target = apsw.Connection(sys.argv[2])
    with target.backup("main", source, "main") as backup:
        backup.step(-1)
    target.close()
    source.close()


if __name__ == "__main__":
    main()
