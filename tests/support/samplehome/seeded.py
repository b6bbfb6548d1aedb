"""Random choices that depend on a seed and a name only, so that each part of a home can be built alone."""

import hashlib
from random import Random
from uuid import UUID


def rng_for(seed: int, *names: object) -> Random:
    """A generator of its own for each named thing: adding one thing does not change the others."""
    return Random("/".join(str(name) for name in (seed, *names)))


def uuid4(rng: Random) -> str:
    """A random UUID in Cursor's spelling: lower case, with dashes."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def hex_id(rng: Random, length: int) -> str:
    """``length`` random lower-case hex digits."""
    return f"{rng.getrandbits(4 * length):0{length}x}"


def derived_uuid(*names: str) -> str:
    """The UUID of something that belongs to another thing, such as the checkpoint of a prompt."""
    return str(UUID(bytes=hashlib.sha256("/".join(names).encode()).digest()[:16], version=4))
