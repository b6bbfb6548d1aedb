"""The tree above the leaves of an image."""

from array import array

from archiver import hashing
from archiver.image.earlier import Earlier
from archiver.image.store import BlobSink
from archiver.layout import node as layout
from archiver.layout.node import MAX_LEVEL, WHOLE, Child, Node
from archiver.model import BlobId
from archiver.repo.packer import Stream

FAN_OUT = 16

_NO_DIGEST = bytes(hashing.BLOB_ID_BYTES)


class Level:
    """The children of one level so far, 41 bytes each: a database of 50 GB has 400,000 leaves."""

    def __init__(self) -> None:
        self._kinds = bytearray()
        self._lengths = array("Q")
        self._ids = bytearray()
        self._digests = bytearray()

    def __len__(self) -> int:
        """How many children there are."""
        return len(self._lengths)

    def append(self, child: Child) -> None:
        """Add a child at the end."""
        self._kinds.append(child.kind)
        self._lengths.append(child.covered_bytes)
        self._ids += child.id
        self._digests += child.digest or _NO_DIGEST

    def replace(self, number: int, child: Child) -> None:
        """Put another child, as long as the old one, into its place."""
        place = slice(number * hashing.BLOB_ID_BYTES, (number + 1) * hashing.BLOB_ID_BYTES)
        self._kinds[number] = child.kind
        self._ids[place] = child.id
        self._digests[place] = child.digest or _NO_DIGEST

    def node(self, level: int, start: int) -> Node:
        """The node above the children from ``start`` on."""
        return Node(level, [self._child(number) for number in range(start, min(start + FAN_OUT, len(self)))])

    def _child(self, number: int) -> Child:
        place = slice(number * hashing.BLOB_ID_BYTES, (number + 1) * hashing.BLOB_ID_BYTES)
        kind = self._kinds[number]
        digest = b"" if kind == WHOLE else bytes(self._digests[place])
        return Child(kind, self._lengths[number], bytes(self._ids[place]), digest)


def store_tree(sink: BlobSink, leaves: Level, earlier: Earlier) -> str:
    """Store the nodes above ``leaves`` and give the root's id in hex; empty for no leaves."""
    children = leaves
    for level in range(MAX_LEVEL + 1):
        above = Level()
        for start in range(0, len(children), FAN_OUT):
            node = children.node(level, start)
            base = earlier.node(level, start // FAN_OUT)
            above.append(Child(WHOLE, node.covered_bytes, sink.put(layout.encode(node), Stream.TREE, base)))
        if len(above) <= 1:
            return above.node(level, 0).children[0].id.hex() if len(above) else ""
        children = above
    raise ValueError(f"an image of {len(leaves)} leaves is too large")


def not_yet(covered_bytes: int) -> Child:
    """Stands for a leaf that will be stored later."""
    return Child(WHOLE, covered_bytes, BlobId(_NO_DIGEST))
