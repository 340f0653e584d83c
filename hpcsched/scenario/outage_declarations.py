"""The block `outages`: its declaration, and the outages that follow from it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import InitErrorDetails

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import Duration, Listed, OneInputFile, Params, PositiveDuration
from hpcsched.scenario.faults import refusal, refuse
from hpcsched.scenario.key_path import KeyPath
from hpcsched.simulation.failure_model import FailureModel, draw_failures, read_failures
from hpcsched.system.host_lists import expand
from hpcsched.system.outages import Outage, OutageKind, Outages, node_numbers
from hpcsched.system.system import System
from hpcsched.workload.readers.policies import TextEncodingName
from hpcsched.workload.trace_calendar import Calendar, Moment, TimeZoneName, second_of


def _checked(nodes: dict[str, str]) -> dict[str, str]:
    """Return names of nodes by group after a check that none is named twice."""
    seen: set[str] = set()
    for group, text in nodes.items():
        try:
            names = expand(text)
        except ValueError as error:
            raise refuse(refusal("bad-value", str(error), text, at=(group,))) from None
        for name in names:
            if name in seen:
                message = f"the node {name} is named twice"
                raise refuse(refusal("duplicate-name", message, text, at=(group,)))
            seen.add(name)
    return nodes


HostNames = Annotated[dict[str, Annotated[str, Field(min_length=1)]], AfterValidator(_checked)]
"""Names of the nodes of each group, such as `c[1-3,7]`, in the order of the nodes."""


def wrong_hosts(
    nodes: Mapping[str, str], counts: Mapping[str, int], at: KeyPath, rule: str
) -> Iterator[InitErrorDetails]:
    """Yield groups that the system lacks, or that have another number of nodes than is named."""
    for group, text in nodes.items():
        if group not in counts:
            message = f"the system has no node group {group!r}; there are: {', '.join(counts)}"
            yield refusal("unknown-group", message, text, at=(*at, group))
        # Names and nodes match one to one, by number within the group.
        elif len(expand(text)) != counts[group]:
            found = len(expand(text))
            message = f"the group {group} has {counts[group]} nodes, and {found} are named"
            yield refusal(rule, message, text, at=(*at, group))


_State = Annotated[str, Field(pattern=r"^[A-Za-z_]+$")]


class FailuresFound(NamedTuple):
    """Failures of nodes that a log tells, and the account of its records.

    Attributes
    ----------
    failures
        Name of the node, first second of the failure and the second after it, in Unix times.
    counts
        Numbers of records and failures, by what became of them.
    """

    failures: Sequence[tuple[str, int, int]]
    counts: Mapping[str, int]


class LoggedFailures(NamedTuple):
    """Outages that a log tells, and the account of its records.

    Attributes
    ----------
    counts
        Numbers of records and outages, by what became of them.
    """

    outages: list[Outage]
    counts: dict[str, int]


_TELLS_FAILURES = "slurm-sacct"
"""Trace source whose logs tell failures of nodes."""


class NodeFailuresDeclaration(Params):
    """Failures of nodes that a dump of `sacct` tells by the jobs that were lost to them."""

    path: OneInputFile = Field(
        description="The dump, or a folder of dumps, with the columns JobID, Start, End, State,"
        " NodeList and, best, FailedNode; ${VAR} is filled in."
    )
    nodes: HostNames = Field(
        min_length=1,
        description="The names of each node group's nodes in the dump, such as c[1-3,7].",
    )
    time_zone: TimeZoneName | None = Field(
        None,
        description="The zone of local times, such as Europe/Prague; not needed where times are"
        " Unix times or have an offset.",
    )
    origin: Moment = Field(
        0,
        description="Second 0 of the trace: Unix time, or a date in the time zone, as where the"
        " transform `window` starts; without a transform, times of such logs are Unix times.",
    )
    states: Annotated[tuple[_State, ...], Listed] = Field(
        ("NODE_FAIL",), min_length=1, description="States of jobs that were lost to a failed node."
    )
    repair: Literal["next_start"] | PositiveDuration = Field(
        "next_start",
        description="When a node is back: as the next job starts on it, or after a time.",
    )
    unnamed_node: Literal["skip", "all"] = Field(
        "skip",
        description="Policy for a job on several nodes without FailedNode: leave the record out,"
        " or let all of its nodes fail.",
    )
    other_node: Literal["error", "skip"] = Field(
        "error", description="Policy for a failed node that is not among `nodes`."
    )
    malformed: Literal["error", "skip"] = Field(
        "error", description="Policy for a line that is no record."
    )
    encoding: TextEncodingName = Field("utf-8", description="Encoding of the dump.")

    def build(self, system: System) -> LoggedFailures:
        """Return the outages.

        Raises InputError if the dump cannot be used.
        """
        from hpcsched.plugins import manager  # noqa: PLC0415 (plugins take their time)

        try:
            plugin = manager.registry().get("trace_source", _TELLS_FAILURES).plugin
        except KeyError as error:
            message = str(error.args[0])
            finding = Finding("unknown-plugin", message, key="outages.node_failures")
            raise InputError(finding) from None
        assert plugin.failures is not None
        found = plugin.failures(self)
        zone = UTC if self.time_zone is None else ZoneInfo(self.time_zone)
        origin = second_of(self.origin, Calendar(0, zone, ""), 0)
        return self._on_nodes(found, system, origin)

    def _on_nodes(self, found: FailuresFound, system: System, origin: int) -> LoggedFailures:
        """Return failures of hosts as outages of nodes, in seconds since an origin."""
        numbers = self._numbers(system)
        counts = Counter(found.counts)
        outages = []
        for host, start, end in found.failures:
            if host not in numbers:
                if self.other_node == "error":
                    message = (
                        f"the node {host} failed, and is not among 'nodes'; 'other_node: skip' of"
                        " 'outages.node_failures' leaves such failures out"
                    )
                    raise InputError(Finding("unknown-node", message, Place(str(self.path))))
                counts["other_node"] += 1
            elif end <= origin:
                counts["before_origin"] += 1
            else:
                first = max(start - origin, 0)
                outages.append(Outage(first, end - origin, (numbers[host],), "failure", host))
        return LoggedFailures(outages, {**counts, "outages": len(outages)})

    def _numbers(self, system: System) -> dict[str, int]:
        """Return the number of each named node by its name in the dump."""
        numbers, first = {}, 0
        for group in system.groups:
            names = expand(self.nodes[group.name]) if group.name in self.nodes else ()
            numbers.update({name: first + n for n, name in enumerate(names)})
            first += group.count
        return numbers


_Names = Annotated[tuple[str, ...], Listed]
_LARGEST_SHAPE = 100.0


class NodeChoice(Params):
    """Nodes of outages: groups, single nodes, or all if neither is given; and their name."""

    groups: _Names | None = Field(
        default=None, min_length=1, description="Node groups that are out of service."
    )
    nodes: _Names | None = Field(
        default=None,
        min_length=1,
        description="Single nodes that are out of service, by group and number (node-3), in"
        " addition to groups.",
    )
    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=80,
        description="Name of the outages in reasons and messages.",
    )

    def numbers(self, system: System) -> tuple[int, ...]:
        """Return the numbers of the nodes, ascending."""
        # None and not an empty list: `groups: []` is refused, as it would silently mean all nodes.
        if self.groups is None and self.nodes is None:
            return tuple(range(system.node_count))
        names = node_numbers(system)
        chosen = {names[node] for node in self.nodes or ()}
        groups = [group.name for group in system.groups]
        wanted = {groups.index(name) for name in self.groups or ()}
        chosen |= {n for n, g in enumerate(system.group_of.tolist()) if g in wanted}
        return tuple(sorted(chosen))


class WindowDeclaration(NodeChoice):
    """Nodes that are out of service at known times, once or repeatedly."""

    start: Duration = Field(
        description="Start: seconds since the trace's origin, or with a unit (4d6h)."
    )
    end: PositiveDuration | None = Field(
        default=None, description="End; give either this or the duration."
    )
    duration: PositiveDuration | None = Field(
        default=None, description="Duration; give either this or the end."
    )
    every: PositiveDuration | None = Field(
        default=None, description="Period of the repetition (7d); once if not given."
    )
    times: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Number of occurrences; required with `every`, and only allowed there.",
    )

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if (self.end is None) == (self.duration is None):
            found = "neither" if self.end is None else "both"
            raise ValueError(f"expected either 'end' or 'duration', found {found}")
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"expected an end after the start, {self.start}, found {self.end}")
        if (self.every is None) != (self.times is None):
            alone = "times" if self.every is None else "every"
            raise ValueError(f"expected 'every' and 'times' together, or neither; found {alone!r}")
        # Occurrences that overlap would take one node out of service twice at the same time.
        if self.every is not None and self.every < self.length:
            raise ValueError(
                f"expected 'every' to be at least as long as it takes, {self.length} s, found"
                f" {self.every}"
            )
        return self

    @property
    def length(self) -> int:
        """Duration, in seconds."""
        if self.duration is not None:
            return self.duration
        assert self.end is not None
        return self.end - self.start

    def build(self, kind: OutageKind, system: System) -> Iterator[Outage]:
        """Yield each occurrence."""
        nodes = self.numbers(system)
        for k in range(self.times or 1):
            start = self.start + k * (self.every or 0)
            yield Outage(start, start + self.length, nodes, kind, self.name or "")


class FailureDeclaration(NodeChoice):
    """Nodes that fail at random, independently, and are repaired."""

    mean_up_time: PositiveDuration = Field(
        description="The mean time from a repair of a node to its next failure: seconds, or with a"
        " unit."
    )
    mean_repair_time: PositiveDuration = Field(
        description="The mean time from a failure of a node to the end of its repair: seconds, or"
        " with a unit."
    )
    shape: float = Field(
        default=1.0,
        gt=0.1,
        le=_LARGEST_SHAPE,
        description="Shape of the Weibull distribution of up times (no unit): 1 is exponential,"
        " less makes failures come in bursts.",
    )
    start: Duration = Field(
        default=0, description="Earliest time of a failure: seconds, or with a unit."
    )
    end: PositiveDuration = Field(
        description="Time from which on no node fails: seconds, or with a unit."
    )

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"expected an end after the start, {self.start}, found {self.end}")
        return self

    def build(self, system: System) -> FailureModel:
        """Return the model that is declared."""
        return FailureModel(
            self.numbers(system),
            self.mean_up_time,
            self.mean_repair_time,
            self.shape,
            self.start,
            self.end,
            self.name or "",
        )


class OutagesDeclaration(Params):
    """Outages of nodes, and the treatment of jobs on them."""

    maintenance: Annotated[tuple[WindowDeclaration, ...], Listed] = Field(
        default=(), description="Announced maintenance windows."
    )
    reservations: Annotated[tuple[WindowDeclaration, ...], Listed] = Field(
        default=(), description="Announced reservations of nodes for others."
    )
    failures: Annotated[tuple[FailureDeclaration, ...], Listed] = Field(
        default=(), description="Models of failures, which are not announced."
    )
    failure_log: OneInputFile | None = Field(
        default=None,
        description="A CSV file of failures, with the header node,from,until: a node's name, and"
        " seconds since the trace's origin.",
    )
    node_failures: NodeFailuresDeclaration | None = Field(
        default=None,
        description="Failures that a dump of `sacct` tells by the jobs that were lost to them.",
    )
    requeue: bool = Field(
        default=True,
        description="Put a job that loses a node back into the queue, to run again from its"
        " beginning; otherwise it fails.",
    )

    def build(self, system: System, seed: Callable[[str], int]) -> Outages:
        """Return the declared outages.

        Raises InputError if the file of failures, or a log that tells them, cannot be used.
        """
        outages: list[Outage] = []
        for maintenance in self.maintenance:
            outages += maintenance.build("maintenance", system)
        for reservation in self.reservations:
            outages += reservation.build("reservation", system)
        for n, failures in enumerate(self.failures):
            # A seed for each model: another one behind it leaves its failures as they are.
            outages += draw_failures(failures.build(system), seed(f"failures[{n}]"))
        if self.failure_log is not None:
            outages += read_failures(Path(self.failure_log), system)
        told: tuple[tuple[str, int], ...] = ()
        if self.node_failures is not None:
            logged = self.node_failures.build(system)
            outages += logged.outages
            told = tuple(logged.counts.items())
        # Sorted by time: the blocks above come one kind after another.
        return Outages(tuple(sorted(outages)), self.requeue, told)

    def choices(self) -> Iterator[tuple[KeyPath, NodeChoice]]:
        """Yield every choice of nodes, with the key path within this block."""
        for key, blocks in (
            ("maintenance", self.maintenance),
            ("reservations", self.reservations),
            ("failures", self.failures),
        ):
            for n, block in enumerate(blocks):
                yield (key, n), block


def unknown_nodes(
    declared: OutagesDeclaration, groups: Mapping[str, int], nodes: Callable[[], Sequence[str]]
) -> Iterator[InitErrorDetails]:
    """Yield the node groups and the nodes that outages name and that the system does not have."""
    if declared.node_failures is not None:
        at = ("outages", "node_failures", "nodes")
        yield from wrong_hosts(declared.node_failures.nodes, groups, at, "bad-value")
    for path, choice in declared.choices():
        for k, name in enumerate(choice.groups or ()):
            if name not in groups:
                message = f"there is no node group {name!r}; there are: {', '.join(groups)}"
                yield refusal("unknown-group", message, name, at=("outages", *path, "groups", k))
        for k, name in enumerate(choice.nodes or ()):
            known = nodes()
            if name not in known:
                message = (
                    f"there is no node {name!r}; the first is {known[0]}, the last {known[-1]}"
                )
                yield refusal("unknown-node", message, name, at=("outages", *path, "nodes", k))
