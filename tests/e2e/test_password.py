"""Where the password may come from, and that it goes nowhere else."""

import os
import pty
import shutil
import signal

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordSetError

from archiver.errors import ExitCode
from tests.support.archives import PASSWORD
from tests.support.command import Command

CTRL_C = "\x03"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Command, str]:
    """An archive that nothing changes, and its recovery code."""
    found = Command(tmp_path_factory.mktemp("password"))
    return found, found.json("init")["recovery_code"]


@pytest.fixture
def person(made, tmp_path) -> Command:
    """A copy of that archive, to be changed."""
    shutil.copytree(made[0].repo, tmp_path / "repo")
    return Command(tmp_path)


class FakeKeyring(KeyringBackend):
    """A keyring in memory, which takes nothing while it is locked."""

    priority = -1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise PasswordSetError("the keyring is locked")
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))


@pytest.fixture
def fake_keyring():
    """The system's keyring while the test runs."""
    before = keyring.get_keyring()
    fake = FakeKeyring()
    keyring.set_keyring(fake)
    yield fake
    keyring.set_keyring(before)


def _opens(command: Command, *words: object) -> bool:
    done = command("snapshots", *words)
    assert done.code in {0, ExitCode.WRONG_KEY}, done.err
    return done.code == 0


def test_from_a_file(made, tmp_path):
    """A file gives its first line, however lines end; the option wins over the environment."""
    file = tmp_path / "password"
    for ending in ("", "\n", "\r\n", "\na second line\n"):
        file.write_bytes(f"{PASSWORD}{ending}".encode())
        assert _opens(made[0].using(ARCHIVE_PASSWORD="wrong"), "--password-file", file)
    assert _opens(made[0].using(ARCHIVE_PASSWORD=None, ARCHIVE_PASSWORD_FILE=str(file)))


def test_from_a_command(made):
    """A command gives its first line, by option or by environment."""
    told = f"printf '%s\\nmore' '{PASSWORD}'"
    assert _opens(made[0].using(ARCHIVE_PASSWORD="wrong"), "--password-command", told)
    assert _opens(made[0].using(ARCHIVE_PASSWORD=None, ARCHIVE_PASSWORD_COMMAND=told))


@pytest.mark.parametrize(
    "told", ["false hunter2", ": hunter2", "printf '\\377' # hunter2", "printf hunter2; exit 3"]
)
def test_a_command_that_fails_is_not_repeated(made, told):
    """A password command may hold a secret: neither it nor its output is in any error."""
    for words in ([], ["--json"]):
        done = made[0]("snapshots", "--password-command", told, *words)
        assert done.code == ExitCode.IMPOSSIBLE
        assert "password command" in done.err
        assert "hunter2" not in done.out + done.err


def test_a_file_that_gives_none(made, tmp_path):
    """A file that is missing, empty or no text is an error that names it."""
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name in ("missing", "empty", "bytes"):
        done = made[0]("snapshots", "--password-file", tmp_path / name)
        assert done.code == ExitCode.IMPOSSIBLE
        assert str(tmp_path / name) in done.err


def test_an_empty_password_is_none(made, tmp_path):
    """An empty password opens nothing and protects nothing."""
    assert not _opens(made[0].using(ARCHIVE_PASSWORD=""))
    done = Command(tmp_path, ARCHIVE_PASSWORD="")("init")
    assert done.code == ExitCode.IMPOSSIBLE
    assert not (tmp_path / "repo").exists()


@pytest.mark.spec("AR-13")
def test_the_recovery_code_opens(made):
    """The code opens wherever the password would, also as people type it."""
    command, code = made
    assert _opens(command.using(ARCHIVE_PASSWORD=code))
    assert _opens(command.using(ARCHIVE_PASSWORD=code.lower().replace("-", " ")))
    assert not _opens(command.using(ARCHIVE_PASSWORD=code[:-1] + ("0" if code[-1] != "0" else "1")))


def _at_a_terminal(command: Command, typed: list[str], *words: object) -> tuple[int, bytes, bytes]:
    """Run as a program at a terminal, and type a line (or Ctrl-C) each time that a password is asked for."""
    person, program = pty.openpty()
    with command.using(ARCHIVE_PASSWORD=None).start(
        *words, stdin=program, stdout=-1, stderr=-1, start_new_session=True
    ) as running:
        asked = b""
        for line in typed:
            # What is typed before the terminal stops to echo would be dropped.
            while not asked.endswith((b"password: ", b"again: ")):
                asked += os.read(running.stderr.fileno(), 1) or pytest.fail(f"nothing was asked: {asked!r}")
            if line == CTRL_C:
                running.send_signal(signal.SIGINT)
                break
            os.write(person, f"{line}\n".encode())
            asked += os.read(running.stderr.fileno(), 1)
        out, err = running.communicate(timeout=60)
    os.close(program)
    os.close(person)
    return running.returncode, out, asked + err


def test_from_the_terminal(made):
    """With a terminal the password is asked for on stderr, and stdout still has the result only."""
    code, out, err = _at_a_terminal(made[0], [PASSWORD], "snapshots", "--json")
    assert code == 0
    assert out.startswith(b"{")
    assert err.startswith(b"archive: password: ")
    assert PASSWORD.encode() not in out + err


