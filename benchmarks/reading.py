"""Reading real logs as columns, beside records made of these."""

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import report, run_functions
from benchmarks.scenarios import kth
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, batches_of, columns_of
from hpcsched.workload.readers.swf import SwfParams, SwfSource
from hpcsched.workload.trace_source import TraceSource

RUNS = 5
LOGS = {
    "KTH-SP2-1996-2.swf.gz": 100,
    "SDSC-BLUE-2000-4.2-cln.swf.gz": 1152,
    "CEA-Curie-2011-2.1-cln.swf.gz": 93312,
}
"""Logs that may stand beside KTH-SP2's, and the processors of their machines."""


def record_batches(source: TraceSource) -> Iterator[JobColumns]:
    """Yield the jobs of a source as columns that are made of its records."""
    return columns_of(source.jobs(), RequestNumbers())


def reading(
    log: Path, processors: int, batches: Callable[[TraceSource], Iterator[JobColumns]]
) -> Callable[[], int]:
    """Return what reads a log for a machine, counting its jobs."""
    system = System((NodeGroup("node", processors, {"core": 1}),))
    params = SwfParams(path=str(log), unit={"core": 1}, missing_requested_time="run_time")
    return lambda: sum(len(batch.job_id) for batch in batches(SwfSource(params, system)))


def main() -> None:
    """Measure both ways of reading."""
    for name, processors in LOGS.items():
        log = kth().with_name(name)
        if not log.is_file():
            print(f"\n{name} is not at hand")
            continue
        by_record = reading(log, processors, record_batches)
        functions = {"records": by_record, "columns": reading(log, processors, batches_of)}
        report(name, run_functions(functions, RUNS), "records", by_record())


if __name__ == "__main__":
    main()
