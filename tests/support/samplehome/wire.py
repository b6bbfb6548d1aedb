"""Writing protobuf's wire format: the three shapes that agent blobs use.

It stands apart from `formats.protobuf` on purpose: what a sample is written with must not share a mistake with
what reads it.
"""


def varint(number: int) -> bytes:
    """A base-128 varint, least significant group first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field: int, value: int) -> bytes:
    """An unsigned integer, boolean or enum field."""
    return varint(field << 3) + varint(value)


def chunk(field: int, value: bytes) -> bytes:
    """A bytes or message field."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def string(field: int, value: str) -> bytes:
    """A string field."""
    return chunk(field, value.encode())
