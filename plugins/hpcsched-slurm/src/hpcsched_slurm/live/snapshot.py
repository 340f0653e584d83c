"""Conversion of a cluster's state into a dispatching problem, with outages and shared resources."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import (
    DispatchingProblem,
    Objective,
    RunningJob,
    WaitingJob,
    waiting_job,
)
from hpcsched.prediction.predictor import Correction, corrected_run_time
from hpcsched.system.cluster import ClusterJob, ClusterOutage, ClusterState
from hpcsched.system.outages import Outage
from hpcsched.system.space import NodeAllocation, most_draw, units_that_fit
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job import Job
from hpcsched_slurm.live.group_usage import GroupUsage
from hpcsched_slurm.live.site import DAY, Site, shares

ALWAYS_THERE = frozenset({"core", "mem"})
"""Resource types that every job asks for, and that a scenario may leave out."""


class Snapshot(NamedTuple):
    """A dispatching problem of a cluster.

    Attributes
    ----------
    queue
        The cluster's jobs of the queue, by number.
    left_out
        Reasons of the jobs that are not in it.
    beyond
        Held jobs that only the cluster's own scheduler can place.
    """

    problem: DispatchingProblem
    queue: Mapping[int, ClusterJob]
    left_out: tuple[Reason, ...]
    beyond: tuple[ClusterJob, ...]


class Asked(NamedTuple):
    """Input of a snapshot beside the state of the cluster.

    Attributes
    ----------
    predict
        Function from a job to its predicted run time, in seconds.
    driven
        True if only held jobs are to be placed.
    starting
        Keys of jobs that were told to start and may not have yet: their resources are not free.
    shunned
        Keys of jobs that are left out for now, as the cluster did not start them.
    """

    site: Site
    predict: Callable[[Job], int]
    correction: Correction
    objective: Objective
    driven: bool
    starting: Collection[str] = ()
    shunned: Collection[str] = ()


class NoPlaceError(Exception):
    """A job cannot run on the nodes of the site; the text says why."""


def job_of(job: ClusterJob, site: Site) -> Job:
    """Return a job in the scenario's terms.

    Raises
    ------
    NoPlaceError
        If it can never run there.
    """
    if job.unknown:
        raise NoPlaceError(f"left to the cluster, since it asks for {job.unknown}")
    unknown = sorted(
        set(job.amounts) - set(site.system.resource_types) - ALWAYS_THERE
        - {name for name, amount in job.amounts.items() if not amount}
    )  # fmt: skip
    if unknown:
        raise NoPlaceError(f"it asks for {', '.join(unknown)}, which the system does not have")
    shared = shared_requests(job, site.system)
    lacking = sorted(set(job.shared) - {name for name, _ in shared})
    if lacking:
        raise NoPlaceError(f"it asks for {', '.join(lacking)}, which the system does not have")
    allowed: frozenset[int] | None = None
    if job.allowed is not None:
        allowed = frozenset(site.numbers[name] for name in job.allowed if name in site.numbers)
        if not allowed:
            raise NoPlaceError("none of the nodes that it may use is the scenario's")
        # All nodes are no bound: without one the job counts among those that are alike.
        if len(allowed) == len(site.names):
            allowed = None
    request = Request(
        units=job.units,
        unit_request=site.system.request(shares(job.amounts, site.system)),
        exclusive=job.exclusive,
        allowed_nodes=allowed,
        one_unit_per_node=job.one_unit_per_node,
        shared_requests=shared,
    )
    if not any(request.unit_request):
        raise NoPlaceError("it asks for nothing that the system has")
    if int(units_that_fit(site.system, site.system.capacity.T, request).sum()) < job.units:
        raise NoPlaceError("it does not fit on the idle nodes that it may use")
    return _job(job, site.time(job.submit_time), request)


def _job(job: ClusterJob, submit_time: int, request: Request) -> Job:
    """Return a cluster's job with the given request."""
    return Job(
        job.job_id,
        submit_time,
        request,
        job.requested_time,
        job.user,
        job.group,
        job.application,
        partition=job.partition_number,
        name=job.name,
    )


