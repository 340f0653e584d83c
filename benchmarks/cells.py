"""Experiments of many cells as whole processes: a plan, a run, and a comparison.

Usage: `python -m benchmarks.cells [CELLS]`, by default 1,000; each cell replays 1,000 jobs. Time
should grow with the number of cells, and peak memory only by that of the plan.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import run_processes

BASE = Path(__file__).parent.parent / "scenarios" / "small-easy.yaml"
REPLICAS = 50
COMMAND = Path(sys.executable).with_name("hpcsched")


def write_experiment(folder: Path, cells: int) -> Path:
    """Write an experiment of `cells` cells, a multiple of 100: two rules, lengths, replicas."""
    lengths = [1_000 - number for number in range(cells // (2 * REPLICAS))]
    file = folder / "cells.yaml"
    file.write_text(
        f"name: cells\nscenario: {BASE}\nreplicas: {REPLICAS}\nmatrix:\n"
        "  - dispatcher: [easy, {name: list, order: sjf, option: backfill}]\n"
        f"  - trace.jobs: {lengths}\n"
    )
    return file


def main(cells: int) -> None:
    """Print seconds of wall clock and processor in all and by cell, and MiB of the process."""
    with TemporaryDirectory() as name:
        out = Path(name) / "out"
        run = [str(COMMAND), "experiment", str(write_experiment(Path(name), cells)), "--quiet"]
        for what, command in (
            ("plan", [*run, "--list", "--out", str(out)]),
            ("run", [*run, "--out", str(out)]),
            ("kept", [*run, "--out", str(out)]),
            ("compare", [str(COMMAND), "compare", str(out)]),
        ):
            found = run_processes({what: command}, 1, warm_up=0)[what]
            wall, cpu, peak = found.wall[0], found.cpu[0], found.peak_mib[0]
            print(
                f"{what:8} {cells:,} cells: {wall:.1f} s, {1000 * wall / cells:.2f} ms a cell;"
                f" processor {cpu:.1f} s; {peak:.0f} MiB"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
