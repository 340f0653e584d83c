"""Machine for a log, from its header or its jobs, and the busiest jobs that it would have."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.swf_lines import header_machine


class Machine(NamedTuple):
    """Nodes of equal size, some of which may have a core more.

    Attributes
    ----------
    cores
        Cores of each node, of the smaller ones if there are two sizes.
    larger
        Number of nodes that have one core more.
    """

    nodes: int
    cores: int
    basis: str
    others: tuple[tuple[str, int], ...] = ()
    larger: int = 0

    @property
    def resources(self) -> dict[str, int]:
        """Amounts of each node by resource type, cores first."""
        return {"core": self.cores, **dict(self.others)}

    @property
    def groups(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        """Name, number of nodes, and amounts of each, of nodes of one size."""
        yield "node", self.nodes - self.larger, self.resources
        if self.larger:
            yield "larger", self.larger, {**self.resources, "core": self.cores + 1}


class Need(NamedTuple):
    """Requirements of the jobs of a log, of one resource type.

    Attributes
    ----------
    unit
        Amount of the largest unit, which must fit on a node.
    peak
        Largest amount used at a time according to the log's own starts; None if it does not tell
        them.
    """

    unit: int
    job: int
    peak: int | None


class Needs(NamedTuple):
    """Requirements of the jobs of a log.

    Attributes
    ----------
    by_type
        Requirements by resource type.
    nodes
        Nodes of the largest job that needs a node for each of its units; 1 if none does.
    """

    by_type: Mapping[str, Need]
    nodes: int = 1


def need_of(
    jobs: Iterable[TracedJob], waits: dict[int, int] | None, types: Sequence[str] = ("core",)
) -> Needs:
    """Return the requirements of jobs.

    Parameters
    ----------
    types
        Resource types, in the order of the amounts of a unit.
    """
    unit, largest = [0] * len(types), [0] * len(types)
    nodes = 1
    changes: list[tuple[int, int, int]] = []
    for traced in jobs:
        job = traced.job
        if job.request.one_unit_per_node:
            nodes = max(nodes, job.units)
        wait = None if waits is None else waits.get(job.job_id)
        for k, amount in enumerate(job.unit_request):
            total = job.units * amount
            unit[k], largest[k] = max(unit[k], amount), max(largest[k], total)
            if wait is not None and total:
                start = job.submit_time + wait
                changes += [(start, total, k), (start + traced.run_time, -total, k)]
    used, peak = [0] * len(types), [0] * len(types)
    # Ends before starts of the same second.
    for _, change, k in sorted(changes):
        used[k] += change
        peak[k] = max(peak[k], used[k])
    by_type = {
        name: Need(unit[k], largest[k], peak[k] if changes else None)
        for k, name in enumerate(types)
    }
    return Needs(by_type, nodes)


def machine_from_header(comments: Sequence[str]) -> Machine | None:
    """Return the machine that header comments of a log tell; None if they do not."""
    stated = header_machine(comments)
    nodes, processors = stated
    if not (nodes or processors):
        return None
    basis = f"from the log's header ({stated.told})"
    if nodes and processors >= nodes:
        cores, larger = divmod(processors, nodes)
        return Machine(nodes, cores, basis, larger=larger)
    # A header with fewer processors than nodes has one of them wrong.
    return Machine(processors or nodes, 1, basis)


def machine_for(needs: Needs) -> Machine:
    """Return a machine that is just large enough."""
    nodes, cores, others, words = needs.nodes, 1, [], []
    why = "the largest job"
    for name, need in needs.by_type.items():
        if not need.job:
            continue
        wanted = max(need.job, need.peak or 0)
        if wanted > need.job:
            why = "the most that the log's jobs used at a time"
        nodes = max(nodes, math.ceil(wanted / need.unit))
        words.append(f"{wanted} {'cores' if name == 'core' else name}")
        if name == "core":
            cores = need.unit
        else:
            others.append((name, need.unit))
    return Machine(nodes, cores, f"assumed: {why}, {', '.join(words)}", tuple(others))


def given_machine(nodes: int, cores: int | None, found: Machine) -> Machine:
    """Return the machine that a user names, with the cores of one that was found if need be."""
    return Machine(nodes, found.cores if cores is None else cores, "as given", found.others)


_STEPS = 10
"""Number of parts of the log looked at for each that would lie beside it."""


class BusyPart(NamedTuple):
    """Consecutive jobs of a log, beside the first as many.

    Attributes
    ----------
    crowded, first_crowded
        Share of these, and of the first jobs, that would find no room if all of them started when
        they are submitted.
    span
        Seconds from their first submission to their last.
    """

    skip: int
    crowded: float
    first_crowded: float
    span: int


def busiest_part(jobs: Iterable[TracedJob], totals: Sequence[int], count: int) -> BusyPart | None:
    """Return the consecutive jobs of which most would find no room; None if there are no others.

    Parameters
    ----------
    totals
        Amount of each resource type on all nodes; 0 for a type that is not looked at. A job's share
        of the machine is its largest share of a type.

    Notes
    -----
    The load that jobs offer would say less: a few long ones within a short time offer much, and yet
    leave room.
    """
    submits: list[int] = []
    ends: list[int] = []
    shares: list[float] = []
    for job, run_time in jobs:
        amounts = zip(job.unit_request, totals, strict=True)
        submits.append(job.submit_time)
        ends.append(job.submit_time + run_time)
        shares.append(
            max((job.units * amount / total for amount, total in amounts if total), default=0.0)
        )
    if len(submits) <= count:
        return None
    begin, end, share = np.array(submits), np.array(ends), np.array(shares)
    skips = range(0, len(submits) - count + 1, max(count // _STEPS, 1))
    crowded = [
        _crowded(begin[skip : skip + count], end[skip : skip + count], share[skip : skip + count])
        for skip in skips
    ]
    most = int(np.argmax(crowded))
    skip = skips[most]
    span = submits[skip + count - 1] - submits[skip]
    return BusyPart(skip, crowded[most], crowded[0], span)


def _crowded(begin: IntArray, end: IntArray, share: FloatColumn) -> float:
    """Return the share of jobs that find no room if all start at once, in order of submission."""
    order = np.argsort(end, kind="stable")
    left = np.concatenate(([0.0], np.cumsum(share[order])))
    # A job that ends as another one is submitted has left.
    used = np.cumsum(share) - left[np.searchsorted(end[order], begin, side="right")]
    return float((used > 1 + 1e-9).mean())
