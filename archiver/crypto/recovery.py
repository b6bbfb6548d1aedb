"""The recovery code: 160 random bits that a person can write down.

Source: specs/archive-v1.md, [AR-13]; alphabet: Crockford base 32, crockford.com/base32.html (2024).
"""

import secrets
import unicodedata

from archiver import hashing

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DATA_CHARACTERS = 32
CHECK_CHARACTERS = 4
GROUP = 4

_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})


def new_code() -> str:
    """A new code, in nine groups of four: 160 bits and a check."""
    data = "".join(secrets.choice(ALPHABET) for _ in range(DATA_CHARACTERS))
    whole = data + _check(data)
    return "-".join(whole[start : start + GROUP] for start in range(0, len(whole), GROUP))


def code_secret(text: str) -> bytes | None:
    """The secret of a recovery slot, if ``text`` is a recovery code as people may type it; else nothing."""
    plain = text.strip().upper().translate(_READ_AS)
    data, check = plain[:DATA_CHARACTERS], plain[DATA_CHARACTERS:]
    if (
        len(plain) != DATA_CHARACTERS + CHECK_CHARACTERS
        or not set(plain) <= set(ALPHABET)
        or _check(data) != check
    ):
        return None
    return data.encode()


def passphrase_secret(text: str) -> bytes:
    """The secret of a passphrase slot: the same for every way to type the same characters."""
    return unicodedata.normalize("NFC", text).encode()


def _check(data: str) -> str:
    number = int.from_bytes(hashing.digest(data.encode())[:3], "big") >> 4
    return "".join(ALPHABET[number >> shift & 31] for shift in (15, 10, 5, 0))