def snapshot(state: ClusterState, asked: Asked, now: int, round_: int) -> Snapshot:
    """Return the dispatching problem of a cluster at `now`, in seconds since the origin.

    Resources of jobs in any partition are taken, and so are nodes that are down or drained: plans
    assume their return in a day if the cluster does not say when. Reservations are outages. Jobs
    are in order of arrival. Those beyond a limit of the cluster are left out.
    """
    site = asked.site
    space = _Taken(site)
    holding: list[tuple[ClusterJob, Collection[str]]] = []
    elsewhere: list[ClusterJob] = []
    running: list[RunningJob] = []
    queue: dict[int, ClusterJob] = {}
    waiting: list[WaitingJob] = []
    left_out: list[Reason] = []
    beyond: list[ClusterJob] = []
    outages = outages_of(state.outages, site, now)
    for job in state.jobs:
        placed = _nodes_held(job, asked)
        if placed is not None:
            found = _running(job, placed, asked, space, now)
            running += found
            holding.append((job, placed))
            elsewhere += [] if found else [job]
        elif not site.has(job) or job.phase == "ended":
            continue
        elif job.phase == "blocked" or (asked.driven and not job.held):
            left_out.append(Reason(job.job_id, "limit", detail=job.why or "left to the cluster"))
        elif job.key in asked.shunned:
            detail = "the cluster did not start it; it is tried again later"
            left_out.append(Reason(job.job_id, "limit", detail=detail))
        else:
            try:
                wanted = job_of(job, site)
            except NoPlaceError as error:
                left_out.append(Reason(job.job_id, "limit", detail=str(error)))
                beyond.append(job)
                continue
            waits = waiting_job(wanted, asked.predict(wanted), site.system)
            in_service = within_service(waits, outages, site, now)
            if in_service is None:
                detail = closing_names(waits, outages, now)
                left_out.append(Reason(job.job_id, "outage", detail=detail))
                continue
            queue[job.job_id] = job
            waiting.append(in_service)
    system = with_shared(site.system, state.shared, elsewhere)
    # A cluster lists its jobs in any order, and a decision must not depend on that.
    waiting.sort(key=lambda one: (one.submit_time, one.job_id))
    waiting = _within_limits(waiting, queue, system, GroupUsage(holding), left_out)
    queue = {one.job_id: queue[one.job_id] for one in waiting}
    usable = {node.name for node in state.nodes if node.usable}
    back = {node.name: node.back for node in state.nodes if not node.usable}
    # A node that the cluster does not list any more cannot be used either.
    gone = [name for name in site.names if name not in usable and name not in back]
    ends = returns(back | dict.fromkeys(gone), site, now, DAY)
    for number, end in {**closed_now(outages, now), **ends}.items():
        running += space.block(number, now, end)
    running.sort(key=lambda one: (one.predicted_end_time, one.job_id))
    problem = DispatchingProblem(
        now,
        round_,
        tuple(waiting),
        tuple(running),
        system,
        asked.objective,
        free_amounts=space.frozen(),
        explain=True,
        outages=outages,
    )
    return Snapshot(problem, queue, tuple(left_out), tuple(beyond))


def _within_limits(
    waiting: list[WaitingJob],
    queue: Mapping[int, ClusterJob],
    system: System,
    usage: GroupUsage,
    left_out: list[Reason],
) -> list[WaitingJob]:
    """Return the jobs that no limit holds back; the reasons of the others go to `left_out`."""
    fit = [one for one in waiting if not beyond_capacity(one, system, left_out)]
    held = usage.held_back([queue[one.job_id] for one in fit])
    found = []
    for one in fit:
        limit = held.get(queue[one.job_id].key)
        if limit is None:
            found.append(one)
        else:
            left_out.append(Reason(one.job_id, "limit", detail=limit))
    return found


class _Taken:
    """Remaining resources while jobs are placed, `[R, N]`; never negative."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.free: IntArray = site.system.capacity.T.copy()
        self._blocks = 0

    def take(self, number: int, amounts: tuple[int, ...]) -> tuple[int, ...]:
        """Take amounts of a node as far as they remain, and return the amounts taken."""
        free = self.free[:, number]
        # A cluster may overcommit on purpose; what is free is never less than nothing here.
        taken = np.minimum(free, np.array(amounts, dtype=np.int64))
        self.free[:, number] = free - taken
        return tuple(taken.tolist())

    def block(self, number: int, now: int, end: int) -> list[RunningJob]:
        """Take the rest of a node that no job may use until `end`, as one job."""
        rest = self.take(number, tuple(self.free[:, number].tolist()))
        if not any(rest):
            return []
        self._blocks += 1
        length = end - now
        stand_in = Job(-self._blocks, now, Request(1, rest), length)
        return [_in_place(stand_in, (number,), self._site, start=now, end=end, predicted=length)]

    def frozen(self) -> IntArray:
        """Return the remaining amounts, read-only."""
        self.free.flags.writeable = False
        return self.free


def _nodes_held(job: ClusterJob, asked: Asked) -> Mapping[str, Mapping[str, int]] | None:
    """Return the units of a job by node, held or assigned by a start; None without any."""
    if job.phase == "running":
        return job.placed
    if job.phase == "waiting" and job.wanted and not job.held and job.key in asked.starting:
        return dict.fromkeys(job.wanted, job.amounts)
    return None


def _running(
    job: ClusterJob,
    placed: Mapping[str, Mapping[str, int]],
    asked: Asked,
    space: _Taken,
    now: int,
) -> list[RunningJob]:
    """Return the resources of a job, one entry for all nodes with equal amounts."""
    site = asked.site
    alike: dict[tuple[int, ...], list[int]] = {}
    for name, amounts in placed.items():
        number = site.numbers.get(name)
        if number is None:
            continue
        held = space.take(number, site.system.request(shares(amounts, site.system)))
        if any(held):
            alike.setdefault(held, []).append(number)
    start = site.time(job.start_time) if job.start_time is not None else now
    found: list[RunningJob] = []
    for held, nodes in alike.items():
        # A job draws once from shared resources, however many entries it has.
        shared = () if found else shared_requests(job, site.system)
        request = Request(len(nodes), held, shared_requests=shared)
        seen = _job(job, min(site.time(job.submit_time), start), request)
        predicted = asked.predict(seen)
        end = start + predicted
        if end <= now:
            end = start + corrected_run_time(asked.correction, seen, predicted, now - start)
        found.append(
            _in_place(seen, tuple(sorted(nodes)), site, start=start, end=end, predicted=predicted)
        )
    return found


def _in_place(
    job: Job, nodes: tuple[int, ...], site: Site, *, start: int, end: int, predicted: int
) -> RunningJob:
    allocation = NodeAllocation(nodes, (1,) * len(nodes))
    waiting = waiting_job(job, predicted, site.system)
    return RunningJob(end, job.job_id, start, job.units, allocation, waiting)


def shared_requests(job: ClusterJob, system: System) -> tuple[tuple[str, int], ...]:
    """Return a job's draw from the shared resources that a system has."""
    names = {resource.name for resource in system.shared_resources}
    return tuple(sorted(pair for pair in job.shared.items() if pair[0] in names))


