"""Writes beside each input what the registry's decoders read of it; what changes is to be read by a person.

python -m tests.golden.decoders.make_expected
"""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from formats import registry
from formats.records import Origin
from formats.registry import DECODERS, Decoder

FOLDER = Path(__file__).parent
EXPECTED = ".expected.json"


def folder(decoder: Decoder) -> Path:
    """Where the golden files of a decoder are."""
    return FOLDER / decoder.store / f"v{decoder.version}"


def inputs(decoder: Decoder) -> Iterator[Path]:
    """The files that a decoder is given, and nothing that was made from them."""
    files = (path for path in sorted(folder(decoder).rglob("*")) if path.name.endswith(decoder.reads))
    return (path for path in files if not path.name.endswith(EXPECTED))


def read(decoder: Decoder, path: Path) -> object:
    """All that is read of an input, as JSON has it."""
    name = path.relative_to(folder(decoder)).as_posix()
    origin = Origin("snapshot-1", f".cursor/projects/home-dev-shop/agent-transcripts/{name}")
    return msgspec.to_builtins(registry.decode(decoder.store, path.read_bytes(), origin))


def main() -> None:
    """Write all of them."""
    for decoder in DECODERS:
        for path in inputs(decoder):
            text = json.dumps(read(decoder, path), indent=1)
            path.with_name(path.name + EXPECTED).write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
