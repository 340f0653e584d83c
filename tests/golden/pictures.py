"""Schedules as pictures: a row for each core, a column for each second, a letter for each job."""

from textwrap import dedent
from typing import Any

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from tests.builders import Recorder, traced


def job(letter: str, submit_time: int, units: int, run_time: int, **more: Any) -> TracedJob:
    """Return the job of a letter: A has number 1, B number 2, and so on."""
    return traced(ord(letter) - ord("A") + 1, submit_time, units, run_time, **more)


def picture(system: System, recorder: Recorder) -> str:
    """Draw what runs on each core of each node; a dot is an idle second.

    Which of its node's cores a job is drawn on means nothing: the lowest that are free throughout.
    """
    records = sorted(recorder.jobs.values(), key=lambda r: (r.start_time, r.job.job_id))
    length = max(record.end_time for record in records)
    core = system.resource_types.index("core")
    lines = []
    for node, cores in enumerate(system.capacity[:, core].tolist()):
        rows = [["."] * length for _ in range(cores)]
        for record in records:
            placed = dict(zip(record.allocation.nodes, record.allocation.units, strict=True))
            needed = placed.get(node, 0) * record.job.unit_request[core]
            seconds = slice(record.start_time, record.end_time)
            free = [row for row in rows if set(row[seconds]) <= {"."}]
            for row in free[:needed]:
                row[seconds] = chr(ord("A") + record.job.job_id - 1) * (
                    record.end_time - record.start_time
                )
        lines += [f"{system.node_name(node)} {''.join(row)}" for row in rows]
    return "\n".join(lines)


def check(system: System, recorder: Recorder, expected: str) -> None:
    """Compare a schedule with a picture of it."""
    assert picture(system, recorder) == dedent(expected).strip()
