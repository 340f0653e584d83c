"""Whole processes: `hpcsched run` on KTH-SP2 beside the script of a hundred lines."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import baseline_script
from benchmarks.measure import report, run_processes
from benchmarks.scenarios import kth, write_scenario

RUNS = 5
JOBS = 28481


def main() -> None:
    """Measure EASY and List-FCFS."""
    trace = kth()
    hpcsched = str(Path(sys.executable).with_name("hpcsched"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for dispatcher in ("easy", "list"):
            scenario = write_scenario(folder, trace, dispatcher)
            commands = {
                "script": [sys.executable, baseline_script.__file__, dispatcher, str(trace), "100"],
                "hpcsched": [
                    hpcsched, "run", str(scenario), "--out", str(folder / "out"), "--force",
                ],
            }  # fmt: skip
            title = f"KTH-SP2, whole process, {dispatcher}"
            report(title, run_processes(commands, RUNS), "script", JOBS)


if __name__ == "__main__":
    main()
