"""Writes two logs that change in their middle; `--help` says how.

They are the first jobs of Lublin-1 and of KTH-SP2, one log after the other. Requested times of
Lublin-1 are set to the run times, those of KTH-SP2 are the users'. So predictions by requested time
are exact in one half and poor in the other. docs/hyper.md shows what comes of that.
"""

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SUBMIT, RUN_TIME, PROCESSORS, REQUESTED_PROCESSORS, REQUESTED_TIME = 1, 3, 4, 7, 8
"""Places of these fields in a record of the Standard Workload Format, counted from 0."""

WIDER = 2
"""Jobs of KTH-SP2 were of 100 processors; here are 256."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both logs where the command line says."""
    parser = argparse.ArgumentParser(prog="python experiments/changing_log.py")
    parser.description = "Write logs of Lublin-1 before KTH-SP2, and after it."
    parser.add_argument("traces", type=Path, help="the folder with both logs")
    parser.add_argument("out", type=Path, help="the folder for lublin-kth.swf and kth-lublin.swf")
    parser.add_argument("--jobs", type=int, default=10_000, help="jobs of each log")
    chosen = parser.parse_args(arguments)
    lublin, kth = _lublin(chosen.traces, chosen.jobs), _kth(chosen.traces, chosen.jobs)
    for name, logs in (("lublin-kth", (lublin, kth)), ("kth-lublin", (kth, lublin))):
        text = "".join(" ".join(map(str, record)) + "\n" for record in joined(logs))
        (chosen.out / f"{name}.swf").write_text(text, encoding="utf-8")
    return 0


def joined(logs: Sequence[Sequence[list[int]]]) -> Iterator[list[int]]:
    """Return all records; a log begins when the last job of the log before it is submitted."""
    number, begin = 0, 0
    for log in logs:
        shift = begin - log[0][SUBMIT]
        for record in log:
            number += 1
            begin = record[SUBMIT] + shift
            yield [number, begin, *record[SUBMIT + 1 :]]


def _lublin(traces: Path, jobs: int) -> list[list[int]]:
    log = _records(traces / "Lublin-1.swf.gz", jobs)
    for record in log:
        record[REQUESTED_TIME] = record[RUN_TIME]
    return log


def _kth(traces: Path, jobs: int) -> list[list[int]]:
    log = _records(traces / "KTH-SP2-1996-2.1-cln.swf.gz", jobs)
    for record in log:
        record[PROCESSORS] *= WIDER
        record[REQUESTED_PROCESSORS] *= WIDER
    return log


def _records(path: Path, jobs: int) -> list[list[int]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [[int(field) for field in line.split()] for line in lines if line[0] != ";"]
    return [record for record in records if record[RUN_TIME] > 0][:jobs]


if __name__ == "__main__":
    sys.exit(main())
