"""Replays in memory: compiled, event by event, and the script's, over jobs that are read before."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

import hpcsched
from benchmarks import baseline_script as script
from benchmarks.measure import report, run_functions
from benchmarks.scenarios import kth
from hpcsched.runs.assembly import assemble
from hpcsched.runs.replaying import Workload
from hpcsched.runs.runner import parts_of
from hpcsched.scenario import Scenario
from hpcsched.simulation.engine import Simulation

RUNS = 5
SCENARIOS = Path(__file__).parents[1] / "scenarios"
SCRIPTS = {"kth-easy": script.easy_round, "kth-list-fcfs": script.list_round}
NAMES = ("kth-easy", "kth-list-fcfs", "cerit-easy", "cerit-list")
ORDERS = ("fcfs", "sjf", "ljf", "saf", "laf", "spf")


def event_by_event(scenario: Scenario, workload: Workload) -> Callable[[], object]:
    """Return what replays the jobs in Python, observed by nobody."""

    def run() -> None:
        Simulation(parts_of(assemble(scenario), ())).run(iter(workload.jobs))

    return run


def compiled(scenario: Scenario, workload: Workload) -> Callable[[], object]:
    """Return what replays the jobs in compiled code, its tables and its objective included."""
    return lambda: hpcsched.replay(scenario, workload)


def scripted(name: str) -> Callable[[], object]:
    """Return what replays KTH-SP2 in the script."""
    jobs = script.read(str(kth()))
    return lambda: script.replay(jobs, SCRIPTS[name], 100)


def many() -> None:
    """Replay KTH-SP2 under EASY in a hundred variants, and print what that takes."""
    path = SCENARIOS / "kth-easy.yaml"
    workload = hpcsched.read_workload(hpcsched.load_scenario(path))
    variants = [
        f"dispatcher={{name: easy, order: {order}, backfill_order: {behind}}}"
        for order, behind in product(ORDERS, ORDERS)
    ]
    wall, cpu = perf_counter(), process_time()
    for k in range(100):
        scenario = hpcsched.load_scenario(path, [variants[k % len(variants)]])
        hpcsched.replay(scenario, workload)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    print(f"\nKTH-SP2, 100 variants of EASY: wall {wall:.2f} s, cpu {cpu:.2f} s")


def main() -> None:
    """Measure EASY and lists on two logs, one of cores alone and one of cores and memory."""
    for name in NAMES:
        scenario = hpcsched.load_scenario(SCENARIOS / f"{name}.yaml")
        workload = hpcsched.read_workload(scenario)
        functions = {
            "compiled": compiled(scenario, workload),
            "event by event": event_by_event(scenario, workload),
        }
        if name in SCRIPTS:
            functions["script"] = scripted(name)
        samples = run_functions(functions, RUNS)
        report(f"{name}, jobs read before", samples, "compiled", len(workload.jobs))
    many()


if __name__ == "__main__":
    main()
