"""The core: EASY beside a program in C, replays a second, two threads beside one, and a forecast.

The program is `easy.c`, built with the C compiler at hand. It replays the jobs that hpcsched has
read, in turn with hpcsched, and must come to the same start times.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

import hpcsched
from benchmarks.make_trace import write_trace
from benchmarks.scenarios import kth
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.forecasting import SAMPLES, forecast_starts, prepare

RUNS = 7
REPLAYS = 40
# Processors in all of each log, on which any processor is as good as any other.
LOGS = {
    "KTH-SP2": ("KTH-SP2-1996-2.swf.gz", 100),
    "SDSC-BLUE": ("SDSC-BLUE-2000-4.2-cln.swf.gz", 1152),
    "CEA-Curie": ("CEA-Curie-2011-2.1-cln.swf.gz", 93312),
}
DEEP_QUEUE_JOBS, DEEP_QUEUE_GAP = 20_000, 60.0
PAST_JOBS, PAST_GAP, WAITING_JOBS = 3_000, 140.0, 1_000
"""Jobs that keep 512 cores at 90 %, and jobs that are then submitted second by second."""


@dataclass
class Case:
    """A workload under EASY with requested times; its jobs are read once."""

    name: str
    processors: int
    trace: Path

    def __post_init__(self) -> None:
        node = {"name": "node", "count": self.processors, "resources": {"core": 1}}
        swf = {"source": "swf", "path": str(self.trace), "unit": {"core": 1}}
        self.scenario = hpcsched.load_scenario(
            {
                "name": "core",
                "system": {"groups": [node]},
                "trace": swf,
                "predictor": "requested-time",
                "dispatcher": "easy",
            }
        )
        self.workload = hpcsched.read_workload(self.scenario)

    def input_of_program(self) -> str:
        """Return the jobs as `easy.c` reads them."""
        columns = [
            np.concatenate([getattr(batch, name) for batch in self.workload.columns])
            for name in ("submit_time", "run_time", "requested_time", "units")
        ]
        jobs = np.column_stack(columns)
        lines = [" ".join(map(str, job)) for job in jobs.tolist()]
        return "\n".join([f"{self.processors} {len(jobs)}", *lines])

    def simulate(self) -> tuple[float, int, int]:
        """Return the processor seconds of a simulation, its rounds, and the sum of start times."""
        replay = EventLoop(parts_of(assemble(self.scenario).build_all(), ()), places=False)
        began = process_time()
        written = list(replay.run(self.workload.columns))
        took = process_time() - began
        rounds = sum(len(part.rounds.now) for part in written)
        return took, rounds, sum(int(part.left.start_time.sum()) for part in written)


def compare(case: Case, program: Path) -> None:
    """Print what a simulation takes in hpcsched and in C, run in turn."""
    jobs = case.input_of_program()
    ours, theirs = [], []
    for _ in range(RUNS):
        seconds, *found = case.simulate()
        printed = subprocess.run(
            [str(program), "1"], input=jobs, capture_output=True, text=True, check=True
        ).stdout.split()
        if found != [int(printed[1]), int(printed[2])]:
            sys.exit(f"{case.name}: {found} rounds and starts in hpcsched, in C {printed[1:]}")
        ours.append(seconds)
        theirs.append(float(printed[0]))
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    print(
        f"{case.name:10}  hpcsched {1000 * median(ours):8.2f} ms  C {1000 * median(theirs):8.2f} ms"
        f"  {median(ratios):5.2f} times C ({min(ratios):.2f}-{max(ratios):.2f})"
    )


def replays(case: Case) -> None:
    """Print how many replays in memory a second a processor makes, and two threads beside one."""

    def replay(_: object = None) -> None:
        assert hpcsched.replay(case.scenario, case.workload).objective is not None

    replay()
    began = process_time()
    for _ in range(REPLAYS):
        replay()
    print(f"hpcsched.replay of {case.name}: {REPLAYS / (process_time() - began):.0f} a second")
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(RUNS):
        for threads, wall in walls.items():
            with ThreadPoolExecutor(threads) as pool:
                began = perf_counter()
                list(pool.map(replay, range(REPLAYS)))
                wall.append(perf_counter() - began)
    gains = [one / two for one, two in zip(walls[1], walls[2], strict=True)]
    print(f"two threads: {median(gains):.2f} times one ({min(gains):.2f}-{max(gains):.2f})")


def forecast(folder: Path) -> None:
    """Print what a forecast takes of the jobs that wait on 64 nodes, placed node by node."""
    trace = folder / "forecast.swf"
    burst = folder / "burst.swf"
    write_trace(trace, PAST_JOBS, gap=PAST_GAP)
    write_trace(burst, WAITING_JOBS, seed=2, gap=1.0)
    last = int(trace.read_text().splitlines()[-1].split()[1])
    with trace.open("a") as file:
        for line in burst.read_text().splitlines()[2:]:
            number, submit_time, rest = line.split(maxsplit=2)
            file.write(f"{PAST_JOBS + int(number)} {last + int(submit_time)} {rest}\n")
    node = {"name": "node", "count": 64, "resources": {"core": 8, "mem": 64}}
    scenario = {
        "name": "forecast",
        "system": {"groups": [node]},
        "trace": {"source": "swf", "path": str(trace), "unit": {"core": 1, "mem": 4}},
        "predictor": "requested-time",
        "dispatcher": "easy",
    }
    prepared = prepare(hpcsched.load_scenario(scenario))
    # As on a cluster, where each running job is bound to its nodes.
    parts, past = prepared.parts._replace(uniform_request=None), prepared.past()
    ((_, branch, left),) = branches(parts, prepared.columns, [PAST_JOBS + WAITING_JOBS])
    past.run_times.ended(left.tolist())
    wanted = np.sort(branch.present.sequence[branch.present.waits])
    walls, times = [], []
    for _ in range(RUNS):
        wall, began = perf_counter(), process_time()
        forecast_starts(branch, past, wanted)
        walls.append(perf_counter() - wall)
        times.append(process_time() - began)
    print(
        f"forecast of {len(wanted)} waiting jobs, {SAMPLES} futures:"
        f" {median(walls):.2f} s ({min(walls):.2f}-{max(walls):.2f}),"
        f" of processors {median(times):.2f} s ({min(times):.2f}-{max(times):.2f})"
    )


def cases(folder: Path) -> Iterator[Case]:
    """Yield the logs, and a queue that only grows."""
    for name, (log, processors) in LOGS.items():
        yield Case(name, processors, kth().with_name(log))
    trace = folder / "deep-queue.swf"
    write_trace(trace, DEEP_QUEUE_JOBS, gap=DEEP_QUEUE_GAP)
    yield Case("deep queue", 100, trace)


def main() -> None:
    """Measure all cases, and replays of the first."""
    with TemporaryDirectory() as name:
        program = Path(name, "easy")
        source = Path(__file__).with_name("easy.c")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
        for case in cases(Path(name)):
            compare(case, program)
            if case.name == "KTH-SP2":
                replays(case)
        forecast(Path(name))


if __name__ == "__main__":
    main()
