"""A machine for a log: from its header, or from what its jobs needed."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.header_machine import header_machine


class Machine(NamedTuple):
    """Nodes of equal size.

    Attributes
    ----------
    nodes
        Number of nodes.
    cores
        Cores of each node.
    basis
        Where this is from, in words.
    """

    nodes: int
    cores: int
    basis: str


class Need(NamedTuple):
    """What the jobs of a log need.

    Attributes
    ----------
    unit
        Cores of the largest unit, which must fit on a node.
    job
        Cores of the largest job.
    peak
        Largest number of cores used at a time according to the log's own starts; None if it does
        not tell them.
    """

    unit: int
    job: int
    peak: int | None


def need_of(jobs: Iterable[TracedJob], waits: dict[int, int] | None) -> Need:
    """Return what jobs need.

    Parameters
    ----------
    jobs
        Jobs that request cores alone.
    waits
        Mapping of recorded wait times that is filled as the jobs are read.
    """
    unit = largest = 0
    changes: list[tuple[int, int]] = []
    for traced in jobs:
        job = traced.job
        cores = job.units * job.unit_request[0]
        unit, largest = max(unit, job.unit_request[0]), max(largest, cores)
        wait = None if waits is None else waits.get(job.job_id)
        if wait is not None:
            start = job.submit_time + wait
            changes += [(start, cores), (start + traced.run_time, -cores)]
    used = peak = 0
    # Ends before starts of the same second.
    for _, change in sorted(changes):
        used += change
        peak = max(peak, used)
    return Need(unit, largest, peak if changes else None)


def machine_from_header(comments: Sequence[str]) -> Machine | None:
    """Return the machine that header comments of a log tell; None if they do not."""
    stated = header_machine(comments)
    nodes, processors = stated
    if not (nodes or processors):
        return None
    basis = f"from the log's header ({stated.told})"
    if nodes and processors and processors % nodes == 0:
        return Machine(nodes, processors // nodes, basis)
    return Machine(processors or nodes, 1, basis)


def machine_for(need: Need) -> Machine:
    """Return a machine that is just large enough.

    Parameters
    ----------
    need
        What the jobs need.
    """
    cores = max(need.unit, 1)
    if need.peak is not None and need.peak > need.job:
        wanted, why = need.peak, "the most that the log's jobs used at a time"
    else:
        wanted, why = need.job, "the largest job"
    return Machine(max(math.ceil(wanted / cores), 1), cores, f"assumed: {why}, {wanted} cores")


def given_machine(nodes: int, cores: int | None, found: Machine) -> Machine:
    """Return the machine that a user names, with the cores of one that was found if need be."""
    return Machine(nodes, found.cores if cores is None else cores, "as given")
