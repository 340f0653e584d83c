"""The key `outages.node_failures`: failures of nodes that a dump of `sacct` tells."""

from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field, field_validator

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import Listed, OneInputFile, Params, PositiveDuration
from hpcsched.scenario.host_names import HostNames
from hpcsched.slurm.host_lists import expand
from hpcsched.system.node_outages import Outage
from hpcsched.system.system import System
from hpcsched.workload.readers.accounting_logs.local_clock import time_zone
from hpcsched.workload.readers.policies import TextEncodingName
from hpcsched.workload.trace_calendar import Calendar
from hpcsched.workload.trace_times import Moment, second_of

if TYPE_CHECKING:
    from hpcsched.workload.readers.accounting_logs.node_failures import FailuresFound

_State = Annotated[str, Field(pattern=r"^[A-Za-z_]+$")]


class LoggedFailures(NamedTuple):
    """Outages that a log tells, and the account of its records.

    Attributes
    ----------
    counts
        Numbers of records and outages, by what became of them.
    """

    outages: list[Outage]
    counts: dict[str, int]


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
    time_zone: str | None = Field(
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

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        if name is not None:
            time_zone(name)
        return name

    def build(self, system: System) -> LoggedFailures:
        """Return the outages.

        Raises
        ------
        InputError
            If the dump cannot be used.
        """
        # The readers of logs take their time, and NumPy.
        from hpcsched.workload.readers.accounting_logs.node_failures import (  # noqa: PLC0415
            FailureRules,
            read_node_failures,
        )

        zone = None if self.time_zone is None else time_zone(self.time_zone)
        rules = FailureRules(
            frozenset(state.upper() for state in self.states),
            None if self.repair == "next_start" else self.repair,
            self.unnamed_node == "all",
            self.malformed == "skip",
        )
        found = read_node_failures(Path(self.path), rules, zone, self.encoding)
        origin = second_of(self.origin, Calendar(0, zone or UTC, ""), 0)
        return self._on_nodes(found, system, origin)

    def _on_nodes(self, found: "FailuresFound", system: System, origin: int) -> LoggedFailures:
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
