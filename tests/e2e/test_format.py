"""What specs/archive-v1.md asks of every writer and every reader, on whole archives and on forged objects."""

import itertools
import json
import struct

import msgspec
import pytest
import zstandard

from archiver import hashing
from archiver.errors import DamageError, NewerFormatError
from archiver.image.earlier import Earlier
from archiver.image.store import Place, Span, store_leaf
from archiver.layout import node, packing, sealed
from archiver.layout.packing import IndexedFrame, IndexedPack
from archiver.layout.prefix import Kind
from archiver.model import BlobId
from archiver.ops import keys as operations
from archiver.repo import compress, sealing
from archiver.repo.archive import Archive
from archiver.repo.packer import Stream
from tests.support.blobs import BlobsInMemory
from tests.support.samplehome import live_for

MOST_PATCHES = 16


@pytest.fixture
def opened(tested):
    with tested.open() as found:
        yield found


@pytest.mark.spec("AR-10")
def test_what_a_guess_costs(opened):
    """Each slot makes a guess cost 64 MiB, 3 passes and 4 lanes at least, and has a salt of its own."""
    operations.add_passphrase(opened, "the same password", "one", 1)
    operations.add_passphrase(opened, "the same password", "two", 1)
    found = []
    for listed in opened.storage.list("keys/"):
        data = opened.storage.get(listed.name)
        length = struct.unpack(">I", data[16:20])[0]
        found.append(json.loads(data[20 : 20 + length])["kdf"])
    assert len({kdf["salt"] for kdf in found}) == len(found) == 3
    for kdf in found:
        assert (kdf["name"], len(bytes.fromhex(kdf["salt"]))) == ("argon2id", 32)
        assert (kdf["memory_kib"] >= 65536, kdf["passes"] >= 3, kdf["lanes"] >= 4) == (True, True, True)


@pytest.mark.spec("AR-20")
def test_no_salt_is_used_twice(tested, home):
    """Every sealed object of an archive has a salt of its own, so that no two share a key."""
    tested.take(home.root)
    live_for(home, minutes=1, seed=1)
    tested.take(home.root)
    folders = ("packs/", "index/", "snapshots/")
    salts = [data[16:48] for name, data in tested.storage.objects.items() if name.startswith(folders)]
    assert len(salts) == len(set(salts)) == 6
    assert all(len(set(salt)) > 16 for salt in salts)


def _plant(opened: Archive, entries: list[tuple[bytes, bytes, bytes]]) -> None:
    """Put a pack whose frame holds these entries (bytes, claimed id, base or nothing), and its index object."""
    content = b"".join(data for data, _, _ in entries)
    ids, bases = b"".join(blob for _, blob, _ in entries), b"".join(base for _, _, base in entries)
    pack = sealing.SealedObject(opened.keys, Kind.PACK)
    offset, sealed_bytes = pack.add(compress.pack(content))
    lengths = [len(data) for data, _, _ in entries]
    frames = [IndexedFrame(offset, sealed_bytes, len(content), lengths, ids, bases)]
    name = pack.finish(packing.encode_directory(frames))
    opened.storage.put(name, pack.data)
    listed = IndexedPack(bytes.fromhex(name.rpartition("/")[2]), len(pack.data), pack.salt, frames)
    opened.storage.put(*sealing.seal_value(opened.keys, Kind.INDEX, packing.encode_index([listed])))
    opened.refresh_index()


def _id(opened: Archive, data: bytes) -> bytes:
    return hashing.blob_id(opened.keys.blob_id, data)


@pytest.mark.spec("AR-30")
def test_a_blob_that_is_another(opened):
    """A blob whose frame opens well and whose bytes are others than its id says is refused at every read."""
    good, wrong = b"what was said", b"what was not said"
    _plant(opened, [(good, _id(opened, good), b""), (wrong, _id(opened, b"claimed"), b"")])
    for _ in range(2):
        assert opened.reader.read(BlobId(_id(opened, good))) == good
        with pytest.raises(DamageError, match="is not what its id says"):
            opened.reader.read(BlobId(_id(opened, b"claimed")))


@pytest.mark.spec("AR-34")
def test_patches_that_hang_on_each_other(opened):
    """Two patches of each other, and a blob that is a patch of itself, are refused and do not hang the reader."""
    one, two, three = (_id(opened, text) for text in (b"one", b"two", b"three"))
    made = compress.patch(b"x", b"y")
    _plant(opened, [(made, one, two), (made, two, one), (made, three, three)])
    for blob in (one, two, three):
        with pytest.raises(DamageError, match="patches"):
            opened.reader.read(BlobId(blob))


