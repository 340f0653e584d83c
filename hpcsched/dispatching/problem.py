"""The dispatching problem: all that a dispatcher may know, at one simulated instant."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.additional import NO_DATA, AdditionalData
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.problem_pools import ProblemPools, pools_of
from hpcsched.system.allocation import Allocation, Interval, SlotMap
from hpcsched.system.node_outages import Outage
from hpcsched.system.request import Request
from hpcsched.system.space import NodeSpace
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import Job


class WaitingJob(NamedTuple):
    """A queued job; `demand` is its largest share of the system (see `System.demand`).

    `job` is as its user submitted it, and `request` what it may be given if it starts now: the
    same, on such of its nodes as stay in service for it. Room is found for `request`.
    """

    job_id: int
    submit_time: int
    units: int
    unit_request: tuple[int, ...]
    predicted_run_time: int
    demand: int
    job: Job
    request: Request

    @property
    def area(self) -> int:
        """Demand × predicted run time."""
        return self.demand * self.predicted_run_time


def waiting_job(job: Job, predicted_run_time: int, system: System) -> WaitingJob:
    """Return a job as it waits where all of its nodes are in service."""
    request = job.request
    units, unit_request = request.units, request.unit_request
    return WaitingJob(
        job_id=job.job_id,
        submit_time=job.submit_time,
        units=units,
        unit_request=unit_request,
        predicted_run_time=predicted_run_time,
        demand=system.demand(units, unit_request),
        job=job,
        request=request,
    )


class RunningJob(NamedTuple):
    """A running job; `predicted_end_time` lies after now even if the prediction has run out."""

    predicted_end_time: int
    job_id: int
    start_time: int
    units: int
    allocation: Allocation
    waiting: WaitingJob


class DispatchingProblem(NamedTuple):
    """An immutable snapshot: one dispatching round asks a dispatcher about it.

    `queue` is in order of arrival, `running` in order of predicted end. It holds no real run time:
    a running job that has outlived its prediction is said to end when the scenario's correction
    says, at least one second from now.

    What is free comes in one of two forms (see `hpcsched.system.space`): `free_slots`, with the
    `slot_map` that numbers them, where all jobs ask for equal units; `free_amounts` by resource
    type and node, `[R, N]`, otherwise. `availability` holds either way.

    A system may have `pools`, which belong to no node: a start must fit in them as well.

    `outages` are those that are announced and not over, by their start. Nobody need look at them to
    decide rightly: the `request` of a queued job is bound to nodes that stay in service for it if
    it starts now. What plans make of later starts is up to the dispatcher.

    `explain` asks for a reason for each queued job, which must not change what starts. `additional`
    is what observers tell, by their names; it may be empty.

    The arrays are worked out anew at each access; keep what you need.
    """

    now: int
    round: int
    queue: tuple[WaitingJob, ...]
    running: tuple[RunningJob, ...]
    system: System
    objective: Objective
    free_slots: tuple[Interval, ...] | None = None
    slot_map: SlotMap | None = None
    free_amounts: IntArray | None = None
    explain: bool = False
    additional: AdditionalData = NO_DATA
    outages: tuple[Outage, ...] = ()

    @property
    def capacity(self) -> IntArray:
        """Capacity per node and resource type, `[N, R]`, read-only."""
        return self.system.capacity

    @property
    def availability(self) -> IntArray:
        """Capacity less what running jobs hold, `[N, R]`."""
        if self.free_amounts is not None:
            return self.free_amounts.T
        space = NodeSpace(self.system)
        for running in self.running:
            space.claim(running.allocation, running.waiting.request)
        space.available.flags.writeable = False
        return space.available.T

    @property
    def pools(self) -> ProblemPools | None:
        """What is free of the system's pools, and what jobs draw; None where it has none."""
        return pools_of(self)

    @property
    def units(self) -> IntArray:
        """Units of each queued job, `[J]`."""
        return _column([job.units for job in self.queue])

    @property
    def unit_requests(self) -> IntArray:
        """What a unit of each queued job asks for, `[J, R]`."""
        rows = [job.unit_request for job in self.queue]
        return _column(rows).reshape(len(rows), len(self.system.resource_types))

    @property
    def predicted_run_times(self) -> IntArray:
        """Predicted run time of each queued job in seconds, `[J]`."""
        return _column([job.predicted_run_time for job in self.queue])

    @property
    def submit_times(self) -> IntArray:
        """Submit time of each queued job in seconds, `[J]`."""
        return _column([job.submit_time for job in self.queue])


def _column(values: Sequence[int] | Sequence[tuple[int, ...]]) -> IntArray:
    column = np.array(values, dtype=np.int64)
    column.flags.writeable = False
    return column
