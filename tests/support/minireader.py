"""A reader of archives, written from specs/archive-v1.md alone: it imports nothing of the project.

    python minireader.py ARCHIVE list
    python minireader.py ARCHIVE restore SNAPSHOT TARGET

The password is taken from ARCHIVE_PASSWORD. Should the project ever be lost, this file and that page are enough.
"""

import json
import os
import struct
import sys
import unicodedata
from pathlib import Path

import msgspec.msgpack
import zstandard
from blake3 import blake3
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MAGIC = bytes.fromhex("894348415441520a")
FINAL = 2**64 - 1
KNOWN = {"split-leaves", "patches"}


def check(holds: bool, what: str) -> None:
    if not holds:
        raise SystemExit(f"refused: {what}")


def hkdf(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(key)


def prefix(kind: bytes) -> bytes:
    return MAGIC + kind + b"\x01" + bytes(6)


def check_prefix(data: bytes, kind: bytes) -> None:
    check(data[:16] == prefix(kind), "prefix")


class MiniArchive:
    """An open archive in a folder."""

    def __init__(self, folder: Path, password: str) -> None:
        self.folder = folder
        header = (folder / "archive").read_bytes()
        check_prefix(header, b"H")
        check(len(header) == 80 and blake3(header[:48]).digest() == header[48:], "header sum")
        self.id = header[16:48]
        self.master = self.unlock(password)
        self.blob_key = self.purpose(b"blob-id")
        self.where: dict[bytes, tuple[bytes, bytes, int, int, int, int, int, int, bytes]] = {}
        self.frame: tuple[object, bytes] = (None, b"")
        for path in (folder / "index").iterdir():
            self.add_index(msgspec.msgpack.decode(self.value(path, b"I", b"index")))

    def unlock(self, password: str) -> bytes:
        for path in sorted((self.folder / "keys").iterdir()):
            data = path.read_bytes()
            check(blake3(data).hexdigest() == path.name, "slot name")
            check_prefix(data, b"K")
            end = 20 + struct.unpack(">I", data[16:20])[0]
            info = json.loads(data[20:end])
            kdf = info["kdf"]
            if info["archive"] != self.id.hex() or kdf["name"] != "argon2id":
                continue
            check(kdf["memory_kib"] <= 2**20 and max(kdf["passes"], kdf["lanes"]) <= 16, "slot costs")
            secret = unicodedata.normalize("NFC", password)
            if info["kind"] == "recovery":
                plain = password.upper().replace("-", "").replace(" ", "")
                secret = plain.translate(str.maketrans("OIL", "011"))[:32]
            costs = {"iterations": kdf["passes"], "lanes": kdf["lanes"], "memory_cost": kdf["memory_kib"]}
            kdf2 = Argon2id(salt=bytes.fromhex(kdf["salt"]), length=32, **costs)
            both = hkdf(kdf2.derive(secret.encode()), self.id, b"archive v1 slot", 64)
            if both[32:] == data[end : end + 32]:
                return AESGCM(both[:32]).decrypt(bytes(12), data[end + 32 :], data[:end])
        raise SystemExit("refused: no slot opens with this password")

    def purpose(self, name: bytes) -> bytes:
        return hkdf(self.master, self.id, b"archive v1 purpose " + name, 32)

    def object_key(self, purpose: bytes, kind: bytes, salt: bytes) -> bytes:
        return hkdf(self.purpose(purpose), salt, b"archive v1 object " + self.id + kind + b"\x01", 64)

    def open(self, key: bytes, kind: bytes, number: int, sealed: bytes) -> bytes:
        bound = prefix(kind) + self.id + struct.pack(">QB", number, number == FINAL)
        return AESGCM(key).decrypt(number.to_bytes(12, "big"), sealed, bound)

    def value(self, path: Path, kind: bytes, purpose: bytes) -> bytes:
        data = path.read_bytes()
        check(blake3(data).hexdigest() == path.name, f"name of {path}")
        check_prefix(data, kind)
        both = self.object_key(purpose, kind, data[16:48])
        check(both[32:] == data[48:80], f"commitment of {path}")
        offset = struct.unpack(">Q", data[-8:])[0]
        plain = self.open(both[:32], kind, FINAL, data[offset:-8])
        packed = plain[4 : 4 + struct.unpack(">I", plain[:4])[0]]
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=2**30)

    def pack(self, name: bytes) -> Path:
        return self.folder / "packs" / name.hex()[:2] / name.hex()

    def add_index(self, packs: list) -> None:
        for name, _, salt, frames in packs:
            if not self.pack(name).exists():
                continue  # what it held may be listed again, in another pack
            for number, (offset, sealed, plain, lengths, ids, *more) in enumerate(frames):
                start = 0
                for position, length in enumerate(lengths):
                    place = slice(16 * position, 16 * position + 16)
                    base = more[0][place] if more else b""
                    self.where[ids[place]] = (name, salt, number, offset, sealed, plain, start, length, base)
                    start += length

    def blob(self, blob: bytes) -> bytes:
        name, salt, number, offset, sealed, plain, start, length, base = self.where[blob]
        if self.frame[0] != (name, number):
            with self.pack(name).open("rb") as file:
                file.seek(offset)
                data = file.read(sealed)
            packed = self.open(self.object_key(b"pack", b"P", salt)[:32], b"P", number, data)
            content = packed[1:]
            if packed[0] == 1:
                content = zstandard.ZstdDecompressor().decompress(content, max_output_size=plain)
            self.frame = ((name, number), content)
        found = self.frame[1][start : start + length]
        if base:
            raw = zstandard.ZstdCompressionDict(self.blob(base), zstandard.DICT_TYPE_RAWCONTENT)
            found = zstandard.ZstdDecompressor(dict_data=raw).decompress(found, max_output_size=2**24)
        check(blake3(found, key=self.blob_key).digest(16) == blob, f"id of blob {blob.hex()}")
        return found

    def snapshots(self) -> list[tuple[str, dict]]:
        found = {path.name: self.manifest(path) for path in (self.folder / "snapshots").iterdir()}
        return sorted(found.items(), key=lambda snapshot: snapshot[1]["started_ms"])

    def manifest(self, path: Path) -> dict:
        manifest = json.loads(self.value(path, b"S", b"snapshot"))
        check(manifest["reader"] <= 1 and set(manifest["features"]) <= KNOWN, "a later reader is needed")
        return manifest

    def entries(self, manifest: dict) -> list[dict]:
        return [entry for blob in manifest["sources"] for entry in json.loads(self.blob(bytes.fromhex(blob)))]

    def image(self, image: dict) -> bytes:
        data = self.joined(bytes.fromhex(image["root"]), None) if image["root"] else b""
        check(len(data) == image["size_bytes"], "image length")
        return data

    def joined(self, blob: bytes, level: int | None) -> bytes:
        found_level, children = msgspec.msgpack.decode(self.blob(blob))
        check(found_level <= 16 and level in (None, found_level), "node level")
        parts = []
        for kind, covered, child, *digest in children:
            check(kind == 0 or (kind == 1 and found_level == 0), "child kind")
            if kind == 1:
                part = self.split(child, digest[0])
            else:
                part = self.blob(child) if found_level == 0 else self.joined(child, found_level - 1)
            check(len(part) == covered, "child length")
            parts.append(part)
        return b"".join(parts)

    def split(self, blob: bytes, digest: bytes) -> bytes:
        lengths, literals, ids = msgspec.msgpack.decode(self.blob(blob))
        parts = []
        for position, length in enumerate(lengths):
            if position % 2:
                parts.append(self.blob(ids[16 * (position // 2) : 16 * (position // 2) + 16]))
            else:
                parts.append(literals[:length])
                literals = literals[length:]
            check(len(parts[-1]) == length, "part length")
        data = b"".join(parts)
        check(blake3(data, key=self.blob_key).digest(16) == digest, f"digest of leaf {blob.hex()}")
        return data

    def restore(self, manifest: dict, target: Path) -> None:
        for entry in self.entries(manifest):
            parts = entry["path"].split("/")
            check(all(parts) and not {".", ".."} & set(parts), "path")
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            images = entry["images"]
            path.write_bytes(self.image(images.get("database") or images["file"]))


if __name__ == "__main__":
    archive = MiniArchive(Path(sys.argv[1]), os.environ["ARCHIVE_PASSWORD"])
    if sys.argv[2] == "list":
        for name, manifest in archive.snapshots():
            print(name, manifest["started_ms"], len(archive.entries(manifest)))
    else:
        archive.restore(dict(archive.snapshots())[sys.argv[3]], Path(sys.argv[4]))
