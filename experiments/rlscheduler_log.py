"""Writes SDSC-SP2 as the program of RLScheduler reads it; `--help` says how.

A job without a run time, which was cancelled, runs for 10 s there; others leave it out. Windows are
within the first 10,000 jobs.
"""

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

LOG = "SDSC-SP2-1998-4.2-cln.swf.gz"
RUN_TIME = 3
"""Place of the run time in a record of the Standard Workload Format, counted from 0."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the log where the command line says."""
    parser = argparse.ArgumentParser(prog="python experiments/rlscheduler_log.py")
    parser.description = "Write SDSC-SP2 with 10 s for each run time that is not given."
    parser.add_argument("traces", type=Path, help=f"the folder with {LOG}")
    parser.add_argument("out", type=Path, help="the folder for SDSC-SP2.swf")
    chosen = parser.parse_args(arguments)
    with gzip.open(chosen.traces / LOG, "rt", encoding="utf-8") as lines:
        records = [line.split() for line in lines if line[0] != ";"]
    for record in records:
        if int(record[RUN_TIME]) < 0:
            record[RUN_TIME] = "10"
    text = "".join(" ".join(record) + "\n" for record in records)
    (chosen.out / "SDSC-SP2.swf").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
