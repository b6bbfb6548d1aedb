"""Source files and program output that look like the real thing: what the assistant's tools read and print."""

from random import Random
from typing import Final, NamedTuple

from .cast import Cast


class Language(NamedTuple):
    """How files of one language look; slots in braces are filled from a cast.

    Attributes:
        head: The first lines of a file.
        blocks: What the rest is made of.
        comment: What begins a comment.
        command: What runs the tests of one module.
        passed: The line that the command prints for each test.
    """

    head: str
    blocks: tuple[str, ...]
    comment: str
    command: str
    passed: str


LANGUAGES: Final = {
    "py": Language(
        '"""Everything around {module}."""\n\nfrom dataclasses import dataclass\n\nfrom .{other} import {cls}Error\n\n\n',
        (
            "def {func}(records: list[dict[str, str]], limit: int = {n}) -> list[str]:\n    seen: set[str] = set()\n    out = []\n    for record in records[:limit]:\n        key = record['{field}']\n        if key in seen:\n            continue\n        seen.add(key)\n        out.append(key)\n    return out\n\n\n",
            "@dataclass(frozen=True)\nclass {cls}:\n    id: str\n    {field}: str\n    attempts: int = {n}\n\n    def expired(self, now_ms: int) -> bool:\n        return now_ms - int(self.id[:8], 16) > {ms}\n\n\n",
            "async def {func}(client, {noun}, timeout={n}):\n    response = await client.post('/v1/{module}/{noun}', json={{'{field}': {noun}}}, timeout=timeout)\n    if response.status_code >= 400:\n        raise {cls}Error(f'{module} said {{response.status_code}}')\n    return response.json()['{field}']\n\n\n",
        ),
        "#",
        "python -m pytest tests/test_{module}.py -q",
        "tests/test_{module}.py::test_{func}_{n} PASSED in {ms}us\n",
    ),
    "ts": Language(
        "import {{ {cls}Error }} from './{other}';\n\nexport type {cls} = {{ id: string; {field}: string | null }};\n\n",
        (
            "export function {func}(entries: {cls}[], limit = {n}): string[] {{\n  const seen = new Set<string>();\n  for (const entry of entries.slice(0, limit)) {{\n    if (entry.{field}) seen.add(entry.{field});\n  }}\n  return [...seen];\n}}\n\n",
            "export async function {func}(id: string): Promise<{cls}> {{\n  const response = await fetch(`/api/{module}/${{id}}?wait={ms}`);\n  if (!response.ok) throw new {cls}Error(`{module} ${{response.status}}`);\n  return response.json();\n}}\n\n",
        ),
        "//",
        "npm test -- {module}",
        " ✓ src/{module}.test.ts > {func} with {n} entries {ms}us\n",
    ),
    "go": Language(
        'package {module}\n\nimport (\n\t"errors"\n\t"time"\n)\n\nvar errClosed = errors.New("{module}: closed")\n\n',
        (
            "func {func}(in []string, limit int) ([]string, error) {{\n\tif limit > {n} {{\n\t\treturn nil, errClosed\n\t}}\n\tout := make([]string, 0, limit)\n\tfor _, s := range in {{\n\t\tout = append(out, s+`{field}`)\n\t}}\n\treturn out, nil\n}}\n\n",
            "type {cls} struct {{\n\tID string\n\tWait time.Duration // at most {ms} ms\n\tLeft int\n}}\n\nfunc (c *{cls}) take() bool {{\n\tc.Left--\n\treturn c.Left > {n}\n}}\n\n",
        ),
        "//",
        "go test ./{module}/...",
        "--- PASS: Test_{func}/{n}_entries ({ms}us)\n",
    ),
}


def source_file(rng: Random, cast: Cast, lines: int) -> str:
    """A source file of about ``lines`` lines in the cast's language."""
    language = LANGUAGES[cast.suffix]
    parts = [language.head.format_map(cast.slots())]
    written = parts[0].count("\n")
    while written < lines:
        block = rng.choice(language.blocks).format_map(cast.varied(rng).slots())
        parts.append(block)
        written += block.count("\n")
    return "".join(parts)


def changed(rng: Random, cast: Cast, text: str) -> tuple[str, str]:
    """The file after a small edit, and the edit as a unified diff of one hunk."""
    lines = text.splitlines(keepends=True)
    at = rng.choice([at for at in range(1, len(lines) - 1) if lines[at].strip()])
    new = f"{lines[at].rstrip()}  {LANGUAGES[cast.suffix].comment} see {cast.other}\n"
    hunk = f"@@ -{at},3 +{at},3 @@\n {lines[at - 1]}-{lines[at]}+{new} {lines[at + 1]}"
    return "".join([*lines[:at], new, *lines[at + 1 :]]), hunk


def run_output(rng: Random, cast: Cast, lines: int) -> str:
    """What a test runner prints."""
    passed = LANGUAGES[cast.suffix].passed
    tests = [passed.format_map(cast.varied(rng).slots()) for _ in range(lines)]
    return f"{''.join(tests)}\n{lines} passed in {rng.random() * 9:.2f}s\n"


def search_output(rng: Random, cast: Cast, lines: int) -> str:
    """What a text search prints: path, line number, line."""
    hits = [cast.varied(rng) for _ in range(lines)]
    return "".join(
        f"src/{hit.other}.{cast.suffix}:{hit.n}:    {cast.func}({hit.noun}, {hit.ms})\n" for hit in hits
    )
