"""Common part of the sources of accounting logs: requests by totals, names, repeated records."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from hpcsched._core import NumbersSeen
from hpcsched.parameters import InputPath
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import TimeBounds, TracedJob
from hpcsched.workload.readers.accounting_logs.local_clock import NoZoneError
from hpcsched.workload.readers.accounting_logs.part_numbers import (
    JOBS,
    RecycledNumbers,
    repeat_number,
)
from hpcsched.workload.readers.equal_units import (
    EqualUnits,
    UnitMapping,
    largest_on_a_node,
    on_nodes,
    smallest,
)
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.record_source import RecordSource
from hpcsched.workload.readers.text_files import TextLines


class NamesSeen:
    """Numbers of names, from 1 in the order of their first occurrence.

    Parameters
    ----------
    kind
        Kind of name, as header comments of the Parallel Workloads Archive write it (`Partition`).
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int | None:
        """Return the name's number, a new one for a new name; None for an empty name."""
        return self._numbers.setdefault(name, len(self._numbers) + 1) if name else None

    def comments(self) -> Iterator[str]:
        """Yield a line for each name, such as `Partition: 3 gpu`."""
        for name, number in self._numbers.items():
            yield f"{self._kind}: {number} {name}"


class AccountingLogParams(RecordPolicies):
    """Parameters that the sources of accounting logs share."""

    path: InputPath = Field(
        description="The log, or a folder of its parts, plain or compressed; ${VAR} is filled in."
    )
    unsorted: Literal["error", "skip", "sort"] = Field(
        "sort",
        description="Policy for a record submitted before its predecessor. Such logs are not"
        " in order of submission; to sort, the whole trace is read into memory first.",
    )
    mapping: UnitMapping = Field(
        "as_requested",
        description="Units of a job: its nodes, with equal parts of the request; or the smallest"
        " equal parts, on any nodes; or parts as large as a node of the largest group allows.",
    )
    uneven_nodes: Literal["spread", "up", "skip", "error"] = Field(
        "spread",
        description="Policy for cores or devices that cannot be divided equally among the nodes:"
        " smallest equal parts on any nodes, rounding up on every node (both counted as"
        " clippings), or an error.",
    )
    missing_memory: Literal["zero", "skip", "error"] = Field(
        "zero",
        description="Policy for memory that is not given, where nodes have `mem`; `zero` reads 0.",
    )
    unknown_resource_type: Literal["error", "ignore"] = Field(
        "error",
        description="Policy for a request for a resource type that no node group has; ignoring"
        " it is counted as a clipping.",
    )
    duplicate: Literal["error", "skip", "last", "keep"] = Field(
        "error",
        description="Policy for several records of a job that was requeued, or that overlapping"
        " logs have: `skip` takes the first that gives a job, `last` the last that ran, for which"
        " the log is read twice, and `keep` takes each as a job of its own.",
    )


class Names(NamedTuple):
    """Numbers of the names in a log, by kind of name."""

    user: NamesSeen
    group: NamesSeen
    queue: NamesSeen
    partition: NamesSeen


def _no_names() -> Names:
    return Names(NamesSeen("User"), NamesSeen("Group"), NamesSeen("Queue"), NamesSeen("Partition"))


