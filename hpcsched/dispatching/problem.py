"""Dispatching problems: everything that a dispatcher may know, at one simulated instant."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from hpcsched._core import Limits
from hpcsched.dispatching.additional import NO_DATA, AdditionalData
from hpcsched.dispatching.decision import Decision
from hpcsched.metrics.metric import Table
from hpcsched.system.outages import Outage
from hpcsched.system.shared_resources import SharedResource, steps_from
from hpcsched.system.space import (
    Amounts,
    NodeAllocation,
    drawn_by_all,
    idle_room,
    most_draw,
)
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job import Job


class Objective(Protocol):
    """Protocol of a quantity over jobs that dispatchers may minimise and that every run reports."""

    def measure(self, jobs: Table) -> float | None:
        """Return the value over the jobs that ran, finite and in its own unit; None without jobs.

        Parameters
        ----------
        jobs
            In batches of columns: times in seconds, `[J]` each.
        """


class WaitingJob(NamedTuple):
    """A queued job.

    Room is looked for on behalf of `request`, which may be narrower than that of `job`.

    Times are in seconds.

    Attributes
    ----------
    unit_request
        Amount of each resource type that a unit requests, `[R]`.
    demand
        Largest share of the system, as a whole number (see `System.demand`).
    request
        Request for a start now: that of `job`, bound to those of its nodes that stay in service for
        it.
    expected_run_time
        Mean run time of alike jobs, learnt from those that had ended at the submission (see
        `ExpectedRunTimes`); the prediction where nothing is learnt. It is at most the prediction.
    """

    job_id: int
    submit_time: int
    units: int
    unit_request: tuple[int, ...]
    predicted_run_time: int
    demand: int
    job: Job
    request: Request
    expected_run_time: int

    @property
    def area(self) -> int:
        """Demand × predicted run time."""
        return self.demand * self.predicted_run_time


def waiting_job(
    job: Job, predicted_run_time: int, system: System, expected_run_time: int | None = None
) -> WaitingJob:
    """Return the queued form of a job, for a system with all of the job's nodes in service.

    Parameters
    ----------
    expected_run_time
        None: as predicted.
    """
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
        expected_run_time=expected_run_time or predicted_run_time,
    )


class RunningJob(NamedTuple):
    """A running job.

    Attributes
    ----------
    predicted_end_time
        Predicted end, in seconds; always after now, by a correction if the prediction has run out.
    """

    predicted_end_time: int
    job_id: int
    start_time: int
    units: int
    allocation: NodeAllocation
    waiting: WaitingJob


class ProblemLimits(NamedTuple):
    """Limits of the jobs of a dispatching problem.

    Attributes
    ----------
    core
        Limits in the core, with what counts against them.
    sets
        Number of the set of limits of each job, by job number; -1: none.
    words
        Limits in words.
    """

    core: Limits
    sets: Mapping[int, int]
    words: Sequence[str]


class DispatchingProblem(NamedTuple):
    """Immutable snapshot that one dispatching round puts to a dispatcher.

    It contains no real run time: a running job that has outlived its prediction has the end that
    the scenario's correction gives it, at least one second from now.

    If the system has `shared_resources`, shared resources of no node, a start must fit in them as
    well.

    Dispatchers may ignore outages: each queued job's `request` already excludes nodes that go down
    before its predicted end if it starts now. Later starts in plans are up to the dispatcher.

    The array properties are computed at each access; keep the results.

    Attributes
    ----------
    queue
        Queued jobs in order of arrival, `[J]`.
    free_amounts
        Free amount by resource type and node, `[R, N]`.
    free_units
        Number of units that fit now if all jobs of the run request equal units on any node, so that
        counting them is exact; None otherwise.
    explain
        Whether to return a reason for each queued job; it must not change the starts.
    outages
        Outages that are announced and not over, by their start.
    limits
        Limits for rules of the core. Other dispatchers need not look at limits: they are shown jobs
        that may all start together.
    """

    now: int
    round: int
    queue: tuple[WaitingJob, ...]
    running: tuple[RunningJob, ...]
    system: System
    objective: Objective
    free_amounts: IntArray
    free_units: int | None = None
    explain: bool = False
    additional: AdditionalData = NO_DATA
    outages: tuple[Outage, ...] = ()
    limits: ProblemLimits | None = None

    @property
    def capacity(self) -> IntArray:
        """Capacity per node and resource type, `[N, R]`, read-only."""
        return self.system.capacity

    @property
    def availability(self) -> IntArray:
        """Capacity minus allocated amounts, per node and resource type, `[N, R]`."""
        return self.free_amounts.T

    @property
    def shared_resources(self) -> "ProblemSharedResources | None":
        """Free amounts of shared resources and draws of jobs; None for a system without any."""
        return shared_resources_of(self)

    @property
    def units(self) -> IntArray:
        """Number of units of each queued job, `[J]`."""
        return _column([job.units for job in self.queue])

    @property
    def unit_requests(self) -> IntArray:
        """Amount of each resource type that a unit of each queued job requests, `[J, R]`."""
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
    # Always int64, also for an empty queue, for which numpy would choose float64.
    column = np.array(values, dtype=np.int64)
    column.flags.writeable = False
    return column


# Checked by method, so that classes of plugins need no base class.
@runtime_checkable
class JobEventObserver(Protocol):
    """Protocol of an object that is notified of every start and end of a job.

    Dispatchers, queue orders and allocators that have both methods are notified, once for each
    event, in the order of simulated events, before the next problem is put to them. A problem that
    is solved by itself, as a recorded one is, comes without a history: it contains the running
    jobs, not those that have ended.
    """

    def job_started(self, job: RunningJob) -> None:
        """Record the start of a job, at its start time."""

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Record the end of a job, at its end in seconds."""


