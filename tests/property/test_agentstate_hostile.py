"""Whatever a blob holds, every message of the table can be asked of it."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from formats.agentstate.decode import decode
from formats.agentstate.message import unexplained
from formats.agentstate.state import looks_like_state
from formats.agentstate.table import MESSAGES
from formats.errors import FormatError
from formats.protobuf import Field, Wire, encode

numbers = st.integers(1, 64)
leaves = st.one_of(
    st.builds(Field, numbers, st.just(Wire.VARINT), st.integers(0, 2**64 - 1)),
    st.builds(Field, numbers, st.just(Wire.I32), st.integers(0, 2**32 - 1)),
    st.builds(Field, numbers, st.just(Wire.I64), st.integers(0, 2**64 - 1)),
    st.builds(Field, numbers, st.just(Wire.LEN), st.binary(max_size=40)),
)
blobs = st.recursive(
    st.lists(leaves, max_size=6).map(encode),
    lambda inner: st.lists(
        st.one_of(leaves, st.builds(Field, numbers, st.just(Wire.LEN), inner)), max_size=6
    ).map(encode),
)
names = st.sampled_from(sorted(MESSAGES))


@given(names, st.one_of(blobs, st.binary(max_size=200)))
def test_any_blob_is_a_message_or_a_named_error(name, data):
    """Nothing but FormatError is raised, and the residue can always be listed."""
    looks_like_state(data)
    with suppress(FormatError):
        message = decode(name, data)
        assert len(list(unexplained(message))) <= len(data)


@given(names, blobs)
def test_every_stored_field_is_told_or_kept(name, data):
    """A message that says nothing and keeps nothing had no bytes."""
    message = decode(name, data)
    assert bool(message.fields or message.residue) == bool(data)
