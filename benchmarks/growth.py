"""Growth, as whole processes: made-up logs of ever more jobs, systems of ever more nodes.

Time should grow with the number of jobs and hardly with that of nodes; memory should not grow with
the number of jobs.

Usage: `python -m benchmarks.growth [jobs | nodes]`; without an argument, both.
"""

import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.make_trace import write_trace
from benchmarks.measure import report, run_processes
from benchmarks.scenarios import write_scenario

JOBS = (10**4, 10**5, 10**6)
NODES = (10**3, 10**4, 10**5)
NODES_JOBS = 5000
CORES, GIBIBYTES = 32, 128
SHORTEST, LONGEST = 60, 8 * 3600
LOAD = 0.95
RUNS = 1


def write_nodes_scenario(folder: Path, nodes: int, seed: int = 1) -> Path:
    """Write a scenario of `nodes` equal nodes under EASY, with its table of jobs; return its file.

    A job has one unit on each of a number of nodes that is log-uniform between N/1,024 and N/4. Its
    run time is log-uniform between 1 min and 8 h, its requested time 1 to 3 times as long. A unit
    requests 8, 16, 24 or 32 cores and 8, 32, 64 or 128 GiB. Jobs come by a Poisson process; they
    request a share `LOAD` of the cores' time.
    """
    draw = random.Random(seed)
    jobs, work = [], 0
    for _ in range(NODES_JOBS):
        units = max(1, round(nodes / 1024 * 256 ** draw.random()))
        run_time = round(SHORTEST * (LONGEST / SHORTEST) ** draw.random())
        requested = round(run_time * (1 + 2 * draw.random()))
        cores, memory = draw.choice((8, 16, 24, 32)), draw.choice((8, 32, 64, 128))
        jobs.append((units, run_time, requested, cores, memory))
        work += units * cores * run_time
    rate = LOAD * nodes * CORES * NODES_JOBS / work
    submit_time = 0.0
    with folder.joinpath("nodes.csv").open("w") as file:
        file.write("submit_time,units,run_time,requested_time,core,mem\n")
        for job in jobs:
            submit_time += draw.expovariate(rate)
            file.write(",".join(map(str, (int(submit_time), *job))) + "\n")
    scenario = folder / "nodes.yaml"
    group = f"{{name: node, count: {nodes}, resources: {{core: {CORES}, mem: {GIBIBYTES}GiB}}}}"
    scenario.write_text(
        "name: nodes\n"
        f"system: {{groups: [{group}]}}\n"
        "trace:\n"
        "  source: table\n"
        "  path: nodes.csv\n"
        "  requests: {core: core, mem: {column: mem, unit: 1GiB}}\n"
        "  constants: {one_unit_per_node: true}\n"
        "predictor: requested-time\n"
        "dispatcher: easy\n"
    )
    return scenario


def run_of(scenario: Path) -> list[str]:
    """Return the command that runs a scenario."""
    hpcsched = str(Path(sys.executable).with_name("hpcsched"))
    return [hpcsched, "run", str(scenario), "--out", str(scenario.with_name("out")), "--force"]


def measure_jobs(folder: Path) -> None:
    """Measure EASY and the rejecting dispatcher on 100 nodes, for each number of jobs."""
    for jobs in JOBS:
        trace = folder / f"jobs-{jobs}.swf"
        write_trace(trace, jobs)
        commands = {
            name: run_of(write_scenario(folder, trace, name)) for name in ("reject", "easy")
        }
        samples = run_processes(commands, RUNS, warm_up=0)
        report(f"{jobs:,} jobs, whole process", samples, "reject", jobs)


def measure_nodes(folder: Path) -> None:
    """Measure EASY on each number of nodes, with as many jobs."""
    for nodes in NODES:
        commands = {"easy": run_of(write_nodes_scenario(folder, nodes))}
        samples = run_processes(commands, RUNS, warm_up=0)
        report(f"{nodes:,} nodes, whole process", samples, "easy", NODES_JOBS)


def main() -> None:
    """Measure what is asked for."""
    what = sys.argv[1:] or ["jobs", "nodes"]
    with TemporaryDirectory() as name:
        if "jobs" in what:
            measure_jobs(Path(name))
        if "nodes" in what:
            measure_nodes(Path(name))


if __name__ == "__main__":
    main()
