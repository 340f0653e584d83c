"""Growth: made-up logs of 10,000, 100,000 and 1,000,000 jobs, as whole processes.

Time should grow with the number of jobs, and memory should not grow at all.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.make_trace import write_trace
from benchmarks.measure import report, run_processes
from benchmarks.scenarios import write_scenario

SIZES = {"ten-thousand": 10**4, "hundred-thousand": 10**5, "million": 10**6}
RUNS = 1


def main() -> None:
    """Measure EASY and the rejecting dispatcher at each size."""
    hpcsched = str(Path(sys.executable).with_name("hpcsched"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for size, jobs in SIZES.items():
            trace = folder / f"{size}.swf"
            write_trace(trace, jobs)
            commands = {
                dispatcher: [
                    hpcsched, "run", str(write_scenario(folder, trace, dispatcher)),
                    "--out", str(folder / "out"), "--force",
                ]
                for dispatcher in ("reject", "easy")
            }  # fmt: skip
            report(
                f"{jobs:,} jobs, whole process",
                run_processes(commands, RUNS, warm_up=0),
                "reject",
                jobs,
            )


if __name__ == "__main__":
    main()
