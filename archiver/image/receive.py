"""Takes in what a capture reads, and turns it into images."""

from archiver.image.earlier import Earlier
from archiver.image.read import BlobReader
from archiver.image.store import BlobSink
from archiver.image.write import LinedImage, PagedImage
from archiver.layout.manifest import Image
from archiver.model import Role


class Receiver:
    """The images of one source, one for each role that its capture asked for.

    Asking for a role again drops what was written to it; a part that is never finished leaves no image.

    Args:
        sink: Where blobs go.
        reader: Where earlier images are read from.
        paged: Whether the source is a database, whose raw files then share leaves with its images.
        earlier: The images of the source in the snapshot before.
    """

    def __init__(
        self, sink: BlobSink, reader: BlobReader, *, paged: bool, earlier: dict[Role, Image]
    ) -> None:
        self._sink = sink
        self._reader = reader
        self._paged = paged
        self._earlier = earlier
        self.images: dict[Role, Image] = {}
        self.read_bytes = 0

    def part(self, role: Role, page_bytes: int) -> "ReceivedPart":
        """Begin the image of ``role``; ``page_bytes`` is 0 unless the bytes are a database."""
        self.images.pop(role, None)
        earlier = Earlier(self._reader, self._earlier.get(role))
        if role is Role.FILE and not self._paged:
            return ReceivedPart(self, role, LinedImage(self._sink, earlier))
        return ReceivedPart(self, role, PagedImage(self._sink, page_bytes, earlier))


class ReceivedPart:
    """One image being written."""

    def __init__(self, receiver: Receiver, role: Role, image: PagedImage | LinedImage) -> None:
        self._receiver = receiver
        self._role = role
        self._image = image

    def write(self, offset: int, data: bytes) -> None:
        """Take in ``data`` at ``offset``; offsets rise, but for a database's first page, which may come last."""
        self._receiver.read_bytes += len(data)
        self._image.write(offset, data)

    def finish(self, size_bytes: int) -> None:
        """The image is complete."""
        self._receiver.images[self._role] = self._image.finish(size_bytes)
