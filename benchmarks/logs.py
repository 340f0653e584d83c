"""Whole processes, `hpcsched run`, on real logs and on long or overloaded made-up ones.

Each row is run in turn with the script under EASY on KTH-SP2, which shows how busy the machine was.
Usage: `python -m benchmarks.logs [ROW …]`; without rows, all of them.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import baseline_script
from benchmarks.make_trace import write_trace
from benchmarks.measure import report, run_processes
from benchmarks.scenarios import kth

RUNS = 3
OVERLOAD = 1.5
"""What an overloaded log asks for, as a share of the system's time: its queue only grows."""

EASY = "{name: easy}"

LIST = "{{name: list, order: {}, option: backfill}}"

# Name: log, its jobs, nodes, processors a node, and the dispatcher.
LOGS: Mapping[str, tuple[str, int, int, int, str]] = {
    "kth-easy": ("KTH-SP2-1996-2.swf.gz", 28481, 100, 1, EASY),
    "kth-list-fcfs": ("KTH-SP2-1996-2.swf.gz", 28481, 100, 1, LIST.format("fcfs")),
    "blue-easy": ("SDSC-BLUE-2000-4.2-cln.swf.gz", 232536, 144, 8, EASY),
    "blue-list-fcfs": ("SDSC-BLUE-2000-4.2-cln.swf.gz", 232536, 144, 8, LIST.format("fcfs")),
    "blue-list-laf": ("SDSC-BLUE-2000-4.2-cln.swf.gz", 232536, 144, 8, LIST.format("laf")),
    "curie-easy": ("CEA-Curie-2011-2.1-cln.swf.gz", 295540, 5832, 16, EASY),
    "curie-list-fcfs": ("CEA-Curie-2011-2.1-cln.swf.gz", 295540, 5832, 16, LIST.format("fcfs")),
}
# Name: jobs, load, dispatcher.
MADE_UP: Mapping[str, tuple[int, float, str]] = {
    "million-easy": (10**6, 0.7, EASY),
    "overloaded-easy": (20_000, OVERLOAD, EASY),
    "overloaded-list-sjf": (10_000, OVERLOAD, LIST.format("sjf")),
}
# Name: a scenario of the repository, and its jobs.
SCENARIOS = {
    "cerit-easy": ("cerit-easy", 17885),
    "cerit-list": ("cerit-list", 17885),
    "eurora-easy": ("eurora-easy", 404866),
}


def scenario_of(row: str, folder: Path) -> tuple[Path, int]:
    """Return the scenario of a row, written if need be, and how many jobs its trace has."""
    if row in SCENARIOS:
        name, jobs = SCENARIOS[row]
        return Path(__file__).parents[1] / "scenarios" / f"{name}.yaml", jobs
    if row in LOGS:
        log, jobs, nodes, cores, dispatcher = LOGS[row]
        trace = Path(os.environ["HPCSCHED_TRACES"], log)
        predictor = "actual"
    else:
        jobs, load, dispatcher = MADE_UP[row]
        trace, nodes, cores = folder / f"{row}.swf", 100, 1
        predictor = "requested-time"
        write_trace(trace, jobs, load=load)
    path = folder / f"{row}.yaml"
    path.write_text(
        f"name: {row}\n"
        f"system: {{groups: [{{name: node, count: {nodes}, resources: {{core: {cores}}}}}]}}\n"
        f"trace: {{source: swf, path: '{trace}', unit: {{core: 1}}}}\n"
        f"predictor: {predictor}\n"
        f"dispatcher: {dispatcher}\n"
    )
    return path, jobs


def main() -> None:
    """Measure the rows that are asked for."""
    trace = kth()
    hpcsched = str(Path(sys.executable).with_name("hpcsched"))
    rows = sys.argv[1:] or [*LOGS, *MADE_UP, *SCENARIOS]
    with TemporaryDirectory() as name:
        folder = Path(name)
        for row in rows:
            scenario, jobs = scenario_of(row, folder)
            commands = {
                "script": [sys.executable, baseline_script.__file__, "easy", str(trace), "100"],
                "hpcsched": [
                    hpcsched, "run", str(scenario), "--out", str(folder / "out"), "--force",
                ],
            }  # fmt: skip
            report(f"{row}, whole process", run_processes(commands, RUNS), "script", jobs)


if __name__ == "__main__":
    main()
