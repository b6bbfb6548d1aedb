"""``make demo``: the main job on a sample Cursor home, told step by step."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw

from tests.support.samplehome import DEMO, SampleHome, delete_chat, live_for, make_home

FOLDER = Path("demo")
PASSWORD = "a demo password: never use it for your own chats"
COMMAND = Path(sys.executable).with_name("archive")


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    home_folder, repo, restored = FOLDER / "home", FOLDER / "archive", FOLDER / "restored"
    tell("1. A sample Cursor home is made, with all the places where Cursor keeps chats.")
    home = make_home(home_folder, scale=DEMO)
    tell(f"   {len(home.chats)} chats, in {home_folder}. Nothing of your own Cursor is touched.")

    tell("2. An archive is made. It is encrypted; the code below would open it if the password were lost.")
    archive("init", repo=repo)

    tell("3. Everything that Cursor keeps is captured into the archive.")
    archive("snapshot", "--home", str(home_folder), "--tag", "before", repo=repo)

    lost = next(chat for chat in home.chats if chat.store == "ide-global" and chat.message_count > 4)
    tell("4. Cursor goes on for five minutes: new messages, a new chat. And one chat is deleted:")
    tell(f"   {lost.title!r}, {lost.message_count} messages.")
    live_for(home, minutes=5, seed=2)
    delete_chat(home, lost.id)

    tell("5. A second snapshot. Only what changed is read and stored.")
    archive("snapshot", "--home", str(home_folder), "--tag", "after", repo=repo)

    tell("6. Both snapshots are there; the second one took far less room.")
    archive("snapshots", repo=repo)

    tell("7. The files of the first snapshot are written back, as they were before the chat was deleted.")
    first = archive("snapshots", "--json", repo=repo, show=False).split('"id": "')[1][:8]
    archive("restore", "files", first, "--to", str(restored), repo=repo)
    rows_now, rows_then = rows_of(home.global_db, lost.id), rows_of(restored_global(home, restored), lost.id)
    tell(f"   Rows of the deleted chat in the live database: {rows_now}; in the restored one: {rows_then}.")

    tell("8. The whole archive is proven: every byte is decrypted, decompressed and hashed.")
    archive("verify", "--data", repo=repo)
    if not (rows_then > 0 and rows_now == 0):
        sys.exit("the demo failed: the deleted chat was not brought back")
    tell(f"Done. Look around in {FOLDER}/, then try it on your own Cursor: see README.md.")


def tell(text: str) -> None:
    print(text, flush=True)


def archive(*arguments: str, repo: Path, show: bool = True) -> str:
    """Run the real command and give its output."""
    if show:
        shown = [
            argument if argument.replace("-", "").isalnum() else f"'{argument}'" for argument in arguments
        ]
        print(f"\n   $ archive {' '.join(shown)} --repo {repo}", flush=True)
    environment = os.environ | {"ARCHIVE_PASSWORD": PASSWORD, "ARCHIVE_CACHE": str(FOLDER / "cache")}
    done = subprocess.run(
        [COMMAND, *arguments, "--repo", repo],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if show else None,
        text=True,
        check=False,
    )
    if show:
        print("".join(f"   {line}\n" for line in done.stdout.splitlines()), flush=True)
    if done.returncode:
        sys.exit(f"the demo failed: exit code {done.returncode}")
    return done.stdout


def restored_global(home: SampleHome, restored: Path) -> Path:
    return restored / home.global_db.relative_to(home.root)


def rows_of(database: Path, chat: str) -> int:
    """How many rows of the global database belong to a chat and hold anything."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        sql = "SELECT count(*) FROM cursorDiskKV WHERE instr(key, ?) AND value IS NOT NULL"
        return connection.execute(sql, (chat,)).get
    finally:
        connection.close()


if __name__ == "__main__":
    main()
