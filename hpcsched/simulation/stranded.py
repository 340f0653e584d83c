"""Explanations of jobs that wait for ever when nothing runs any more, in words."""

from collections.abc import Iterable, Mapping, Sequence

from hpcsched._core import NEVER, State
from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.occupancy import OverdrawError, SharedResourceAccounts
from hpcsched.simulation.parts import Parts
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import Allocation, most_draw, units_that_fit
from hpcsched.system.system import System


class LateStarts:
    """Explanations of starts that were decided but not carried out."""

    def __init__(self, parts: Parts) -> None:
        self._outages = OutageReasons(parts.outages, parts.system)
        self._shared_resources: SharedResourceAccounts | None = None
        if parts.system.shared_resources and parts.latency is not None:
            self._shared_resources = SharedResourceAccounts(parts.system)

    def started(self, running: RunningJob) -> None:
        """Record a start."""
        if self._shared_resources is not None:
            self._shared_resources.started(running.allocation, running.waiting.request)

    def stopped(self, running: RunningJob) -> None:
        """Record the end of an attempt."""
        if self._shared_resources is not None:
            self._shared_resources.ended(running.allocation, running.waiting.request)

    def why(self, waiting: WaitingJob, allocation: Allocation, now: int, state: State) -> str:
        """Return why a decided start is not carried out, in words."""
        if self._shared_resources is not None:
            try:
                self._shared_resources.check(now, allocation, waiting.request)
            except OverdrawError as error:
                return f"{error} since the decision was asked for"
        closed = (self._outages.closed_to(waiting, node, now, state) for node in allocation.nodes)
        return next(why for why in closed if why is not None)


_MOST_NAMES = 3


class OutageReasons:
    """Explanations from all outages of a replay, and its state."""

    def __init__(self, outages: Outages, system: System) -> None:
        self._system = system
        self._all = outages.all
        self._announced = sorted(outage for outage in outages.all if outage.announced)

    def announced(self, now: int) -> tuple[Outage, ...]:
        """Return the outages that are announced and not over, by start."""
        return tuple([outage for outage in self._announced if outage.end > now])

    def closing(self, waiting: WaitingJob, now: int, state: State) -> str:
        """Return the outages that leave too few nodes to a job that would start now."""
        clear_until = state.clear_until
        end = now + waiting.predicted_run_time
        current = (outage for outage in self._all if outage.start <= now < outage.end)
        names = dict.fromkeys(outage.label for outage in current)
        for outage in self._announced:
            begins = now < outage.start < end
            if begins and (clear_until[list(outage.nodes)] == outage.start).any():
                names.setdefault(outage.label)
        return _first_outage(names)

    def closed_to(self, waiting: WaitingJob, node: int, now: int, state: State) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is open."""
        if not self._all:
            return None
        end, name = now + waiting.predicted_run_time, self._system.node_name(node)
        clear_until = int(state.clear_until[node])
        if state.down[node]:
            return f"node {name} is out of service"
        if clear_until < min(end, NEVER):
            return (
                f"node {name} goes out of service at {clear_until}, and the job is predicted to"
                f" end at {end}"
            )
        return None


def _first_outage(names: Iterable[str]) -> str:
    """Return the first few names, and the number of others."""
    names = list(names)
    shown, more = ", ".join(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


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
