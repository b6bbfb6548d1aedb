"""``python -m benchmarks``: measure, print the tables, and with ``--write`` keep them in the README."""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine, scenario, small_stores, tables
from benchmarks.command import BenchmarkError, answer, module
from benchmarks.results import Outcome, Row

_README = Path(__file__).with_name("README.md")
_BEGIN, _END = "<!-- measured: begin -->", "<!-- measured: end -->"
_SIZE_MB = 1170


def main() -> None:
    """Measure as the command line asks."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="archive-benchmarks-", dir=asked.work) as folder:
        try:
            text = _measure(Path(folder), asked)
        except BenchmarkError as error:
            sys.exit(f"benchmarks: error: {error}")
    print(text)
    if asked.write:
        _write(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure archive beside other tools."
    )
    parser.add_argument(
        "--size-mb", type=int, default=_SIZE_MB, help="of the global database; default %(default)s"
    )
    parser.add_argument("--hours", type=int, default=3, help="hours of work; default %(default)s")
    parser.add_argument("--stores", type=int, default=500, help="small stores; default %(default)s")
    parser.add_argument("--repeat", type=int, default=1, help="rounds, of which medians are shown")
    parser.add_argument("--work", type=Path, help="where to make a temporary folder; needs 8 times the size")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    return parser.parse_args()


def _measure(folder: Path, asked: argparse.Namespace) -> str:
    original = folder / "original.vscdb"
    _tell(f"making a database of {asked.size_mb} MB")
    answer(module("data", "global", original, asked.size_mb * 1_000_000))
    outcomes = [_round(folder / "round", original, asked) for _ in range(max(1, asked.repeat))]
    about = machine.describe(original.stat().st_size, len(outcomes))
    return "\n\n".join([about, *tables.render(outcomes, asked.stores)])


def _round(folder: Path, original: Path, asked: argparse.Namespace) -> Outcome:
    folder.mkdir()
    rows, hours = scenario.play(folder / "large", original, asked.hours, _tell_row)
    shutil.rmtree(folder / "large")
    small = small_stores.play(folder / "small", asked.stores, _tell)
    shutil.rmtree(folder)
    return Outcome(rows, hours, small)


def _tell_row(row: Row) -> None:
    cost = row.cost
    figures = (
        f"{cost.seconds:.2f} s, {cost.added_bytes / 1e6:.2f} MB added, {cost.peak_bytes / 1e6:.0f} MB peak"
    )
    _tell(f"{row.phase}: {row.tool}: {figures}")


def _tell(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def _write(text: str) -> None:
    """Replace what is between the two marks."""
    before, rest = _README.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    _README.write_text(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
