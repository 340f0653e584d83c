"""Writing of dispatching problems as lines of text."""

import json
from collections.abc import Mapping
from operator import index
from typing import Any

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.space import Allocation, SlotAllocation
from hpcsched.workload.job_columns import BOUNDS, NUMBERED, TEXTS

_OPTIONAL = (*NUMBERED, *TEXTS)
# Numbers of nodes may be many; they come last.
_BOUNDS = sorted(BOUNDS, key=lambda column: column.kind == "numbers")
Placed = tuple[int, Allocation]


class Encoder:
    """Writer of the lines of a file, one after another (see `ProblemLine`).

    It remembers the last problem alone. Equal problems give equal bytes. Either all problems are
    `aggregated`, with allocations of slots, or none.
    """

    def __init__(self, *, aggregated: bool) -> None:
        self._aggregated = aggregated
        self._jobs: Mapping[int, WaitingJob] = {}
        self._placed: Mapping[int, Placed] = {}

    def encode(self, problem: DispatchingProblem) -> bytes:
        """Return the line of a problem, with its end."""
        jobs = {job.job_id: job for job in problem.queue}
        jobs |= {running.job_id: running.waiting for running in problem.running}
        told = {
            job_id: job
            for job_id, job in jobs.items()
            # Identity first: nearly all jobs are the very objects of the last problem, and a
            # comparison goes through all their fields.
            if (known := self._jobs.get(job_id)) is not job and known != job
        }
        placed = {
            running.job_id: (running.start_time, running.allocation) for running in problem.running
        }
        # A job that is described anew is placed anew: the decoder releases it by its old request.
        newly = [
            running
            for running in problem.running
            if running.job_id in told or self._placed.get(running.job_id) != placed[running.job_id]
        ]
        content: dict[str, Any] = {"round": problem.round, "now": problem.now}
        if told:
            content["jobs"] = [_job(waiting) for waiting in told.values()]
        if newly:
            content["placed"] = [self._place(running) for running in newly]
        if problem.running:
            content["running"] = [(job.job_id, job.predicted_end_time) for job in problem.running]
        content["queue"] = [job.job_id for job in problem.queue]
        self._jobs, self._placed = jobs, placed
        return as_line(content)

    def _place(self, running: RunningJob) -> dict[str, Any]:
        allocation = running.allocation
        where: dict[str, Any]
        if self._aggregated and isinstance(allocation, SlotAllocation):
            where = {"slots": allocation.intervals}
        else:
            where = {"nodes": allocation.nodes, "node_units": allocation.units}
        return {"job_id": running.job_id, "start_time": running.start_time, **where}


def as_line(content: Mapping[str, Any]) -> bytes:
    """Return a JSON object as a line."""
    # Whole numbers of numpy, which plugins may bring, are whole numbers too.
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, default=index)
    return f"{text}\n".encode()


def _job(waiting: WaitingJob) -> dict[str, Any]:
    job, request = waiting.job, waiting.request
    content: dict[str, Any] = {
        "job_id": job.job_id,
        "submit_time": job.submit_time,
        "units": request.units,
        "unit_request": request.unit_request,
        "requested_time": job.requested_time,
        "predicted_run_time": waiting.predicted_run_time,
    }
    given = ((name, getattr(job, name)) for name in _OPTIONAL)
    content |= {name: value for name, value in given if value is not None}
    for column in _BOUNDS:
        value = column.get(request)
        # Not `if value`: an empty set of nodes is a bound too, and one that nothing fits.
        if value is not None and value is not False:
            content[column.name] = column.told(value)
    if request.shared_requests:
        content["shared_requests"] = request.shared_requests
    return content
