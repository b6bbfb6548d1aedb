"""Another program at work on a database, with another SQLite than ours: Python's own.

    python -m tests.support.writer DATABASE commit wal|delete     commits every few ms until it is killed
    python -m tests.support.writer DATABASE hold                  keeps an exclusive lock until it is killed
    python -m tests.support.writer DATABASE spill                 stays in a transaction that reached the main file
    python -m tests.support.writer DATABASE idle                  has it open and does nothing

Each prints a line when it has begun. A commit changes ``pairs`` and ``sums`` together, so that a state in which they
disagree was never committed.
"""

import contextlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PAUSE_SECONDS = 0.003


def prepare(
    file: Path, mode: str = "delete", page_bytes: int = 4096, auto_vacuum: int = 0, rows: int = 200
) -> None:
    """Make a database that holds the invariant, closed cleanly."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size={page_bytes}")
        connection.execute(f"PRAGMA auto_vacuum={auto_vacuum}")
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE pairs(id INTEGER PRIMARY KEY, n INT, filler BLOB)")
        connection.execute("CREATE TABLE sums(id INTEGER PRIMARY KEY CHECK (id = 1), total INT, commits INT)")
        connection.execute("INSERT INTO sums VALUES (1, 0, 0)")
        for _ in range(rows):
            commit(connection)


def commit(connection: sqlite3.Connection) -> None:
    """One more committed state."""
    connection.execute("BEGIN IMMEDIATE")
    number = connection.execute("SELECT commits FROM sums").fetchone()[0] + 1
    connection.execute(
        "INSERT INTO pairs(n, filler) VALUES (?, randomblob(?))", (number, 200 + number * 37 % 3000)
    )
    connection.execute("UPDATE sums SET total = total + ?, commits = ?", (number, number))
    if number % 10 == 0:
        connection.execute("DELETE FROM pairs WHERE id = (SELECT min(id) FROM pairs)")
        connection.execute("UPDATE sums SET total = (SELECT sum(n) FROM pairs)")
    connection.execute("COMMIT")


def committed(connection: sqlite3.Connection) -> int:
    """How many commits a database shows, which must be a state that was committed."""
    total, commits = connection.execute("SELECT total, commits FROM sums").fetchone()
    assert connection.execute("SELECT coalesce(sum(n), 0) FROM pairs").fetchone()[0] == total
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return int(commits)


@contextlib.contextmanager
def at_work(file: Path, *doing: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program while the block runs, then kill it."""
    command = [sys.executable, "-m", "tests.support.writer", str(file), *doing]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "begun"
            yield process
        finally:
            process.kill()


def _commit_for_ever(connection: sqlite3.Connection, mode: str) -> None:
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("PRAGMA synchronous=NORMAL")
    commit(connection)
    _say_begun()
    while True:
        time.sleep(_PAUSE_SECONDS)
        commit(connection)


def _hold(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN EXCLUSIVE")
    _say_begun()
    time.sleep(1000)


def _spill(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA cache_size=5")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE pairs SET n = n + 1000, filler = randomblob(length(filler))")
    _say_begun()
    time.sleep(1000)


def _idle(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT count(*) FROM pairs").fetchall()
    _say_begun()
    time.sleep(1000)


def _say_begun() -> None:
    print("begun", flush=True)


def main(file: str, doing: str, *mode: str) -> None:
    connection = sqlite3.connect(file, isolation_level=None, timeout=5)
    {"commit": _commit_for_ever, "hold": _hold, "spill": _spill, "idle": _idle}[doing](connection, *mode)


if __name__ == "__main__":
    main(*sys.argv[1:])