def with_shared(
    system: System, present: Mapping[str, int], elsewhere: Iterable[ClusterJob]
) -> System:
    """Return a system with the present capacities of its shared resources.

    Parameters
    ----------
    present
        Capacities according to the cluster; a resource that it does not list keeps its own.
    elsewhere
        Running jobs that hold none of the system's nodes: what they draw is not there.
    """
    drawn: dict[str, int] = {}
    for job in elsewhere:
        for name, amount in job.shared.items():
            drawn[name] = drawn.get(name, 0) + amount
    found = tuple(
        replace(
            one,
            capacity=max(0, present.get(one.name, one.capacity) - drawn.get(one.name, 0)),
            changes=() if one.name in present else one.changes,
        )
        for one in system.shared_resources
    )
    return system if found == system.shared_resources else replace(system, shared_resources=found)


def beyond_capacity(job: WaitingJob, system: System, told: list[Reason]) -> bool:
    """Return whether a job draws more than a shared resource offers now; add the reason if so.

    No dispatcher could plan such a job.
    """
    for one, amount in zip(system.shared_resources, most_draw(system, job.request), strict=True):
        if amount > one.capacity:
            detail = f"it asks for {amount} {one.name}, of which there are {one.capacity} now"
            told.append(Reason(job.job_id, "limit", detail=detail))
            return True
    return False


def outages_of(announced: Iterable[ClusterOutage], site: Site, now: int) -> tuple[Outage, ...]:
    """Return the outages of a site's nodes that are not over, by start.

    Parameters
    ----------
    now
        The present instant, in seconds since the origin.
    """
    found = []
    for outage in announced:
        nodes = {site.numbers[name] for name in outage.nodes if name in site.numbers}
        start, end = site.time(outage.start), site.time(outage.end)
        if nodes and end > max(start, now):
            found.append(Outage(start, end, tuple(sorted(nodes)), "reservation", outage.name))
    return tuple(sorted(found))


def closed_now(outages: Iterable[Outage], now: int) -> dict[int, int]:
    """Return the end of the outage of each node that is out of service now, by number."""
    closed: dict[int, int] = {}
    for outage in outages:
        if outage.start <= now:
            closed |= {node: max(outage.end, closed.get(node, now)) for node in outage.nodes}
    return closed


def within_service(
    waiting: WaitingJob, outages: Sequence[Outage], site: Site, now: int
) -> WaitingJob | None:
    """Return a job bound to nodes that stay in service for it; None if these are too few.

    A cluster refuses a start that could reach into a reservation, so the requested time counts
    and not the predicted one.
    """
    end = now + max(waiting.job.requested_time, waiting.predicted_run_time)
    closing = {node for one in outages if now < one.start < end for node in one.nodes}
    request = waiting.request
    nodes = request.allowed_nodes
    left = frozenset(range(len(site.names)) if nodes is None else nodes) - closing
    if not closing or left == nodes:
        return waiting
    request = request._replace(allowed_nodes=left)
    if not left or units_that_fit(site.system, site.system.capacity.T, request).sum() < (
        request.units
    ):
        return None
    return waiting._replace(request=request)


def closing_names(waiting: WaitingJob, outages: Iterable[Outage], now: int) -> str:
    """Return the outages that start before a job's end if it starts now, in words."""
    end = now + max(waiting.job.requested_time, waiting.predicted_run_time)
    return ", ".join(dict.fromkeys(one.label for one in outages if now < one.start < end))


def returns(back: Mapping[str, int | None], site: Site, now: int, default: int) -> dict[int, int]:
    """Return the assumed return of each node that cannot be used, by number.

    Parameters
    ----------
    back
        Return of each node by name, in seconds since 1970; None: unknown.
    now
        The present instant, in seconds since the origin.
    default
        Seconds from now where it is unknown.
    """
    found = {}
    for name, instant in back.items():
        number = site.numbers.get(name)
        if number is not None:
            end = now + default if instant is None else site.time(instant)
            found[number] = max(end, now + 1)
    return found