class Dispatcher(Protocol):
    """Protocol of a dispatcher, which sees neither the future nor real run times.

    One with an attribute `plans_past_outages` that is True is also shown the jobs that too few
    nodes are open to before the end of an announced outage. Others are not.

    Examples
    --------
    A dispatcher that starts nothing and rejects nothing:

    >>> class Idle:
    ...     def dispatch(self, problem: DispatchingProblem) -> Decision:
    ...         return Decision()
    """

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now, with their nodes, and to reject; all others wait.

        A decision that cannot be carried out ends the run with a `DecisionError`.
        """


def waits_for_outage(problem: DispatchingProblem, job: WaitingJob) -> bool:
    """Return whether too few nodes are open to a job before the end of an announced outage."""
    return job.request != job.job.request and (
        idle_room(problem.system, job.request).units < job.units
    )


def plans_past_outages(dispatcher: Dispatcher) -> bool:
    """Return whether a dispatcher is shown jobs that wait for the end of announced outages."""
    return getattr(dispatcher, "plans_past_outages", False)


class ProblemSharedResources(NamedTuple):
    """The `P` shared resources of a problem with `J` queued and `K` running jobs.

    Shared nodes are switched off with the last job on them, and their draw is counted as that
    job's, in the order of predicted ends. The arrays are read-only.

    Attributes
    ----------
    free
        Free amount now, `[P]`; negative where a capacity has fallen below the draw of running jobs.
    draws
        Upper bound on each queued job's draw, `[J, P]`, as if it switched on all of its nodes;
        enough for it to start.
    allocated
        Amount that becomes free with the end of each running job, `[K, P]`.
    """

    now: int
    shared_resources: tuple[SharedResource, ...]
    free: IntArray
    draws: IntArray
    allocated: IntArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shared resources, `[P]`."""
        return tuple(resource.name for resource in self.shared_resources)

    def capacity_from_now(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield pairs of a time and the capacities from then on, `[P]`; the first time is `now`.

        The iterator is infinite if changes recur.
        """
        return steps_from(self.shared_resources, self.now)


def shared_resources_of(problem: "DispatchingProblem") -> ProblemSharedResources | None:
    """Return a problem's view of the shared resources; None for a system without any."""
    shared_resources = problem.system.shared_resources
    if not shared_resources:
        return None
    allocated = _rows(allocated_draws(problem), shared_resources)
    draws = [most_draw(problem.system, job.request) for job in problem.queue]
    capacity = [resource.capacity_at(problem.now) for resource in shared_resources]
    # Not clipped at 0: plans add the draws of jobs that end to this balance.
    free = np.array(capacity, dtype=np.int64) - allocated.sum(axis=0)
    free.flags.writeable = False
    return ProblemSharedResources(
        problem.now, shared_resources, free, _rows(draws, shared_resources), allocated
    )


def allocated_draws(problem: "DispatchingProblem") -> list[Amounts]:
    """Return the amounts that become free with the end of each running job, `[K, P]`."""
    running = [(job.allocation, job.waiting.request) for job in problem.running]
    return drawn_by_all(problem.system, running)


def _rows(amounts: Sequence[Amounts], shared_resources: Sequence[SharedResource]) -> IntArray:
    rows = np.array(amounts, dtype=np.int64).reshape(len(amounts), len(shared_resources))
    rows.flags.writeable = False
    return rows
