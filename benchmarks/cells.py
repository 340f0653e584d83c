"""Experiments of many cells as whole processes: a plan, a run, and a comparison.

Usage: `python -m benchmarks.cells [CELLS [KILLS]]`, by default 1,000; each cell replays 1,000 jobs.
Time should grow with the number of cells, and peak memory only by that of the plan. With KILLS, a
second run is killed as often, and resumed: its results must be equal to the byte.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from benchmarks.measure import run_processes

BASE = Path(__file__).parent.parent / "scenarios" / "small-easy.yaml"
REPLICAS = 50
COMMAND = Path(sys.executable).with_name("hpcsched")


def write_experiment(folder: Path, cells: int) -> Path:
    """Write an experiment of `cells` cells, a multiple of 100: two rules, lengths, replicas.

    Submit times are drawn anew for each replica, so that each has jobs of its own.
    """
    lengths = [1_000 - number for number in range(cells // (2 * REPLICAS))]
    file = folder / "cells.yaml"
    file.write_text(
        f"name: cells\nscenario: {BASE}\nreplicas: {REPLICAS}\n"
        "set: {trace.transforms: [{name: jitter, by: 10min}]}\nmatrix:\n"
        "  - dispatcher: [easy, {name: list, order: sjf, option: backfill}]\n"
        f"  - trace.jobs: {lengths}\n"
    )
    return file


def kill_at(command: Sequence[str], out: Path, cells: int) -> int:
    """Kill an experiment once it has some complete cells; return how many it left."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and complete(out) < cells:
        sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return complete(out)


def complete(out: Path) -> int:
    """Return the number of complete cells."""
    return len([*out.glob("runs/*")])


def differences(out: Path, other: Path) -> list[str]:
    """Return the names of what is in one experiment's folder alone, or differs in its bytes."""
    names = {path.name for folder in (out, other) for path in (folder / "runs").iterdir()}
    files = [
        Path("runs", name, file) for name in names for file in ("summary.json", "jobs.parquet")
    ]
    unlike = [
        str(file)
        for file in files
        if not (out / file).is_file()
        or not (other / file).is_file()
        or (out / file).read_bytes() != (other / file).read_bytes()
    ]
    return sorted([*unlike, *map(str, other.glob("unfinished*"))])


def measure(what: str, command: Sequence[str], cells: int) -> None:
    """Print seconds of wall clock and processor in all and by cell, and MiB of the process."""
    found = run_processes({what: command}, 1, warm_up=0)[what]
    wall, cpu, peak = found.wall[0], found.cpu[0], found.peak_mib[0]
    print(
        f"{what:8} {cells:,} cells: {wall:.1f} s, {1000 * wall / cells:.2f} ms a cell;"
        f" processor {cpu:.1f} s; {peak:.0f} MiB",
        flush=True,
    )


def main(cells: int, kills: int) -> None:
    """Measure an experiment; then kill and resume it, and exit with what is lost."""
    with TemporaryDirectory() as name:
        out, again = Path(name) / "out", Path(name) / "again"
        run = [str(COMMAND), "experiment", str(write_experiment(Path(name), cells)), "--quiet"]
        measure("plan", [*run, "--list", "--out", str(out)], cells)
        measure("run", [*run, "--out", str(out)], cells)
        measure("kept", [*run, "--out", str(out)], cells)
        measure("compare", [str(COMMAND), "compare", str(out)], cells)
        if kills:
            run += ["--out", str(again)]
            places = [cells * number // (kills + 1) for number in range(1, kills + 1)]
            left = [kill_at(run, again, place) for place in places]
            measure("resumed", run, cells)
            print(f"killed with {left} complete cells")
            if unlike := differences(out, again):
                sys.exit(f"{len(unlike)} files differ: {', '.join(unlike[:3])}")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(1_000, 0)[len(given) :])
