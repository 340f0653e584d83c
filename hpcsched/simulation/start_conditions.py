"""The conditions under which jobs may start, beside the room that is free.

These are the jobs that a job waits for, outages, the limits of partitions, and pools. Each has a
module of its own and knows nothing of the others; the engine asks them all together, here. A
simulation without any of them has none of this.
"""

from collections import deque
from collections.abc import Sequence

from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.simulation.dependencies import Dependencies
from hpcsched.simulation.downtime import NOTHING_LOST, Downtime, LostAttempts
from hpcsched.simulation.limits import Admission, Limits
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.pool_accounts import OverdrawError, PoolAccounts
from hpcsched.system.allocation import Allocation
from hpcsched.system.pools import NEVER
from hpcsched.workload.job import Job


def start_conditions(parts: Parts, downtime: Downtime | None) -> "StartConditions | None":
    """Return the conditions of a simulation; None if room is all that its jobs need."""
    needed = (parts.dependencies, downtime is not None, parts.partitions, parts.system.pools)
    if any(needed) or parts.recorded is not None or parts.instants:
        return StartConditions(parts, downtime)
    return None


class StartConditions:
    """What holds queued jobs back, and when that may change.

    Of a simulation's parts, those are kept that are there. Times are in seconds.
    """

    def __init__(self, parts: Parts, downtime: Downtime | None) -> None:
        self._dependencies = Dependencies() if parts.dependencies else None
        self._downtime = downtime
        self._limits = Limits(parts.partitions, parts.system) if parts.partitions else None
        self._pools = PoolAccounts(parts.system) if parts.system.pools else None
        self._recorded = parts.recorded
        self._instants = deque(parts.instants)
        # In each period of the pools a decision may take another time, as fractions of seconds
        # are carried over, and only one of these times may suit.
        self._periods = 1 if parts.latency is None else parts.latency.fractions
        # The last instant at which anything but what a pool offers changed.
        self._active = 0

    def next_instant(self, now: int, event: int | None, *, waiting: bool) -> int | None:
        """Return the next instant after now at which something happens; None if nothing does.

        `event` is the next one at which a job ends or is submitted, if there is one, and `waiting`
        says whether jobs wait. Others are those at which a job has waited long enough for another,
        or is due by the log, a round is asked for, an outage begins or ends, or a pool changes.
        """
        if waiting and self._dependencies is not None:
            event = _sooner(event, self._dependencies.next_release(now))
        if waiting and self._recorded is not None:
            event = _sooner(event, self._recorded.next_start(now))
        while self._instants and self._instants[0] <= now:
            self._instants.popleft()
        if waiting and self._instants:
            event = _sooner(event, self._instants[0])
        if self._downtime is not None and (waiting or event is not None):
            event = _sooner(event, self._downtime.next_change)
        change = self._next_pool_change(now, alone=event is None) if waiting else None
        if change is not None and (event is None or change < event):
            return change
        if event is not None:
            self._active = event
        return event

    def _next_pool_change(self, now: int, *, alone: bool) -> int | None:
        """Return the next instant after now at which a pool changes, if it matters to the queue.

        If nothing else is to happen, it matters until all that pools offer has been seen.
        """
        if self._pools is None:
            return None
        change = self._pools.next_change(now)
        last = self._pools.all_seen_by(self._active, self._periods) if alone else NEVER - 1
        return change if change <= last else None

    def admit(self, job: Job) -> Admission:
        """Return a job that is submitted as its partition lets it run, or what refuses it."""
        return Admission(job, None) if self._limits is None else self._limits.admit(job)

    def fits_pools(self, waiting: WaitingJob) -> bool:
        """Say whether a job could ever run beside no other for all that pools offer."""
        pools = self._pools
        return pools is None or pools.admits(waiting.request, waiting.predicted_run_time)

    def submitted(self, waiting: WaitingJob, now: int, *, queued: bool) -> None:
        """Take note of a job that was submitted, and has been `queued` or refused."""
        if queued and self._recorded is not None:
            self._recorded.submitted(waiting.job)
        if queued and self._downtime is not None:
            self._downtime.arrived(waiting.job_id)
        if self._dependencies is not None:
            self._dependencies.submitted(waiting.job, now)

    def started(self, running: RunningJob) -> None:
        """Take note of a job that has started."""
        # It may have no run time, and then ends without an instant of its own.
        self._active = running.start_time
        if self._recorded is not None:
            self._recorded.started(running.job_id, running.start_time)
        if self._pools is not None:
            self._pools.started(running.allocation, running.waiting.request)
        if self._limits is not None:
            self._limits.started(running)
        if self._dependencies is not None:
            self._dependencies.started(running.job_id)
        if self._downtime is not None:
            self._downtime.started(running.job_id)

    def released(self, running: RunningJob) -> None:
        """Take note of a job that does not run any more, whether it has ended or lost a node."""
        if self._pools is not None:
            self._pools.ended(running.allocation, running.waiting.request)
        if self._limits is not None:
            self._limits.ended(running)

    def left(self, job_id: int, now: int) -> LostAttempts:
        """Take note of a job that has left the system; return its attempts that were lost."""
        if self._dependencies is not None:
            self._dependencies.left(job_id, now)
        if self._recorded is not None:
            self._recorded.left(job_id)
        return NOTHING_LOST if self._downtime is None else self._downtime.left(job_id)

    def eligible(self, queue: tuple[WaitingJob, ...], now: int) -> tuple[WaitingJob, ...]:
        """Return the queued jobs that nothing here holds back, as dispatchers are shown them."""
        if self._dependencies is not None:
            queue = self._dependencies.eligible(queue, now)
        if self._recorded is not None:
            queue = self._recorded.eligible(queue, now)
        if self._downtime is not None:
            queue = self._downtime.eligible(queue, now)
        if self._limits is not None:
            queue = self._limits.eligible(queue)
        return queue if self._downtime is None else self._downtime.shown(queue)

    def frees(self, queue: Sequence[WaitingJob], now: int) -> bool:
        """Say whether a job that was held back in the last round would not be any more."""
        if self._dependencies is not None:
            if self._dependencies.frees(queue, now):
                return True
            held = self._dependencies.held
            queue = tuple([job for job in queue if job.job_id not in held])
        if self._downtime is not None:
            down = self._downtime.held
            queue = tuple([job for job in queue if job.job_id not in down])
        return self._limits is not None and self._limits.frees(queue)

    def held_back_by(self, job_id: int) -> str | None:
        """Return how `job N is held back` goes on, if it was in the last round; or None."""
        if self._limits is not None and job_id in self._limits.held:
            return f": {self._limits.held[job_id]}"
        if self._dependencies is not None and job_id in self._dependencies.held:
            return " until others have ended"
        if self._downtime is not None and job_id in self._downtime.held:
            return f": {self._downtime.held[job_id]}"
        return None

    def reasons(self) -> tuple[Reason, ...]:
        """Return why each job waits that was held back in the last round."""
        return tuple(
            [
                reason
                for condition in (
                    self._dependencies,
                    self._recorded,
                    self._downtime,
                    self._limits,
                )
                if condition is not None
                for reason in condition.reasons()
            ]
        )

    def closed_to(self, waiting: WaitingJob, node: int, now: int) -> str | None:
        """Return why a node is closed to a job that would start now; None if it is not."""
        return None if self._downtime is None else self._downtime.closed_to(waiting, node, now)

    def obstacle(self, waiting: WaitingJob, allocation: Allocation, now: int) -> str | None:
        """Return why a job may not start now as was decided some time ago; None if it may."""
        if self._pools is not None:
            try:
                self._pools.check(now, allocation, waiting.request)
            except OverdrawError as error:
                return f"{error} since the decision was asked for"
        if self._downtime is not None:
            for node in allocation.nodes:
                closed = self._downtime.closed_to(waiting, node, now)
                if closed is not None:
                    return closed
        return None


def _sooner(one: int | None, other: int | None) -> int | None:
    """Return the earlier of two instants, of which there may be one or none."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
