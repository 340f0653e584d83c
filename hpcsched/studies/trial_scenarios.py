"""Scenarios for a first look at a log: the machine for it, and one text for each dispatcher."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.plugins.registry import Registry
from hpcsched.studies.declared_file import cell_name
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.log_recognition import BATSIM, PBS, SACCT, SWF, UTF_8, LogFormat
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
    nodes, processors = header_machine(comments)
    if not (nodes or processors):
        return None
    told = (("MaxNodes", nodes), ("MaxProcs", processors))
    basis = f"from the log's header ({', '.join(f'{name}: {n}' for name, n in told if n)})"
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


_LENIENT: Mapping[str, tuple[str, str]] = {
    "missing_requested_time": ("run_time", "a job without a requested time asked for what it took"),
    "malformed": ("skip", "damaged lines are counted and left out"),
    "unsorted": ("sort", "lines may be in any order"),
    "fractional_seconds": ("outward", "jobs are submitted, and run, in whole seconds"),
}
"""Policies by key of a trace source: value, and what it means."""

_LAST = ("last", "a job that was requeued ended as its last record says")

_MORE: Mapping[LogFormat, Mapping[str, tuple[str, str]]] = {
    SWF: {"unit": ("{core: 1}", "each requested processor is one core")},
    BATSIM: {},
    SACCT: {
        "unknown_resource_type": ("ignore", "memory and devices are left out"),
        "time_zone": ("UTC", "the zone of the log's clocks, for local times"),
        "duplicate": _LAST,
    },
    PBS: {
        "unknown_resource_type": ("ignore", "memory and devices are left out"),
        "duplicate": _LAST,
    },
}

_OF_TABLES: Mapping[str, tuple[str, str]] = {
    "missing_units": ("skip", "rows without a number of units are counted and left out"),
    "missing_request": ("zero", "an amount that is not given is 0"),
}


class TrialLog(NamedTuple):
    """A log as scenarios name it.

    Attributes
    ----------
    jobs
        Largest number of jobs; None is all.
    skip
        Number of jobs before those that are replayed.
    """

    path: Path
    format: LogFormat
    jobs: int | None
    encoding: str = UTF_8
    skip: int = 0
    keys: Mapping[str, tuple[str, str]] = {}

    @property
    def part(self) -> dict[str, Any]:
        """Keys of a trace that select the jobs, with their values."""
        if self.jobs is None:
            return {}
        if self.skip:
            first = {"name": "first", "jobs": self.jobs, "skip": self.skip}
            return {"transforms": [first]}
        return {"jobs": self.jobs}


class Configuration(NamedTuple):
    """A dispatcher that is tried.

    Attributes
    ----------
    label
        Its name in tables, and of its scenario's file.
    """

    label: str
    declared: str


def configurations(names: Sequence[str], registry: Registry) -> list[Configuration]:
    """Return dispatchers by their names; the name of a queue order means a list in that order."""
    dispatchers = set(registry.all_names("dispatcher"))
    orders = set(registry.all_names("queue_order"))
    findings = []
    for name in dict.fromkeys(names):
        if name not in dispatchers | orders:
            near = get_close_matches(name.lower(), sorted(dispatchers | orders), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            message = f"no dispatcher or queue order is called {name!r}{hint}"
            findings.append(Finding("unknown-plugin", message, key="--dispatchers"))
        if names.count(name) > 1:
            findings.append(
                Finding("duplicate-name", f"{name!r} is given twice", key="--dispatchers")
            )
    if findings:
        raise InputError(findings)
    return [
        Configuration(name, name if name in dispatchers else f"{{name: list, order: {name}}}")
        for name in names
    ]


def trace_values(log: TrialLog) -> dict[str, Any]:
    """Return the trace of a log, with policies that pass over its flaws, as plain values."""
    values: dict[str, Any] = {"source": log.format.source, "path": str(log.path.absolute())}
    values |= log.part
    for key, (value, _) in _policies(log).items():
        values[key] = {"core": 1} if key == "unit" else value
    return values


def _policies(log: TrialLog) -> Mapping[str, tuple[str, str]]:
    """Return the policies for a log by key, each a value and its meaning."""
    encoding = (log.encoding, "the log is not UTF-8 text")
    other = {**({} if log.encoding == UTF_8 else {"encoding": encoding}), **log.keys}
    if log.format.preset is not None:
        preset = {"preset": (log.format.preset, log.format.called)}
        return {**preset, **_LENIENT, **_OF_TABLES, **other}
    return {**_LENIENT, **_MORE[log.format], **other}


def scenario_text(
    configuration: Configuration, log: TrialLog, machine: Machine, objective: str | None
) -> str:
    """Return the scenario of a dispatcher as commented YAML.

    Parameters
    ----------
    objective
        Name of the objective; None: the default.
    """
    stem = log.path.name.partition(".")[0]
    groups = [
        f"    - {{name: {name}, count: {count}, resources: {{{_flow(amounts)}}}}}"
        for name, count, amounts in machine.groups
    ]
    # YAML's flow style is JSON's; these plain words need no quotes.
    part = [f"  {key}: {json.dumps(value)}".replace('"', "") for key, value in log.part.items()]
    policies = [
        f"  {key}: {value}  # {meaning}" for key, (value, meaning) in _policies(log).items()
    ]
    lines = [
        f"# {configuration.label} on {log.path.name}, as 'hpcsched try' replays it.",
        f"name: {cell_name([stem, configuration.label])}",
        "system:",
        f"  # {machine.basis}",
        "  groups:",
        *groups,
        "trace:",
        f"  source: {log.format.source}",
        # JSON's quotes are YAML's, whatever a path has in it.
        f"  path: {json.dumps(str(log.path.absolute()), ensure_ascii=False)}",
        *part,
        *policies,
        "predictor: requested-time  # what users ask for",
        f"dispatcher: {configuration.declared}",
        *([] if objective is None else [f"objective: {objective}"]),
    ]
    return "\n".join(lines) + "\n"


def _flow(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {amount}" for name, amount in amounts.items())
