"""Whatever the bytes are, a message is read and written back as it was, or refused with a named error."""

from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.protobuf import Field, Wire, encode, parse, signed32, signed64, varints, zigzag

numbers = st.one_of(st.integers(1, 20), st.integers(1, 2**29 - 1))
u64 = st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1))
fields = st.one_of(
    st.builds(Field, numbers, st.just(Wire.VARINT), u64),
    st.builds(Field, numbers, st.just(Wire.I64), u64),
    st.builds(Field, numbers, st.just(Wire.I32), st.integers(0, 2**32 - 1)),
    st.builds(Field, numbers, st.just(Wire.LEN), st.binary(max_size=300)),
)
messages = st.lists(fields, max_size=20)
damages = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=4)


@given(messages)
def test_what_is_written_is_read(message):
    """Any fields come back as they were written, in their order."""
    assert parse(encode(message)) == message


@given(st.one_of(st.binary(max_size=200), st.builds(encode, messages)), damages, st.integers(0, 400))
@example(b"\x08\x80\x00", [], 400)
def test_what_is_read_is_written_alike(data, damage, length):
    """Of any bytes, whole, damaged or cut, those that are accepted are encoded again to the same bytes."""
    hurt = bytearray(data[:length])
    for at, byte in damage:
        if hurt:
            hurt[at % len(hurt)] = byte
    with suppress(FormatError):
        assert encode(parse(bytes(hurt))) == hurt


@given(st.lists(u64, max_size=50))
def test_packed_integers_are_those_of_single_fields(values):
    """A packed field holds what as many single fields hold, without their keys."""
    packed = b"".join(encode([Field(1, Wire.VARINT, value)])[1:] for value in values)
    assert varints(packed) == values


@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_integers_come_back(value):
    """Two's complement and zigzag, done with shifts as the documentation says, are undone."""
    assert signed64(value % 2**64) == value
    assert zigzag((value << 1 ^ value >> 63) % 2**64) == value
    if -(2**31) <= value < 2**31:
        assert signed32(value % 2**64) == signed32(value % 2**32) == value
