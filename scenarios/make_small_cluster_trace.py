"""Makes `traces/small-cluster.swf.gz`: a made-up fortnight on a small heterogeneous cluster.

The jobs are invented; no real log is behind them. They are drawn from one seeded generator with
nothing but `random.random`, so that every machine makes the same file. Forty users each have a few
kinds of work that they repeat; submissions follow the working day; requested times are round and
too long, as people's are.

Usage: `python scenarios/make_small_cluster_trace.py [FILE]`
"""

import gzip
import math
import random
import sys
from pathlib import Path
from typing import NamedTuple

SEED = 6
DAYS = 14
JOBS = 3000
GIB = 1024**3
LIMITS = [900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600, 24 * 3600]
HOURLY = [2, 1, 1, 1, 1, 1, 2, 4, 8, 12, 14, 13, 10, 12, 14, 13, 11, 9, 6, 5, 4, 4, 3, 3]
HEADER = """\
; Version: 2.2
; Computer: a made-up cluster of 12 cpu, 2 bigmem and 4 gpu nodes
; Note: drawn by scenarios/make_small_cluster_trace.py; no real log is behind it
; MaxJobs: {jobs}
; UnitResources: core mem gpu
"""


class Work(NamedTuple):
    """What a unit asks for, in which numbers, how long such work runs, how common it is."""

    core: int
    mem_gib: int
    gpu: int
    units: tuple[int, ...]
    median_minutes: float
    weight: float


WORKS = [
    Work(1, 2, 0, (1, 1, 2, 4), 12, 5),  # small scripts
    Work(8, 16, 0, (1, 1, 2), 40, 3),  # threaded programs
    Work(1, 3, 0, (16, 32, 64, 128), 40, 3),  # message passing, anywhere
    Work(32, 100, 0, (1, 2, 4), 60, 1),  # message passing, whole nodes
    Work(16, 400, 0, (1, 1, 2), 60, 0.7),  # large memory
    Work(8, 60, 1, (1, 1, 2, 4), 60, 2.5),  # training
    Work(32, 200, 4, (1, 2), 90, 0.6),  # training, whole nodes
]


def draw_log_normal(draw: random.Random, median: float, spread: float) -> float:
    """Return a log-normal number (Box and Muller), from two uniform ones."""
    radius = math.sqrt(-2 * math.log(1 - draw.random()))
    return median * math.exp(spread * radius * math.cos(2 * math.pi * draw.random()))


def pick(draw: random.Random, weights: list[float]) -> int:
    """Return an index with a probability in proportion to its weight."""
    point = draw.random() * sum(weights)
    for index, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return index
    return len(weights) - 1


def submit_times(draw: random.Random) -> list[int]:
    """Return ascending submit times: busy in working hours, half as busy on weekends."""
    times = []
    for _ in range(JOBS):
        day = pick(draw, [0.5 if day % 7 >= 5 else 1.0 for day in range(DAYS)])
        hour = pick(draw, [float(weight) for weight in HOURLY])
        times.append(day * 86400 + hour * 3600 + int(draw.random() * 3600))
    return sorted(times)


def make_trace() -> str:
    """Return the text of the trace."""
    draw = random.Random(SEED)
    works = [work.weight for work in WORKS]
    habits = [[pick(draw, works), pick(draw, works)] for _ in range(40)]
    activity = [draw_log_normal(draw, 1, 1) for _ in habits]
    lines = []
    for number, submit_time in enumerate(submit_times(draw), 1):
        user = pick(draw, activity)
        kind = habits[user][pick(draw, [2, 1])]
        work = WORKS[kind]
        units = work.units[int(draw.random() * len(work.units))]
        run_time = min(max(int(draw_log_normal(draw, work.median_minutes * 60, 1.1)), 5), 86400)
        too_long = run_time * (1 + 4 * draw.random())
        requested_time = next((limit for limit in LIMITS if limit >= too_long), LIMITS[-1])
        amounts = [work.core, work.mem_gib * GIB, work.gpu]
        fields = [number, submit_time, -1, run_time, units, -1, -1, units, requested_time, -1, 1]
        fields += [user + 1, user // 8 + 1, kind + 1, 1, 1, -1, -1, *amounts]
        lines.append(" ".join(str(field) for field in fields))
    return HEADER.format(jobs=JOBS) + "\n".join(lines) + "\n"


def main() -> None:
    """Write the trace, compressed without a time stamp."""
    default = Path(__file__).parent / "traces" / "small-cluster.swf.gz"
    path = Path(sys.argv[1]) if sys.argv[1:] else default
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(make_trace().encode(), mtime=0))
    print(f"{path}: {JOBS} jobs")


if __name__ == "__main__":
    main()
