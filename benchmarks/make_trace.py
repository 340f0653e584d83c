"""Writes a made-up log of any length for 100 nodes of one core, loaded to about 70 %.

The jobs are the same for a given length and seed on any machine. They come evenly by day and night;
sizes are powers of two, run times log-uniform from 10 s to 8 h, requested times one to five times
as long. Written line by line, so a long log needs no memory.

Usage: `python -m benchmarks.make_trace JOBS FILE`
"""

import math
import random
import sys
from pathlib import Path

NODES = 100
LOAD = 0.7
LARGEST_POWER = 6
SHORTEST, LONGEST = 10, 8 * 3600


def write_trace(
    path: Path, jobs: int, seed: int = 1, load: float = LOAD, gap: float | None = None
) -> None:
    """Write a log of so many jobs, which ask for a share `load` of the system's time.

    `gap` is the mean time between two submissions in seconds; None: the one that makes `load`.
    """
    draw = random.Random(seed)
    mean_units = sum(2**power for power in range(LARGEST_POWER + 1)) / (LARGEST_POWER + 1)
    mean_run_time = (LONGEST - SHORTEST) / math.log(LONGEST / SHORTEST)
    mean_gap = mean_units * mean_run_time / (load * NODES) if gap is None else gap
    submit_time = 0.0
    with path.open("w") as file:
        file.write(f"; MaxJobs: {jobs}\n; MaxProcs: {NODES}\n")
        for number in range(1, jobs + 1):
            submit_time -= mean_gap * math.log(1 - draw.random())
            units = 2 ** int(draw.random() * (LARGEST_POWER + 1))
            run_time = int(SHORTEST * (LONGEST / SHORTEST) ** draw.random())
            requested = int(run_time * (1 + 4 * draw.random())) + 1
            file.write(
                f"{number} {int(submit_time)} -1 {run_time} {units} -1 -1 {units} {requested}"
                " -1 1 1 1 1 1 1 -1 -1\n"
            )


if __name__ == "__main__":
    write_trace(Path(sys.argv[2]), int(sys.argv[1]))
