"""The core alone: reading and replaying KTH-SP2, without imports and without results on disk."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import baseline_script as script
from benchmarks.measure import report, run_functions
from benchmarks.scenarios import kth, write_scenario
from hpcsched.runs.assembly import assemble
from hpcsched.runs.runner import parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.engine import Simulation

RUNS = 5
JOBS = 28481
NODE_LEVEL_JOBS = 3000


def replay(scenario_file: Path, jobs: int | None = None) -> Callable[[], object]:
    """Return what reads and replays a scenario's trace, observed by nobody."""
    limit = [] if jobs is None else [f"trace.jobs={jobs}"]
    scenario = load_scenario(scenario_file, limit)

    def run() -> None:
        assembly = assemble(scenario)
        Simulation(parts_of(assembly, ())).run(assembly.source.jobs())

    return run


def main() -> None:
    """Measure EASY, List-FCFS, the simulator alone, and the two forms of what is free."""
    trace = str(kth())
    with TemporaryDirectory() as name:
        folder = Path(name)
        for dispatcher, decide in (("easy", script.easy_round), ("list", script.list_round)):
            functions = {
                "script": lambda decide=decide: script.replay(script.read(trace), decide, 100),
                "hpcsched": replay(write_scenario(folder, kth(), dispatcher)),
            }
            samples = run_functions(functions, RUNS)
            report(f"KTH-SP2, core alone, {dispatcher}", samples, "script", JOBS)

        samples = run_functions({"reject": replay(write_scenario(folder, kth(), "reject"))}, RUNS)
        report("KTH-SP2, one round a job and no more (reject)", samples, "reject", JOBS)

        for dispatcher in ("easy", "list"):
            functions = {
                "aggregated": replay(write_scenario(folder, kth(), dispatcher), NODE_LEVEL_JOBS),
                "node level": replay(
                    write_scenario(folder, kth(), dispatcher, aggregated=False),
                    NODE_LEVEL_JOBS,
                ),
            }
            title = f"KTH-SP2, first {NODE_LEVEL_JOBS} jobs, {dispatcher}"
            report(title, run_functions(functions, 2), "aggregated", NODE_LEVEL_JOBS)


if __name__ == "__main__":
    main()
