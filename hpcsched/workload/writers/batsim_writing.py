"""Writer of workloads of Batsim, which the trace source `batsim` reads back."""

import json
from itertools import islice
from pathlib import Path

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.batsim import DELAY
from hpcsched.workload.trace_source import TraceSource
from hpcsched.workload.writers.trace_writing import (
    WAITS,
    Losses,
    Written,
    check_trace_target,
    kept_waits,
    opened,
)


def write_batsim(
    path: Path,
    source: TraceSource,
    system: System,
    *,
    note: str,
    limit: int | None = None,
    force: bool = False,
) -> Written:
    """Write the jobs of a source, in their order, as a workload of Batsim.

    Each job requests as many resources as it has units, and has a profile with a delay of its run
    time; jobs of the same run time share one. `nb_res` is the largest request; the description
    holds the trace's comments. Equal jobs give equal bytes. After an error the file is unchanged.

    Parameters
    ----------
    path
        Target; gzip if its name ends in `.gz`.
    limit
        Maximum number of jobs; None: all.

    Raises
    ------
    InputError
        If the file exists or cannot be written, or the trace cannot be used.
    """
    check_trace_target(path, source, force=force)
    count = largest = 0
    waits = kept_waits(source)
    losses = Losses(())
    run_times: set[int] = set()
    with opened(path) as file:
        file.write(b'{"jobs": [')
        for traced in islice(source.jobs(), limit):
            job, run_time = traced
            file.write(f"{',' if count else ''}\n{_record(traced)}".encode())
            count, largest = count + 1, max(largest, job.units)
            run_times.add(run_time)
            asked = {t: n for t, n in system.declared(job.unit_request).items() if n}
            losses.note(job, one_core=asked == {"core": 1})
            losses.counts[WAITS] += job.job_id in waits
        description = json.dumps("\n".join([*source.comments, f"Note: {note}"]))
        file.write(f'\n],\n"description": {description},\n'.encode())
        file.write(f'"nb_res": {largest},\n"profiles": {{'.encode())
        # Sorted: the order of a set differs between runs, and the file must not.
        for number, run_time in enumerate(sorted(run_times)):
            profile = json.dumps({"type": DELAY, "delay": run_time})
            file.write(f'{"," if number else ""}\n"{run_time}": {profile}'.encode())
        file.write(b"\n}}\n")
    return Written(path, count, path.stat().st_size, lost=dict(+losses.counts))


def _record(traced: TracedJob) -> str:
    job = traced.job
    return json.dumps(
        {
            "id": str(job.job_id),
            "subtime": job.submit_time,
            "walltime": job.requested_time,
            "res": job.units,
            "profile": str(traced.run_time),
        }
    )
