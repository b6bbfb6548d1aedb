"""All decoders, and the choice among them."""

from typing import Protocol

import msgspec
from msgspec.structs import replace

from formats.decoders.memory import v1 as memory_v1
from formats.decoders.transcript import v1 as transcript_v1
from formats.decoders.transcript import v2 as transcript_v2
from formats.errors import FormatError
from formats.records import Decoded, Finding, Origin


class Decode(Protocol):
    """Reads the whole content of one file; pure, and total but for ``FormatError``."""

    def __call__(self, data: bytes, origin: Origin, *, tolerant: bool = False) -> Decoded:
        """The records, and everything that belongs to none."""


class Decoder(msgspec.Struct, frozen=True):
    """One decoder.

    Attributes:
        family: Decoders of one family read successive layouts of the same thing.
        store: The kind of source, as ``archiver.model.Store`` names it.
        version: Our number of the layout, in the order in which a store's layouts became known.
        reads: How the paths of the files that it reads end.
        decode: The function of its module.
        spec: The page that describes the layout.
    """

    family: str
    store: str
    version: int
    reads: tuple[str, ...]
    decode: Decode
    spec: str


DECODERS = (
    Decoder(
        family="transcript-lines",
        store="transcript",
        version=1,
        reads=(".jsonl",),
        decode=transcript_v1.decode,
        spec="specs/decoders/transcript-v1.md",
    ),
    Decoder(
        family="transcript-text",
        store="transcript",
        version=2,
        reads=(".txt",),
        decode=transcript_v2.decode,
        spec="specs/decoders/transcript-v2.md",
    ),
    Decoder(
        family="memories",
        store="memory",
        version=1,
        reads=(".json",),
        decode=memory_v1.decode,
        spec="specs/decoders/memory-v1.md",
    ),
)


def decode(store: str, data: bytes, origin: Origin) -> Decoded:
    """What a file says, by the newest decoder that knows its layout.

    If none does, the newest one of the family tries in tolerant mode, and the finding ``unknown-layout`` says so.
    What even that one cannot read is ``opaque``: there is that finding, and nothing else.
    """
    fitting = [row for row in DECODERS if row.store == store and origin.source.endswith(row.reads)]
    newest_first = sorted(fitting, key=lambda row: row.version, reverse=True)
    refusals: list[FormatError] = []
    for row in newest_first:
        try:
            return row.decode(data, origin)
        except FormatError as error:
            refusals.append(error)
    if not refusals:
        return _opaque(origin, "no decoder reads it")
    return _tolerantly(newest_first[0], data, origin, refusals[0])


def _tolerantly(row: Decoder, data: bytes, origin: Origin, refusal: FormatError) -> Decoded:
    try:
        decoded = row.decode(data, origin, tolerant=True)
    except FormatError as error:
        return _opaque(origin, str(error))
    message = f"its layout is not known, {row.store}/{row.version} read what it could: {refusal}"
    finding = Finding("unknown-layout", message, decoded.origin)
    return replace(decoded, findings=(finding, *decoded.findings))


def _opaque(origin: Origin, why: str) -> Decoded:
    return Decoded(origin, findings=(Finding("opaque", why, origin),))
