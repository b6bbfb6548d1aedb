"""The nodes of an image's tree.

Source: specs/archive-v1.md, section 5.
"""

import msgspec

from archiver import hashing
from archiver.errors import DamageError, NewerFormatError
from archiver.layout import codec
from archiver.model import BlobId

WHOLE = 0
SPLIT = 1
MAX_LEVEL = 16


class Child(msgspec.Struct, frozen=True, array_like=True):
    """One part of an image: ``covered_bytes`` of it, held by the leaf or node ``id``.

    Attributes:
        kind: ``WHOLE``, or ``SPLIT`` for a leaf that lists its parts.
        covered_bytes: How much of the image it covers.
        id: The blob that holds it.
        digest: Of a split leaf: the id that its joined bytes would have as a blob.
    """

    kind: int
    covered_bytes: int
    id: bytes
    digest: bytes = b""

    @property
    def blob(self) -> BlobId:
        """The blob that holds the child."""
        return BlobId(self.id)

    @property
    def content(self) -> BlobId:
        """The id that a leaf's joined bytes have, however the leaf is held."""
        return BlobId(self.digest if self.kind == SPLIT else self.id)


class Node(msgspec.Struct, frozen=True, array_like=True):
    """Some neighbouring parts of an image, in order; at level 0 the children are leaves."""

    level: int
    children: list[Child]

    @property
    def covered_bytes(self) -> int:
        """How much of the image the node covers."""
        return sum(child.covered_bytes for child in self.children)


def encode(node: Node) -> bytes:
    """The node's blob."""
    return codec.to_msgpack((node.level, [_fields(child) for child in node.children]))


def decode(data: bytes, level: int | None, covered_bytes: int, name: str) -> Node:
    """The node in a blob, checked against what its parent says of it.

    Args:
        data: The blob.
        level: The level that the node must have, or nothing for a root.
        covered_bytes: What it must cover.
        name: The blob, for errors.

    Raises:
        DamageError: It contradicts its parent or itself ([AR-40], [AR-41]).
        NewerFormatError: It has children of an unknown kind.
    """
    node = codec.from_msgpack(data, Node, name)
    if not 0 <= node.level <= MAX_LEVEL or (level is not None and node.level != level):
        raise DamageError(f"{name} has level {node.level}, expected {level}")
    for child in node.children:
        _check_child(child, node.level, name)
    if node.covered_bytes != covered_bytes:
        raise DamageError(f"{name} covers {node.covered_bytes} bytes, its parent says {covered_bytes}")
    return node


def _fields(child: Child) -> tuple[object, ...]:
    bare = (child.kind, child.covered_bytes, child.id)
    return (*bare, child.digest) if child.kind == SPLIT else bare


def _check_child(child: Child, level: int, name: str) -> None:
    if child.kind not in (WHOLE, SPLIT):
        raise NewerFormatError(
            f"{name} has a child of kind {child.kind}", hint="update archive to read this image"
        )
    split = child.kind == SPLIT
    if (
        child.covered_bytes < 1
        or len(child.id) != hashing.BLOB_ID_BYTES
        or len(child.digest) != (hashing.BLOB_ID_BYTES if split else 0)
        or (split and level > 0)
    ):
        raise DamageError(f"{name} has an impossible child")