def test_ctrl_c_at_the_prompt(made):
    """Whoever gives up at the prompt is told that nothing is broken, without a traceback."""
    code, out, err = _at_a_terminal(made[0], [CTRL_C], "snapshots")
    assert (code, out) == (ExitCode.INTERRUPTED, b"")
    assert b"archive: interrupted; what is stored so far is sound" in err
    assert b"Traceback" not in err


def test_a_new_password_is_asked_for_twice(tmp_path):
    """``init`` asks twice, and makes nothing when the two differ."""
    code, _, err = _at_a_terminal(Command(tmp_path), ["one", "other"], "init")
    assert code == ExitCode.IMPOSSIBLE
    assert b"the two passwords differ" in err
    assert not (tmp_path / "repo").exists()
    assert _at_a_terminal(Command(tmp_path), [PASSWORD, PASSWORD], "init")[0] == 0
    assert _opens(Command(tmp_path))


def test_from_the_keyring(fake_keyring, tmp_path):
    """``init --keyring`` keeps the password there, nothing else is needed after, and ``key change`` keeps the new one."""
    assert Command(tmp_path)("init", "--keyring").code == 0
    silent = Command(tmp_path, ARCHIVE_PASSWORD=None)
    assert list(fake_keyring.kept.values()) == [PASSWORD]
    assert _opens(silent)
    assert silent.using(ARCHIVE_PASSWORD=None, ARCHIVE_NEW_PASSWORD="another one")("key", "change").code == 0
    assert list(fake_keyring.kept.values()) == ["another one"]
    assert _opens(silent)


def test_a_keyring_that_fails_loses_nothing(fake_keyring, tmp_path):
    """A keyring that does not take the password is a problem: the archive is there, and its recovery code is shown."""
    fake_keyring.locked = True
    done = Command(tmp_path)("init", "--keyring", "--json")
    assert done.code == ExitCode.PROBLEMS
    assert "the keyring is locked" in done.err
    assert _opens(Command(tmp_path, ARCHIVE_PASSWORD=done.document["recovery_code"]))


def test_a_keyring_that_fails_later_is_asked_no_more(fake_keyring, tmp_path):
    """When the keyring does not take a changed password, the old one that it still has is not used any more."""
    command = Command(tmp_path)
    assert command("init", "--keyring").code == 0
    fake_keyring.locked = True
    assert command.using(ARCHIVE_NEW_PASSWORD="another one")("key", "change").code == ExitCode.PROBLEMS
    done = command.using(ARCHIVE_PASSWORD=None)("snapshots")
    assert "no password was given" in done.err
    assert _opens(command.using(ARCHIVE_PASSWORD="another one"))


def test_keys_are_added_and_removed(person):
    """Each added key opens, a removed one does not, and the last one cannot be removed."""
    new = person.using(ARCHIVE_NEW_PASSWORD="second")
    added = new.json("key", "add", "--label", "of a colleague")["id"]
    second = person.using(ARCHIVE_PASSWORD="second")
    assert _opens(second)
    lines = second("key", "list").out.splitlines()
    assert [line.split()[1] for line in lines[1:]].count("passphrase") == 2
    assert next(line for line in lines if added[:8] in line).endswith("of a colleague  just used")
    for key in person.json("key", "list")["keys"]:
        if key["id"] != added:
            assert second("key", "remove", key["id"][:10]).code == 0
    assert not _opens(person)
    last = second("key", "remove", added[:10])
    assert last.code == ExitCode.IMPOSSIBLE
    assert "the last key slot" in last.err
    assert _opens(second)


def test_a_key_that_is_not_clear(person):
    """Removing needs the beginning of one key's id, of no other's."""
    for prefix in ("", "zz"):
        done = person("key", "remove", prefix)
        assert done.code == ExitCode.IMPOSSIBLE
        assert "archive key list" in done.err
    assert len(person.json("key", "list")["keys"]) == 2


def test_a_recovery_code_is_replaced(person):
    """A new recovery code is printed once on stdout, alone, and opens."""
    done = person("key", "add", "--recovery")
    assert len(done.out.splitlines()) == 1
    assert _opens(person.using(ARCHIVE_PASSWORD=done.out.strip()))


def test_changing_the_password(person):
    """After ``key change`` the new password opens and the old one does not; the recovery code stays."""
    assert person.using(ARCHIVE_NEW_PASSWORD="changed")("key", "change").code == 0
    assert not _opens(person)
    assert _opens(person.using(ARCHIVE_PASSWORD="changed"))
    assert {key["kind"] for key in person.using(ARCHIVE_PASSWORD="changed").json("key", "list")["keys"]} == {
        "passphrase",
        "recovery",
    }


def test_a_forgotten_password(made, person):
    """With the recovery code a new password is set; the code stays good, and the old password is left to be removed."""
    recovering = person.using(ARCHIVE_PASSWORD=made[1], ARCHIVE_NEW_PASSWORD="found again")
    assert recovering.json("key", "change")["removed"] is None
    assert _opens(person.using(ARCHIVE_PASSWORD="found again"))
    assert _opens(person.using(ARCHIVE_PASSWORD=made[1]))
    assert _opens(person)
