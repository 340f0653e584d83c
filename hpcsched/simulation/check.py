"""Checks a decision: allocations before room is taken for them, reasons before they are told."""

from collections.abc import Iterable
from itertools import pairwise

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.reasons import REASON_KINDS, Reason
from hpcsched.system.allocation import Allocation, NodeAllocation, SlotAllocation, SlotMap
from hpcsched.system.system import System
from hpcsched.workload.job import Job


def check_allocation(
    system: System, allocation: object, job: Job, slot_map: SlotMap | None
) -> Allocation:
    """Return the allocation; raise ValueError unless it places exactly the job's units.

    `slot_map` numbers the slots where the system is kept as slots. Whether the room is free is
    another question, which claiming it answers.
    """
    if slot_map is not None and isinstance(allocation, SlotAllocation):
        if allocation.slot_map is not slot_map and not allocation.slot_map.numbers_like(slot_map):
            raise ValueError("its slots are numbered otherwise than the problem's")
        placed, last = 0, 0
        for low, high in allocation.intervals:
            if not last <= low < high <= slot_map.total:
                raise ValueError(f"slots {low} to {high} are empty, unknown or out of order")
            placed, last = placed + high - low, high
    elif isinstance(allocation, NodeAllocation | SlotAllocation):
        _check_nodes(system, allocation, job)
        placed = sum(allocation.units)
    else:
        raise ValueError(f"expected an allocation, found {type(allocation).__name__}")
    if placed != job.units:
        raise ValueError(f"expected {job.units} units to be placed, found {placed}")
    if job.scatter:
        for node, count in zip(allocation.nodes, allocation.units, strict=True):
            if count > 1:
                raise ValueError(
                    f"expected each unit on a node of its own, found {count} units on node"
                    f" {system.node_name(node)}"
                )
    return allocation


def check_reasons(reasons: object, queue: Iterable[WaitingJob]) -> None:
    """Raise ValueError unless each reason is about another job of the queue, of a known kind."""
    if not isinstance(reasons, tuple):
        raise ValueError(f"expected a tuple of reasons, found {reasons!r}")
    queued = {job.job_id for job in queue}
    explained: set[int] = set()
    for reason in reasons:
        if not isinstance(reason, Reason):
            raise ValueError(f"expected a reason, found {reason!r}")
        job_id = reason.job_id
        if job_id in explained:
            raise ValueError(f"job {job_id} is given two reasons")
        if job_id not in queued:
            raise ValueError(f"job {job_id} is given a reason, and was not in the queue")
        if reason.kind not in REASON_KINDS:
            kinds = ", ".join(REASON_KINDS)
            raise ValueError(
                f"job {job_id} is given a reason of the kind {reason.kind!r}; there are: {kinds}"
            )
        numbers = (reason.job, reason.time)
        if not isinstance(reason.detail, str) or any(
            number is not None and not isinstance(number, int) for number in numbers
        ):
            raise ValueError(
                f"job {job_id}: expected whole numbers or None as job and time of its reason, and"
                f" text as detail, found {reason!r}"
            )
        explained.add(job_id)


def _check_nodes(system: System, allocation: Allocation, job: Job) -> None:
    nodes, units = allocation.nodes, allocation.units
    if len(nodes) != len(units):
        raise ValueError(f"{len(nodes)} nodes are named, with units for {len(units)}")
    if any(type(n) is not int for n in (*nodes, *units)):
        raise ValueError("nodes and units must be whole numbers")
    if any(a >= b for a, b in pairwise(nodes)):
        raise ValueError("nodes must be ascending, each named once")
    if nodes and not 0 <= nodes[0] <= nodes[-1] < system.node_count:
        raise ValueError(f"nodes must be from 0 to {system.node_count - 1}, found {nodes}")
    if any(count < 1 for count in units):
        raise ValueError(f"at least one unit must be placed on each node named, found {units}")
    if job.node_groups is not None:
        for node in nodes:
            group = system.groups[int(system.group_of[node])].name
            if group not in job.node_groups:
                raise ValueError(f"node {system.node_name(node)} is not in a group that it may use")
    if job.allowed_nodes is not None:
        for node in nodes:
            if node not in job.allowed_nodes:
                raise ValueError(f"node {system.node_name(node)} is not one that it may use")
