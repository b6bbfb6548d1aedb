"""Makes and changes what is measured, each time in a process of its own.

The kernel counts a parent's memory into the peak of a child that it starts. So the harness must stay small, and
nothing that needs memory may run in it.
"""

import argparse
import sys
from pathlib import Path
from random import Random

import apsw
import msgspec
import zstandard

from benchmarks.results import NewRows
from tests.support.samplehome import hour_of_work, make_global_db, vacuum
from tests.support.samplehome.agentstate import AgentState
from tests.support.samplehome.blobstore import write_store
from tests.support.samplehome.layout import md5, sha256
from tests.support.samplehome.seeded import uuid4

_SEED = 1
_PIECE_BYTES = 1 << 20
_ZSTD_LEVEL = 3
_BLOBS_A_STORE = 12
_ROWS = "SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM cursorDiskKV WHERE rowid > ? ORDER BY rowid"


def work_an_hour(path: Path, number: int) -> NewRows:
    """Change the database as an hour of work does; the same hour of the same database gives the same rows."""
    before = _last_rowid(path)
    hour_of_work(path, seed=number)
    connection = apsw.Connection(str(path))
    data = b"".join(part for row in connection.execute(_ROWS, (before,)) for part in row if part)
    connection.close()
    compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
    pieces = (data[start : start + _PIECE_BYTES] for start in range(0, len(data), _PIECE_BYTES))
    return NewRows(len(data), sum(len(compressor.compress(piece)) for piece in pieces))


def make_stores(home: Path, count: int) -> None:
    """A home of ``count`` closed chats of the command line agent, each some tens of kilobytes."""
    rng = Random(_SEED)
    for number in range(count):
        chat_id = uuid4(rng)
        messages = [rng.randbytes(rng.randrange(200, 3000)).hex().encode() for _ in range(_BLOBS_A_STORE)]
        state = AgentState({sha256(message): message for message in messages}, (messages[-1],))
        path = home / ".cursor" / "chats" / md5(f"project {number % 20}") / chat_id / "store.db"
        write_store(path, state, {"agentId": chat_id, "latestRootBlobId": state.root_id, "name": "Chat"})


def main() -> None:
    """Do what the words say: ``global FILE BYTES``, ``hour FILE NUMBER``, ``vacuum FILE`` or ``stores FOLDER COUNT``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("global", "hour", "vacuum", "stores"))
    parser.add_argument("path", type=Path)
    parser.add_argument("number", type=int, nargs="?", default=0)
    asked = parser.parse_args()
    if asked.what == "global":
        make_global_db(asked.path, target_bytes=asked.number, seed=_SEED)
    elif asked.what == "hour":
        sys.stdout.buffer.write(msgspec.json.encode(work_an_hour(asked.path, asked.number)))
    elif asked.what == "vacuum":
        vacuum(asked.path)
    else:
        make_stores(asked.path, asked.number)


def _last_rowid(path: Path) -> int:
    connection = apsw.Connection(str(path))
    last: int = connection.execute("SELECT max(rowid) FROM cursorDiskKV").get
    connection.close()
    return last


if __name__ == "__main__":
    main()
