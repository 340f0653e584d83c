"""Machine for a log: from its header, or from the requests of its jobs."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.swf_lines import header_machine


class Machine(NamedTuple):
    """Nodes of equal size, some of which may have a core more.

    Attributes
    ----------
    nodes
        Number of nodes.
    cores
        Cores of each node, of the smaller ones if there are two sizes.
    basis
        Where this is from, in words.
    others
        Amounts of other resource types of each node.
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
    job
        Amount of the largest job.
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
    jobs
        The jobs.
    waits
        Mapping of recorded wait times that is filled as the jobs are read.
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
    """Return a machine that is just large enough.

    Parameters
    ----------
    needs
        What the jobs need.
    """
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
