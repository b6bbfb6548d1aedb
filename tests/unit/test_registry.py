"""The table of decoders, their golden files and pages belong together; the choice among decoders says what it did."""

import ast
import importlib
import json
from pathlib import Path

import pytest

from archiver.model import Store
from formats.records import Decoded, Origin
from formats.registry import DECODERS, Decoder, decode
from tests.golden.decoders import make_expected as golden

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "formats" / "decoders"
INPUTS = [(decoder, path) for decoder in DECODERS for path in golden.inputs(decoder)]


def _name(decoder: Decoder) -> str:
    return f"{decoder.store}-v{decoder.version}"


def test_every_decoder_has_its_module_golden_files_and_page():
    """Modules, rows of the table, folders of golden files and pages are the same ones."""
    rows = {_name(decoder) for decoder in DECODERS}
    assert len(rows) == len(DECODERS)
    assert {f"{path.parent.name}-{path.stem}" for path in MODULES.glob("*/v*.py")} == rows
    assert {f"{path.parent.name}-{path.name}" for path in golden.FOLDER.glob("*/v*")} == rows
    assert {path.stem for path in (ROOT / "specs" / "decoders").glob("*-v*.md")} == rows


@pytest.mark.parametrize("decoder", DECODERS, ids=_name)
def test_a_row_names_what_is_there(decoder):
    """A row's function is that of its module, its page exists, and its store is one that is captured."""
    module = importlib.import_module(f"formats.decoders.{decoder.store}.v{decoder.version}")
    assert decoder.decode is module.decode
    assert f"{decoder.store}/{decoder.version}" == module.DECODER
    assert (ROOT / decoder.spec).stem == _name(decoder)
    assert decoder.store in set(Store)
    assert any(True for _ in golden.inputs(decoder))


@pytest.mark.parametrize(
    "path", sorted(MODULES.glob("*/v*.py")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_decoders_are_islands(path):
    """No decoder imports another one."""
    imported = [
        node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
    ]
    assert [name for name in imported if "decoders" in (name or "")] == []


@pytest.mark.parametrize(
    ("decoder", "path"), INPUTS, ids=[f"{_name(decoder)}-{path.stem}" for decoder, path in INPUTS]
)
def test_golden_files(decoder, path):
    """What is read of each golden file is what a person once checked."""
    expected = json.loads(path.with_name(path.name + golden.EXPECTED).read_text())
    assert json.loads(json.dumps(golden.read(decoder, path))) == expected


def test_every_expected_file_has_its_input():
    """No expectation is left over from an input that is gone."""
    expected = set(golden.FOLDER.rglob(f"*{golden.EXPECTED}"))
    assert expected == {path.with_name(path.name + golden.EXPECTED) for _, path in INPUTS}


def _codes(decoded: Decoded) -> list[str]:
    return [finding.code for finding in decoded.findings]


def test_an_unknown_layout_is_read_by_the_newest_and_said():
    """A layout that no decoder knows is read in tolerant mode: all of it is there, and the finding names the decoder."""
    decoded = decode("transcript", b'{"v":9,"said":"hello"}\n', Origin("s", "x/y.jsonl"))
    assert _codes(decoded)[0] == "unknown-layout"
    assert "transcript/1" in decoded.findings[0].message
    assert decoded.residue == {"line 1/v": 9, "line 1/said": "hello"}


@pytest.mark.parametrize(
    ("store", "source"),
    [("transcript", "a.xml"), ("hologram", "a.jsonl"), ("transcript", "a.txt"), ("memory", "a.json")],
)
def test_what_no_decoder_reads_is_opaque(store, source):
    """A store, a path or content that no decoder takes gives no records and one finding, never an error."""
    origin = Origin("s", source)
    decoded = decode(store, b"\x00\xff", origin)
    assert (decoded.origin, decoded.records, decoded.residue, _codes(decoded)) == (origin, (), {}, ["opaque"])
