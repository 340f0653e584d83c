"""The block `outages`: its declaration, and the outages that follow from it.

Times between failures follow a Weibull distribution, which is exponential for a shape of 1; repair
times are exponential. Failures of real systems are closer to a shape of 0.7 to 0.8: B. Schroeder
and G. A. Gibson, *A large-scale study of failures in high-performance computing systems*, IEEE
Transactions on Dependable and Secure Computing 7(4), 2010. Nodes fail independently of each other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import gamma
from pathlib import Path
from random import Random
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import InitErrorDetails

from hpcsched.parameters import Duration, Listed, OneInputFile, Params, PositiveDuration
from hpcsched.portable_math import log, power
from hpcsched.scenario.faults import refusal, unknown_names
from hpcsched.simulation.failure_log import read_failures
from hpcsched.system.outages import Outage, OutageKind, Outages, node_numbers
from hpcsched.system.system import System

_Names = Annotated[tuple[str, ...], Listed]


class NodeChoice(Params):
    """Nodes of outages: groups, single nodes, or all if neither is given; and their name."""

    groups: _Names | None = Field(default=None, min_length=1)
    """Node groups that are out of service."""
    nodes: _Names | None = Field(default=None, min_length=1)
    """Single nodes that are out of service, by group and number (node-3), in addition to groups."""
    name: str | None = Field(default=None, min_length=1, max_length=80)
    """Name of the outages in reasons and messages."""

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

    start: Duration
    """Start: seconds since the trace's origin, or with a unit (4d6h)."""
    duration: PositiveDuration
    """Duration: seconds, or with a unit."""
    every: PositiveDuration | None = None
    """Period of the repetition (7d); once if not given."""
    times: int | None = Field(default=None, ge=1, le=1_000_000)
    """Number of occurrences; required with `every`, and only allowed there."""

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if (self.every is None) != (self.times is None):
            alone = "times" if self.every is None else "every"
            raise ValueError(f"expected 'every' and 'times' together, or neither; found {alone!r}")
        # Occurrences that overlap would take one node out of service twice at the same time.
        if self.every is not None and self.every < self.duration:
            raise ValueError(
                f"expected 'every' to be at least as long as it takes, {self.duration} s, found"
                f" {self.every}"
            )
        return self

    def build(self, kind: OutageKind, system: System) -> Iterator[Outage]:
        """Yield each occurrence."""
        nodes = self.numbers(system)
        for k in range(self.times or 1):
            start = self.start + k * (self.every or 0)
            yield Outage(start, start + self.duration, nodes, kind, self.name or "")


class FailureDeclaration(NodeChoice):
    """Nodes that fail at random, independently, and are repaired."""

    mean_up_time: PositiveDuration
    """The mean time from a repair of a node to its next failure: seconds, or with a unit."""
    mean_repair_time: PositiveDuration
    """The mean time from a failure of a node to the end of its repair: seconds, or with a unit."""
    shape: float = Field(default=1.0, gt=0.1, le=100.0)
    """Shape of the Weibull distribution of up times (no unit): 1 is exponential, less makes
    failures come in bursts."""
    start: Duration = 0
    """Earliest time of a failure: seconds, or with a unit."""
    end: PositiveDuration
    """Time from which on no node fails: seconds, or with a unit."""

    @model_validator(mode="after")
    def _check_end(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"expected an end after the start, {self.start}, found {self.end}")
        return self

    def draw(self, nodes: Iterable[int], seed: int) -> Iterator[Outage]:
        """Yield the failures of each node, node by node; equal for a seed on every machine.

        Failures begin before `end`; a repair may end later. Each takes at least a second.
        """
        # In twelve digits, as the last one of a gamma function may differ between machines.
        scale = self.mean_up_time / float(f"{gamma(1 + 1 / self.shape):.12g}")
        for node in nodes:
            random = Random(f"{seed}/{node}")
            now = float(self.start)
            while True:
                now += scale * power(_exponential(random), 1 / self.shape)
                start = int(now)
                if start >= self.end:
                    break
                now += self.mean_repair_time * _exponential(random)
                end = max(int(now), start + 1)
                yield Outage(start, end, (node,), "failure", self.name or "")
                now = float(max(end, int(now)))


def _exponential(random: Random) -> float:
    """Return an exponentially distributed number with mean 1; never 0."""
    return -log(1.0 - random.random()) or 2.0**-53


class OutagesDeclaration(Params):
    """Outages of nodes, and the treatment of jobs on them."""

    maintenance: Annotated[tuple[WindowDeclaration, ...], Listed] = ()
    """Announced maintenance windows."""
    reservations: Annotated[tuple[WindowDeclaration, ...], Listed] = ()
    """Announced reservations of nodes for others."""
    failures: Annotated[tuple[FailureDeclaration, ...], Listed] = ()
    """Models of failures, which are not announced."""
    failure_log: OneInputFile | None = None
    """A CSV file of failures, with the header node,from,until: a node's name, and seconds since the
    trace's origin."""
    requeue: bool = True
    """Put a job that loses a node back into the queue, to run again from its beginning; otherwise
    it fails."""

    def build(self, system: System, seed: Callable[[str], int]) -> Outages:
        """Return the declared outages.

        Raises InputError if the file of failures cannot be used.
        """
        outages: list[Outage] = []
        for maintenance in self.maintenance:
            outages += maintenance.build("maintenance", system)
        for reservation in self.reservations:
            outages += reservation.build("reservation", system)
        for n, failures in enumerate(self.failures):
            # A seed for each model: another one behind it leaves its failures as they are.
            outages += failures.draw(failures.numbers(system), seed(f"failures[{n}]"))
        if self.failure_log is not None:
            outages += read_failures(Path(self.failure_log), system)
        # Sorted by time: the blocks above come one kind after another.
        return Outages(tuple(sorted(outages)), self.requeue)


def unknown_nodes(
    declared: OutagesDeclaration, groups: Iterable[str], nodes: Callable[[], Sequence[str]]
) -> Iterator[InitErrorDetails]:
    """Yield the node groups and the nodes that outages name and that the system does not have."""
    for key in ("maintenance", "reservations", "failures"):
        for n, choice in enumerate(getattr(declared, key)):
            at = ("outages", key, n)
            named = choice.groups or ()
            yield from unknown_names("unknown-group", "node group", named, groups, (*at, "groups"))
            for k, name in enumerate(choice.nodes or ()):
                known = nodes()
                if name not in known:
                    message = f"there is no node {name!r}; the first is {known[0]}, the last"
                    message += f" {known[-1]}"
                    yield refusal("unknown-node", message, at=(*at, "nodes", k))
