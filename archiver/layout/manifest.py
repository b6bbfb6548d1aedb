"""The description of a snapshot: the manifest, and the lists of source entries that it names.

Source: specs/archive-v1.md, section 6.
"""

import msgspec

from archiver.errors import DamageError, NewerFormatError
from archiver.layout import codec
from archiver.layout.prefix import VERSION
from archiver.model import BlobId, Fingerprint, Method, RawFile, Role
from archiver.monitor import Problem

SPLIT_LEAVES = "split-leaves"
PATCHES = "patches"
KNOWN_FEATURES = frozenset({SPLIT_LEAVES, PATCHES})


class Image(msgspec.Struct, frozen=True):
    """The exact bytes of one source at one moment; ``root`` is a blob id in hex, empty for an empty image."""

    size_bytes: int
    root: str
    page_bytes: int = 0

    @property
    def root_blob(self) -> BlobId | None:
        """The root node's blob."""
        return BlobId(bytes.fromhex(self.root)) if self.root else None


class SourceEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One source as it was captured; carried over unchanged while the source does not change.

    Attributes:
        store: A value of ``Store``; a string, since later versions may know more.
        path: Inside the home, or ``@root/…``; ``/`` between parts.
        method: How it was captured.
        captured_ms: When the capture began.
        duration_ms: How long it took.
        fingerprint: What it looked like just before.
        settled: Whether ``fingerprint`` may be trusted to tell that the source did not change since.
        images: The bytes, by role.
        raw: What was known of the raw files whose bytes are in ``images``.
        steps: What was done, in order.
        problems: What went wrong in this source.
    """

    store: str
    path: str
    method: Method
    captured_ms: int
    duration_ms: int
    fingerprint: Fingerprint
    settled: bool
    images: dict[Role, Image]
    raw: tuple[RawFile, ...] = ()
    steps: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def image(self) -> Image:
        """The image that a restore writes ([AR-52])."""
        return self.images[Role.DATABASE] if Role.DATABASE in self.images else self.images[Role.FILE]


class Stats(msgspec.Struct, frozen=True):
    """What a snapshot cost.

    Attributes:
        read_bytes: Read from sources.
        image_bytes: The sum of all images that a restore of this snapshot writes.
        new_blobs: Blobs that the archive did not have.
        new_plain_bytes: Their bytes before compression.
        stored_bytes: Bytes of packs and index objects that were added.
        seconds: From start to the writing of the manifest.
    """

    read_bytes: int = 0
    image_bytes: int = 0
    new_blobs: int = 0
    new_plain_bytes: int = 0
    stored_bytes: int = 0
    seconds: float = 0.0


class Manifest(msgspec.Struct, frozen=True):
    """One snapshot; ``sources`` are the ids, in hex, of blobs that hold JSON lists of source entries."""

    started_ms: int
    finished_ms: int
    host: str
    user: str
    home: str
    tool: str
    sources: list[str]
    parent: str | None = None
    roots: dict[str, str] = {}
    tags: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    stats: Stats = Stats()
    evidence: bool = False
    reader: int = VERSION
    features: tuple[str, ...] = ()


class _Demands(msgspec.Struct):
    reader: int
    features: list[str]


def encode(manifest: Manifest) -> bytes:
    """The manifest's JSON."""
    return codec.to_json(manifest)


def decode(value: bytes, name: str) -> Manifest:
    """The manifest in ``value``.

    Raises:
        NewerFormatError: It needs a later reader, or a feature that this one does not know.
        DamageError: It is no manifest.
    """
    demands = codec.from_json(value, _Demands, name)
    unknown = sorted(set(demands.features) - KNOWN_FEATURES)
    if demands.reader > VERSION or unknown:
        need = f"features {', '.join(unknown)}" if unknown else f"format version {demands.reader}"
        raise NewerFormatError(f"{name} needs {need}", hint="update archive to read this snapshot")
    return codec.from_json(value, Manifest, name)


def encode_entries(entries: list[SourceEntry]) -> bytes:
    """A list of source entries."""
    return codec.to_json(entries)


def decode_entries(value: bytes, name: str) -> list[SourceEntry]:
    """A list of source entries, with paths that stay inside the target of a restore.

    Raises:
        DamageError: It is no such list, or a path would lead elsewhere ([AR-51]).
    """
    entries = codec.from_json(value, list[SourceEntry], name)
    for entry in entries:
        parts = entry.path.split("/")
        if not all(parts) or {".", ".."} & set(parts) or "\0" in entry.path:
            raise DamageError(f"{name} has a source with an impossible path: {entry.path!r}")
        if Role.DATABASE not in entry.images and Role.FILE not in entry.images:
            raise DamageError(f"{name} has a source without an image: {entry.path!r}")
    return entries