@pytest.mark.spec("AR-34")
def test_the_longest_row_of_patches(opened):
    """Sixteen patches in a row are followed, and seventeen are not."""
    versions = [b"version %d " % number * 20 for number in range(MOST_PATCHES + 2)]
    _plant(opened, [(versions[0], _id(opened, versions[0]), b"")])
    patches = [
        (compress.patch(new, old), _id(opened, new), _id(opened, old))
        for old, new in itertools.pairwise(versions)
    ]
    _plant(opened, patches)
    for number in (1, MOST_PATCHES):
        assert opened.reader.read(BlobId(_id(opened, versions[number]))) == versions[number]
    with pytest.raises(DamageError, match="more than 16 patches"):
        opened.reader.read(BlobId(_id(opened, versions[MOST_PATCHES + 1])))


@pytest.mark.spec("AR-34")
@pytest.mark.spec("AR-24")
def test_decompression_is_bounded(opened):
    """A few bytes that stand for many are refused before they fill the memory: in frames, patches and final frames."""
    bomb = zstandard.ZstdCompressor().compress(bytes(17 << 20))
    assert len(bomb) < 5000
    with pytest.raises(DamageError, match="more than 1000 bytes"):
        compress.unpack(compress.ZSTD + bomb, 1000, "a frame")
    claimed = _id(opened, b"claimed")
    _plant(opened, [(b"base", _id(opened, b"base"), b"")])
    _plant(opened, [(bomb, claimed, _id(opened, b"base"))])
    with pytest.raises(DamageError, match="more than 16777216 bytes"):
        opened.reader.read(BlobId(claimed))
    # A zstd frame that claims 2 GiB: magic, a descriptor that announces eight bytes of size, the window, the size.
    huge = bytes.fromhex("28b52ffd c0 00") + struct.pack("<Q", 2 << 30)
    with pytest.raises(DamageError, match="would decompress to more than"):
        compress.decompress(huge, sealed.FINAL_PLAIN_LIMIT, "a final frame")
    assert sealed.FINAL_PLAIN_LIMIT == 1 << 30


class ForgetfulCompressor:
    """A zstd that stores other bytes than it was given."""

    def __init__(self, **options: object) -> None:
        self._real = REAL_COMPRESSOR(**options)

    def compress(self, data: bytes) -> bytes:
        return self._real.compress(bytes(data[:-1]) + bytes([data[-1] ^ 1]))


REAL_COMPRESSOR = zstandard.ZstdCompressor


@pytest.mark.spec("AR-32")
def test_a_compressor_that_stores_garbage(opened, monkeypatch):
    """What a failing compressor makes of a blob is noticed before anything is stored."""
    before = set(opened.storage.objects)
    monkeypatch.setattr(zstandard, "ZstdCompressor", ForgetfulCompressor)
    with opened.packer() as packer:
        packer.put(b"a chat " * 1000, Stream.DATA)
        with pytest.raises(DamageError, match="memory or libraries fail"):
            packer.flush()
    assert set(opened.storage.objects) == before


@pytest.mark.spec("AR-41")
@pytest.mark.parametrize(
    ("value", "level", "error"),
    [
        ([0, [[2, 10, bytes(16)]]], None, NewerFormatError),
        ([17, [[0, 10, bytes(16)]]], None, DamageError),
        ([-1, [[0, 10, bytes(16)]]], None, DamageError),
        ([1, [[0, 10, bytes(16)]]], 2, DamageError),
        ([1, [[0, 10, bytes(16)]]], 0, DamageError),
        ([1, [[1, 10, bytes(16), bytes(16)]]], 1, DamageError),
        ([0, [[0, 10, bytes(15)]]], 0, DamageError),
        ([0, [[0, 0, bytes(16)], [0, 10, bytes(16)]]], 0, DamageError),
    ],
    ids=[
        *("unknown kind", "too high", "below zero", "not one less", "does not fall"),
        *("split above leaves", "short id", "nothing covered"),
    ],
)
def test_nodes_that_cannot_be(value, level, error):
    """A node of a wrong level or with an impossible child is damage; a child of an unknown kind asks for an update."""
    with pytest.raises(error, match="a node"):
        node.decode(msgspec.msgpack.encode(value), level, 10, "a node")


@pytest.mark.spec("AR-43")
@pytest.mark.parametrize(
    "spans",
    [[(10, 600), (500, 900)], [(500, 400)], [(700, 800), (100, 200)]],
    ids=["overlap", "inside out", "disorder"],
)
def test_a_leaf_that_is_split_wrongly(spans):
    """Records that do not fit together are noticed when they are joined again, and nothing of the leaf is kept."""
    blobs = BlobsInMemory()
    data = bytes(range(256)) * 4
    found = (Span(*span, page=False) for span in spans)
    with pytest.raises(DamageError, match="joins to other bytes"):
        store_leaf(blobs, data, blobs.identify(data), found, Place(0, Earlier(blobs, None)))
    assert blobs.blobs == {}
