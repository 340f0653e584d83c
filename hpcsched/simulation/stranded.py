"""Explanations of jobs that wait for ever when nothing runs any more, in words."""

from collections.abc import Mapping, Sequence

from hpcsched.dispatching.decision_reasons import Reason
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.space import most_draw, units_that_fit
from hpcsched.system.system import System

_MOST_JOBS = 3


class Stranded:
    """Possible reasons why jobs have waited since the last start, end or submission.

    Attributes
    ----------
    asked
        Seconds of the rounds since then.
    late
        Reasons why decided starts were not carried out, by job number.
    """

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.late: dict[int, str] = {}

    def clear(self) -> None:
        """Reset after a start, an end or a submission."""
        self.asked.clear()
        self.late.clear()


def why_stranded(
    queue: Sequence[WaitingJob], held: Sequence[Reason], stranded: Stranded, system: System
) -> str:
    """Return why the queued jobs wait for ever, the first few one by one."""
    reasons = {reason.job_id: reason for reason in held}
    told = [
        f"job {job.job_id}: {_why(job, reasons, stranded, system)}" for job in queue[:_MOST_JOBS]
    ]
    more = len(queue) - _MOST_JOBS
    return "; ".join([*told, f"and {more} more"] if more > 0 else told)


def _why(job: WaitingJob, held: Mapping[int, Reason], stranded: Stranded, system: System) -> str:
    reason = held.get(job.job_id)
    if reason is not None:
        why = f"held back by a {reason.kind}, {reason.detail or f'job {reason.job} has not ended'}"
        if reason.kind == "limit" and stranded.late:
            # Nothing runs, so what reaches the limit are starts that were decided first.
            why += f", which counts what comes too late each time: {_first_of(stranded.late)}"
        return why
    if job.job_id in stranded.late:
        return (
            f"{stranded.late[job.job_id]}; with the dispatch latency every start of it comes too"
            " late"
        )
    room = int(units_that_fit(system, system.capacity.T, job.request).sum())
    if room < job.units:
        return f"its {job.units} units do not fit on the nodes open to it, which hold {room}"
    lacking = [_lacking(job, at, system) for at in stranded.asked]
    if lacking and all(lacking):
        return (
            f"shared resource {lacking[-1]} offers too little for it, from any decision that"
            " is asked for to its predicted end"
        )
    if stranded.late:
        # Which are tried first in every round, and would have its room.
        others = _first_of(stranded.late)
        return f"the dispatcher keeps its room for what comes too late each time: {others}"
    return "nothing holds it back, but the dispatcher does not start it"


def _first_of(jobs: Mapping[int, str]) -> str:
    """Return the first few of some jobs, in words."""
    return ", ".join(f"job {job}" for job in sorted(jobs)[:_MOST_JOBS])


def _lacking(job: WaitingJob, at: int, system: System) -> str | None:
    """Return the first shared resource with too little for a job started at a second, or None."""
    draw, end = most_draw(system, job.request), at + job.predicted_run_time
    for resource, amount in zip(system.shared_resources, draw, strict=True):
        time = at
        while amount and time < end:
            if resource.capacity_at(time) < amount:
                return resource.name
            time = resource.next_change(time)
    return None
