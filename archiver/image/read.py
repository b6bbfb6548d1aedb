"""Joins an image from its tree of blobs."""

from collections.abc import Iterator
from typing import Protocol

from archiver.errors import DamageError
from archiver.layout import leaf as leaf_layout
from archiver.layout import node as layout
from archiver.layout.leaf import Literal, Record, SplitLeaf
from archiver.layout.manifest import Image
from archiver.layout.node import SPLIT, Child, Node
from archiver.model import BlobId


class BlobReader(Protocol):
    """Where blobs come from: an open archive's reader."""

    def read(self, blob: BlobId) -> bytes:
        """The blob's bytes, checked against its id."""

    def identify(self, data: bytes) -> BlobId:
        """The id that a blob would have."""


def join(reader: BlobReader, image: Image) -> Iterator[bytes]:
    """The image's bytes, a leaf at a time, checked to be exactly as many as the image has.

    Raises:
        DamageError: A blob is missing or changed, or the tree contradicts itself.
    """
    for child in leaves(reader, image):
        yield read_leaf(reader, child)


def leaves(reader: BlobReader, image: Image) -> Iterator[Child]:
    """The leaves of an image, in order, without reading them."""
    if image.root_blob is None:
        if image.size_bytes != 0:
            raise DamageError(f"an image of {image.size_bytes} bytes has no root")
        return
    yield from _below(reader, read_node(reader, image.root_blob, None, image.size_bytes))


def read_node(reader: BlobReader, blob: BlobId, level: int | None, covered_bytes: int) -> Node:
    """A node, checked against what its parent says of it."""
    return layout.decode(reader.read(blob), level, covered_bytes, f"node {blob.hex()}")


def read_leaf(reader: BlobReader, child: Child) -> bytes:
    """The bytes of one leaf, whole or joined from its parts."""
    if child.kind == SPLIT:
        data = b"".join(read_part(reader, part) for part in read_split(reader, child).parts())
        if reader.identify(data) != child.content:
            raise DamageError(f"leaf {child.id.hex()} joins to other bytes than were captured")
        return data
    data = reader.read(child.blob)
    if len(data) != child.covered_bytes:
        raise DamageError(f"leaf {child.id.hex()} has {len(data)} bytes, its node says {child.covered_bytes}")
    return data


def read_split(reader: BlobReader, child: Child) -> SplitLeaf:
    """The skeleton of a split leaf."""
    return leaf_layout.decode(reader.read(child.blob), child.covered_bytes, f"leaf {child.id.hex()}")


def read_part(reader: BlobReader, part: Literal | Record) -> bytes:
    """The bytes of one part of a split leaf."""
    if isinstance(part, Literal):
        return part.data
    data = reader.read(part.blob)
    if len(data) != part.length:
        raise DamageError(f"record {part.blob.hex()} has {len(data)} bytes, its leaf says {part.length}")
    return data


def _below(reader: BlobReader, node: Node) -> Iterator[Child]:
    for child in node.children:
        if node.level == 0:
            yield child
        else:
            yield from _below(reader, read_node(reader, child.blob, node.level - 1, child.covered_bytes))