class AccountingLogSource(RecordSource):
    """Source of an accounting log, without the format of its records.

    Parameters
    ----------
    params
        The log and its policies.
    lines
        The records of the log.
    system
        The system that requests are expressed for.
    """

    def __init__(self, params: AccountingLogParams, lines: TextLines, system: System) -> None:
        super().__init__(params, system, lines, lines.encoding)
        self._batch = params
        self.text_lines = lines
        self.names = _no_names()
        self._parts = NumbersSeen()
        self._whole = NumbersSeen()
        self._repeats = 0
        self._number = 0  # of the present record's job
        self._last_ran: dict[int, int] | None = None  # position of each job's last record that ran
        self._recycled = RecycledNumbers()
        self._rooms: dict[tuple[tuple[int, ...], bool], int] = {}

    @property
    def comments(self) -> list[str]:
        """Names seen so far, as header comments of the Parallel Workloads Archive."""
        return list(chain.from_iterable(names.comments() for names in self.names))

    @property
    def files(self) -> list[Path]:
        """Files of the log."""
        return list(self.text_lines.files)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError at the first record that a policy calls an error."""
        self._parts, self._whole, self._repeats = NumbersSeen(), NumbersSeen(), 0
        self._last_ran = None
        if self._batch.duplicate == "last":
            self._recycled = RecycledNumbers()
            self._last_ran = self._find_last()
        self._recycled = RecycledNumbers()
        self.begin()
        yield from super().jobs()

    def begin(self) -> None:
        """Prepare for reading the log from its first record."""

    def _find_last(self) -> dict[int, int]:
        """Return the position of the last record of each job that can be used, from 1.

        A record without length counts only if no record of the job has any: a requeued job that was
        cancelled in the queue ran before.
        """
        self.begin()
        # Names are numbered when the jobs are read, as without this first reading.
        names, self.names = self.names, _no_names()
        last: dict[int, tuple[bool, int]] = {}
        self._earliest = 0
        for record, (_, line) in enumerate(self.text_lines.records(), 1):
            # Records that give no job are told of when they are read for their jobs.
            self.changes = []
            with suppress(UnusableError, ValueError):
                traced = self.job_of(self.encoding.utf8(line))
                TimeBounds().check(traced)
                found = traced.run_time > 0, record
                last[self._number] = max(found, last.get(self._number, found))
        self.names = names
        return {number: record for number, (_, record) in last.items()}

    @abstractmethod
    def job_of(self, line: bytes) -> TracedJob:
        """Return the job of a record, and record in `changes` the policies that changed it.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        ValueError
            If the record is malformed.
        """

    def parse(self, line: bytes) -> TracedJob:
        """Return the job of a record.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """
        try:
            traced = self.job_of(line)
        except NoZoneError as error:
            raise UnusableError("missing_time_zone", str(error)) from None
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None
        if self._last_ran is None:
            seen, key = self._numbers_of(self._number)
            seen.add(key)
        elif self._last_ran.get(self._number) != self.account.read:
            raise UnusableError("duplicate", f"job {self._number} ran before, for longer than 0 s")
        return traced

    def number_of(self, number: int, submit_time: int) -> int:
        """Return the number of a job: its own, or a new one for a repeated record that is kept.

        A number that another job had years before or after is replaced by a new one, too.

        Raises
        ------
        UnusableError
            If the job has a record already and the policy does not keep both.
        """
        own = self._recycled.number(number, submit_time)
        if own != number:
            self.changes.append("recycled_number")
            number = own
        self._number = number
        if self._batch.duplicate == "last":
            if self._last_ran is not None and self.account.read < self._last_ran.get(number, 0):
                raise UnusableError("duplicate", f"there is a later record of job {number}")
            return number
        seen, key = self._numbers_of(number)
        if key not in seen:
            return number
        if self._batch.duplicate == "keep":
            self._repeats += 1
            return repeat_number(self._repeats)
        raise UnusableError(
            "duplicate",
            f"there was a record of job {number} before: requeued, or logs that overlap",
        )

    def _numbers_of(self, number: int) -> tuple[NumbersSeen, int]:
        """Return the set of numbers that a job's number belongs to, and its number there."""
        job, part = number % JOBS, number // JOBS
        # Tasks of an array, and jobs, mostly follow one another: so that they do here.
        return (self._parts, job * JOBS + part) if part else (self._whole, job)

    def units_of(self, totals: Mapping[str, int], nodes: int) -> EqualUnits:
        """Return the units of a job from its total request.

        The policies decide on resource types that the system lacks, and on rounding: both are noted
        in `changes`, or refused.

        Parameters
        ----------
        totals
            Declared amounts of the whole job, by resource type.
        nodes
            Number of its nodes.

        Raises
        ------
        UnusableError
            If a policy refuses the request.
        """
        asked = {name: amount for name, amount in totals.items() if amount}
        lacking = [name for name in asked if name not in self.system.resource_types]
        if lacking:
            if self._batch.unknown_resource_type == "error":
                raise UnusableError(
                    "unknown_resource_type",
                    f"the job asks for {', '.join(lacking)}, which no node group has; there are:"
                    f" {', '.join(self.system.resource_types)}",
                )
            asked = {name: amount for name, amount in asked.items() if name not in lacking}
        lacks_memory = "mem" in self.system.resource_types and "mem" not in asked
        if lacks_memory and self._batch.missing_memory != "zero":
            raise UnusableError("missing_memory", "no memory is given")
        try:
            found = self._mapped(asked, nodes)
        except ValueError:
            raise UnusableError(
                "malformed", "expected a job to ask for cores or devices that nodes have"
            ) from None
        if lacking:
            self.changes.append("unknown_resource_type")
        if found.uneven:
            self.changes.append("uneven_nodes")
        return found

    def request_for(self, found: EqualUnits, *, one_unit_per_node: bool) -> tuple[int, ...]:
        """Return the request of each unit.

        Parameters
        ----------
        found
            The units of a job.
        one_unit_per_node
            Whether each unit needs a node of its own.

        Raises
        ------
        UnusableError
            If the units do not fit on the idle system.
        """
        request = self.system.request(found.amounts)
        room = self._rooms.get((request, one_unit_per_node))
        if room is None:
            room = room_for(self.system, request, one_unit_per_node=one_unit_per_node)
            self._rooms[request, one_unit_per_node] = room
        self.check_room(found.units, room, found.amounts)
        return request

    def _mapped(self, asked: Mapping[str, int], nodes: int) -> EqualUnits:
        if self._batch.mapping == "one_each":
            return smallest(asked)
        if self._batch.mapping == "whole_nodes":
            return largest_on_a_node(asked, self.system)
        found = on_nodes(asked, nodes)
        if not any(amount for name, amount in asked.items() if name != "mem"):
            raise ValueError("expected amounts of more than memory")
        if not found.uneven or self._batch.uneven_nodes == "up":
            return found
        if self._batch.uneven_nodes == "spread":
            return smallest(asked)._replace(uneven=True)
        parts = ", ".join(f"{amount} {name}" for name, amount in asked.items() if name != "mem")
        raise UnusableError("uneven_nodes", f"{parts} cannot be shared equally among {nodes} nodes")
