"""Another program at work on a database, with another SQLite than ours: Python's own.

    python -m tests.support.writer DATABASE commit wal|delete     commits every few ms until it is killed
    python -m tests.support.writer DATABASE hold                  keeps an exclusive lock until it is killed
    python -m tests.support.writer DATABASE spill                 stays in a transaction that reached the main file
    python -m tests.support.writer DATABASE leave                 commits 50 times in WAL mode, without a checkpoint

Each prints a line when it has begun, and waits to be killed. A commit changes ``pairs`` and ``sums`` together, so that a
state in which they disagree was never committed.

    python -m tests.support.writer DATABASE run SQL...            prints what each statement gives, as JSON
"""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PAUSE_SECONDS = 0.003


def prepare(file: Path, mode: str = "delete", page_bytes: int = 4096, auto_vacuum: int = 0) -> None:
    """Make a database that holds the invariant, closed cleanly after 200 commits."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(f"PRAGMA page_size={page_bytes}")
        connection.execute(f"PRAGMA auto_vacuum={auto_vacuum}")
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE pairs(id INTEGER PRIMARY KEY, n INT, filler BLOB)")
        connection.execute("CREATE TABLE sums(id INTEGER PRIMARY KEY CHECK (id = 1), total INT, commits INT)")
        connection.execute("INSERT INTO sums VALUES (1, 0, 0)")
        for _ in range(200):
            commit(connection)


def commit(connection: sqlite3.Connection) -> None:
    """One more committed state."""
    connection.execute("BEGIN IMMEDIATE")
    number = connection.execute("SELECT commits FROM sums").fetchone()[0] + 1
    filler_bytes = 200 + number * 37 % 3000
    connection.execute("INSERT INTO pairs(n, filler) VALUES (?, randomblob(?))", (number, filler_bytes))
    connection.execute("UPDATE sums SET total = total + ?, commits = ?", (number, number))
    if number % 10 == 0:
        connection.execute("DELETE FROM pairs WHERE id = (SELECT min(id) FROM pairs)")
        connection.execute("UPDATE sums SET total = (SELECT sum(n) FROM pairs)")
    connection.execute("COMMIT")


def commits(file: Path) -> int:
    """How many commits a database shows, which must be a state that was committed."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        total, count = connection.execute("SELECT total, commits FROM sums").fetchone()
        assert connection.execute("SELECT sum(n) FROM pairs").fetchone()[0] == total
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return int(count)


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


def killed(file: Path, *doing: str) -> None:
    """Run the program until it has begun, and kill it."""
    with at_work(file, *doing):
        pass


def run(file: Path, *statements: str) -> list[object]:
    """What each statement gives in another process: its rows, or SQLite's words for why not."""
    command = [sys.executable, "-m", "tests.support.writer", str(file), "run", *statements]
    answer: list[object] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return answer


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


def _leave(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    for _ in range(50):
        commit(connection)
    _say_begun()
    time.sleep(1000)


def _run(connection: sqlite3.Connection, *statements: str) -> None:
    connection.execute("PRAGMA busy_timeout=0")
    print(json.dumps([_answer(connection, statement) for statement in statements]))


def _answer(connection: sqlite3.Connection, statement: str) -> object:
    try:
        return connection.execute(statement).fetchall()
    except sqlite3.Error as error:
        return str(error)


def _say_begun() -> None:
    print("begun", flush=True)


def main(file: str, doing: str, *words: str) -> None:
    connection = sqlite3.connect(file, isolation_level=None, timeout=5)
    what = {"commit": _commit_for_ever, "hold": _hold, "spill": _spill, "leave": _leave, "run": _run}
    what[doing](connection, *words)


if __name__ == "__main__":
    main(*sys.argv[1:])
