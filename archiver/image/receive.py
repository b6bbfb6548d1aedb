"""Takes in what a capture reads, and turns it into images."""

from archiver.image.write import BlobSink, LinedImage, PagedImage
from archiver.layout.manifest import Image
from archiver.model import Role


class Receiver:
    """The images of one source, one for each role that its capture asked for.

    Asking for a role again drops what was written to it; a part that is never finished leaves no image.

    Args:
        sink: Where blobs go.
        paged: Whether the source is a database, whose raw files then share leaves with its images.
    """

    def __init__(self, sink: BlobSink, *, paged: bool) -> None:
        self._sink = sink
        self._paged = paged
        self.images: dict[Role, Image] = {}
        self.read_bytes = 0

    def part(self, role: Role, page_bytes: int) -> "ReceivedPart":
        """Begin the image of ``role``; ``page_bytes`` is 0 unless the bytes are a database."""
        self.images.pop(role, None)
        paged = self._paged or role is not Role.FILE
        return ReceivedPart(
            self, role, PagedImage(self._sink, page_bytes) if paged else LinedImage(self._sink)
        )


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
