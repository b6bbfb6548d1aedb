"""The format's arithmetic, against values that nothing of the project computed."""

import json
from pathlib import Path

import pytest

from archiver import hashing
from archiver.crypto import aead, kdf
from archiver.layout import leaf, node, prefix, sealed
from archiver.layout.leaf import Literal, Record
from archiver.layout.prefix import Kind
from archiver.repo.keys import Keys

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors" / "archive-v1.json").read_text())


def _bytes(name: str) -> bytes:
    return bytes.fromhex(VECTORS[name])


@pytest.fixture
def keys() -> Keys:
    return Keys(_bytes("archive_id"), _bytes("master"))


@pytest.mark.spec("AR-5")
def test_the_header_is_prefix_id_and_sum():
    """The header's bytes are those of the vector, and read back as its id."""
    assert prefix.encode_header(_bytes("archive_id")) == _bytes("header")
    assert prefix.decode_header(_bytes("header")) == _bytes("archive_id")


@pytest.mark.parametrize("purpose", VECTORS["purposes"])
def test_purpose_keys(keys, purpose):
    """Every purpose key follows from the master key as HKDF of RFC 5869 says."""
    assert keys.purpose(purpose).hex() == VECTORS["purposes"][purpose]


@pytest.mark.spec("AR-22")
def test_object_key_and_commitment(keys):
    """The key and the commitment of an object follow from purpose key, salt, id, kind and version."""
    key = kdf.object_key(keys.purpose("pack"), _bytes("salt"), keys.archive_id, b"P\x01")
    assert key == (_bytes("object_key"), _bytes("object_commitment"))


@pytest.mark.spec("AR-21")
@pytest.mark.parametrize(("number", "vector"), [(3, "frame_3"), (aead.FINAL, "frame_final")])
def test_frames_are_bound_to_their_place(keys, number, vector):
    """A sealed frame has the vector's bytes: nonce, associated data and all."""
    cipher = aead.FrameCipher(_bytes("object_key"), prefix.prefix(Kind.PACK) + keys.archive_id, "a pack")
    assert cipher.seal(_bytes("plaintext"), number) == _bytes(vector)
    assert cipher.open(_bytes(vector), number) == _bytes("plaintext")


@pytest.mark.spec("AR-44")
def test_a_split_leaf_and_its_node(keys):
    """The vector's node and skeleton are read as they are meant, and written as they are."""
    read = node.decode(_bytes("node"), 0, len(_bytes("leaf")) + 7, "the node")
    split, whole = read.children
    assert (split.kind, split.blob) == (node.SPLIT, hashing.blob_id(keys.blob_id, _bytes("skeleton")))
    assert split.content == hashing.blob_id(keys.blob_id, _bytes("leaf"))
    assert (whole.kind, whole.covered_bytes) == (node.WHOLE, 7)
    assert node.encode(read) == _bytes("node")
    skeleton = leaf.decode(_bytes("skeleton"), split.covered_bytes, "the leaf")
    record = Record(2, 600, hashing.blob_id(keys.blob_id, _bytes("record")))
    assert list(skeleton.parts()) == [Literal(0, b"ab"), record, Literal(602, b"cd")]
    assert leaf.encode(skeleton) == _bytes("skeleton")


def test_blob_ids_are_keyed(keys):
    """A blob's id is the first 16 bytes of BLAKE3 keyed with the purpose key."""
    assert hashing.blob_id(keys.blob_id, _bytes("plaintext")) == _bytes("blob_id")


@pytest.mark.spec("AR-23")
@pytest.mark.parametrize("length", VECTORS["padme"])
def test_padme(length):
    """Object lengths are rounded up as PADMÉ says."""
    assert sealed.padme(int(length)) == VECTORS["padme"][length]
