"""Tests about the tree itself: what is promised is tested, and what is tested is promised."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SPECS = ROOT / "specs"

REQUIREMENT = re.compile(r"\[([A-Z]{2}-\d+)\]")
CLAIM = re.compile(r"mark\.spec\(\"([A-Z]{2}-\d+)\"")
SCHEMA = re.compile(r"archive\.[a-z-]+/\d+")
REGISTRY = re.compile(r"https?://[^\s\"']*(?:/simple\b|pythonhosted|artifactory|nexus|npmjs|://registry\.)")


def _texts(folder: Path, pattern: str) -> dict[str, str]:
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(folder.rglob(pattern))}


def _found(expression: re.Pattern[str], texts: dict[str, str]) -> set[str]:
    return {match for text in texts.values() for match in expression.findall(text)}


def test_every_requirement_is_held_by_a_test():
    """Each numbered requirement of the specifications is named by a test, and no test names one that is not there."""
    written, held = _found(REQUIREMENT, _texts(SPECS, "*.md")), _found(CLAIM, _texts(TESTS, "*.py"))
    assert len(written) > 20
    assert (sorted(written - held), sorted(held - written)) == ([], [])


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: path.stem)
def test_every_test_states_its_claim(path):
    """The docstring of a test says in a sentence what holds when it passes."""
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert functions
    assert [node.name for node in functions if not (ast.get_docstring(node) or "").endswith(".")] == []


def test_every_json_schema_is_documented():
    """The schemas that commands print and those of the page about JSON results are the same."""
    printed = _found(SCHEMA, _texts(ROOT / "archiver" / "cli", "*.py"))
    assert printed == _found(SCHEMA, _texts(SPECS, "cli-json.md"))
    assert len(printed) > 10


def test_every_link_in_the_pages_leads_somewhere():
    """A relative link in README.md or a specification names a file or folder of the tree."""
    pages = [ROOT / "README.md", *SPECS.rglob("*.md")]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text())
    ]
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_nothing_says_where_it_was_made():
    """No file of the tree names a folder of the machine that it was written on, or a package registry."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is no git checkout, so what belongs to the tree is not known")
    own = re.compile("|".join(re.escape(f"{folder}/") for folder in (ROOT, ROOT.parent)))
    telling = [
        name
        for name in filter(None, done.stdout.split("\0"))
        if (text := _text(ROOT / name)) and (own.search(text) or REGISTRY.search(text))
    ]
    assert telling == []


def _text(path: Path) -> str:
    """The text of a file, and nothing for one that is gone or holds no text."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
