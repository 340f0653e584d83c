"""Whole processes: `hpcsched run` on KTH-SP2 beside the script, and commands that are short."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import baseline_script
from benchmarks.measure import report, run_processes
from benchmarks.scenarios import kth, write_scenario

RUNS = 5
JOBS = 28481


def main() -> None:
    """Measure EASY and List-FCFS, then the time that commands take to start."""
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
        out = ["--out", str(folder / "ten"), "--force", "--set", "trace.jobs=10"]
        commands = {
            "python": [sys.executable, "-c", "pass"],
            "run": [hpcsched, "run", str(scenario), *out],
            "status": [hpcsched, "status", str(folder / "ten")],
            "validate": [hpcsched, "validate", str(scenario)],
            "help": [hpcsched, "--help"],
        }
        report("Short commands; a run of ten jobs", run_processes(commands, 7), "python", 10)


if __name__ == "__main__":
    main()
