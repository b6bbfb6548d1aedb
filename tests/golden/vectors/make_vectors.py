"""Makes archive-v1.json with hashlib, hmac, OpenSSL's AES and MessagePack alone: nothing of the project computes these values.

Source: specs/archive-v1.md, sections 1 to 5; HKDF as RFC 5869 writes it.
"""

import hashlib
import hmac
import json
import struct
from pathlib import Path

import msgspec
from blake3 import blake3
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ARCHIVE_ID = bytes(range(32))
MASTER = bytes(range(32, 64))
SALT = bytes(range(64, 96))
PLAINTEXT = b"a chat that nobody must read"


def hkdf(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    pseudorandom = hmac.new(salt, key, hashlib.sha256).digest()
    block, out = b"", b""
    for counter in range(1, 1 + -(-length // 32)):
        block = hmac.new(pseudorandom, block + info + bytes([counter]), hashlib.sha256).digest()
        out += block
    return out[:length]


def prefix(kind: bytes) -> bytes:
    return b"\x89CHATAR\n" + kind + b"\x01" + bytes(6)


def purpose(name: bytes) -> bytes:
    return hkdf(MASTER, ARCHIVE_ID, b"archive v1 purpose " + name, 32)


def frame(key: bytes, number: int, final: bytes) -> str:
    bound = prefix(b"P") + ARCHIVE_ID + struct.pack(">Q", number) + final
    return AESGCM(key).encrypt(number.to_bytes(12, "big"), PLAINTEXT, bound).hex()


def vectors() -> dict[str, object]:
    purposes = ("blob-id", "pack", "index", "snapshot", "catalog", "cache")
    both = hkdf(purpose(b"pack"), SALT, b"archive v1 object " + ARCHIVE_ID + b"P\x01", 64)
    header = prefix(b"H") + ARCHIVE_ID
    return {
        "archive_id": ARCHIVE_ID.hex(),
        "master": MASTER.hex(),
        "salt": SALT.hex(),
        "plaintext": PLAINTEXT.hex(),
        "header": (header + blake3(header).digest()).hex(),
        "purposes": {name: purpose(name.encode()).hex() for name in purposes},
        "object_key": both[:32].hex(),
        "object_commitment": both[32:].hex(),
        "frame_3": frame(both[:32], 3, b"\0"),
        "frame_final": frame(both[:32], 2**64 - 1, b"\1"),
        "blob_id": blake3(PLAINTEXT, key=purpose(b"blob-id")).digest(16).hex(),
        **_image(),
        "padme": {str(length): _padme(length) for length in (80, 100, 1000, 65537, 1 << 20, 33_554_433)},
    }


def _image() -> dict[str, object]:
    """A split leaf of ``ab RECORD cd``, and a node above it and above a whole leaf of 7 bytes."""
    key, record = purpose(b"blob-id"), b"RECORD" * 100
    leaf = b"ab" + record + b"cd"
    skeleton = msgspec.msgpack.encode([[2, len(record), 2], b"abcd", _blob_id(key, record)])
    split = [1, len(leaf), _blob_id(key, skeleton), _blob_id(key, leaf)]
    node = msgspec.msgpack.encode([0, [split, [0, 7, _blob_id(key, b"another")]]])
    return {"leaf": leaf.hex(), "record": record.hex(), "skeleton": skeleton.hex(), "node": node.hex()}


def _blob_id(key: bytes, data: bytes) -> bytes:
    return blake3(data, key=key).digest(16)


def _padme(length: int) -> int:
    exponent = len(bin(length)) - 3
    step = 2 ** (exponent - len(f"{exponent:b}"))
    return -(-length // step) * step


if __name__ == "__main__":
    text = json.dumps(vectors(), indent=2) + "\n"
    Path(__file__).with_name("archive-v1.json").write_text(text)
