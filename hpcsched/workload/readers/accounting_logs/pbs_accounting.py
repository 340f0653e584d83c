"""Trace source `pbs-accounting`: the accounting logs of PBS Professional, OpenPBS and TORQUE.

Jobs are read from the records of their ends (`E`). Needed are `ctime` or `qtime`, `start`, `end`,
and what the job asked for: `Resource_List.select`, `Resource_List.nodes` or `Resource_List.ncpus`.
Used where they are there: `Resource_List.walltime`, `Resource_List.mem`, `Resource_List.nodect`,
`Resource_List.place`, `user`, `group`, `account`, `queue`, `jobname`.

Source: the reference guide of PBS Professional (Altair), chapter on accounting; times in it are
Unix times, so that the zone of a site does not matter.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator

from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.request import Request
from hpcsched.system.system import System
from hpcsched.whole_numbers import parse_count
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.accounting_logs.accounting_log import (
    AccountingLogParams,
    AccountingLogSource,
)
from hpcsched.workload.readers.accounting_logs.pbs_chunks import (
    Chunk,
    parse_nodes,
    parse_select,
    parse_size,
    parse_time,
)
from hpcsched.workload.readers.accounting_logs.pbs_records import parse_end
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    SetAsideError,
    UnusableError,
)
from hpcsched.workload.readers.text_encoding import TextEncoding
from hpcsched.workload.readers.text_lines import TextLines

_TAKEN_FOR = {"ncpus": "core", "mem": "mem", "ngpus": "gpu", "nmics": "mic"}
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_SECOND = re.compile(r"[0-9]{1,16}(\.[0-9]{1,9})?")
_EXCLUSIVE = frozenset({"excl", "exclhost"})
_SCATTERED = frozenset({"scatter", "vscatter"})


class PbsAccountingParams(AccountingLogParams):
    """Parameters of `pbs-accounting`: the log, and policies for records."""

    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    unlike_chunks: Literal["skip", "largest", "error"] = Field(
        "skip",
        description="Policy for a request for unlike chunks, such as 1:ncpus=1+3:ncpus=8:"
        " leave the job out, or let every chunk be as large as the largest, which is counted as a"
        " clipping.",
    )
    resource_types: dict[str, str | None] = Field(
        default_factory=dict,
        description="Resource types of PBS resources beside ncpus (core), mem (mem), ngpus (gpu)"
        " and nmics (mic); null: ignored, as are all that are not listed.",
    )

    @field_validator("resource_types")
    @classmethod
    def _names(cls, named: dict[str, str | None]) -> dict[str, str | None]:
        for name in named.values():
            if name is not None and not _RESOURCE_TYPE.fullmatch(name):
                raise ValueError(f"expected a resource type such as gpu, found {name!r}")
        return named


@builtin(
    "trace_source",
    "pbs-accounting",
    PbsAccountingParams,
    summary="accounting logs of PBS Professional and TORQUE: chunks, memory, GPUs, names",
    capabilities={RECORDS_WAITS},
)
class PbsAccountingSource(AccountingLogSource):
    """Stream of the jobs of a log, or of a folder of daily logs in the order of their names.

    Reasons for skipping a record, in the order in which they apply: `undecodable`, `malformed`,
    `record_Q` and so on for records of other types, `whole_array`, `never_started`,
    `fractional_seconds`, `duplicate`, `unsorted`,
    `zero_run_time`, `missing_requested_time`, `unlike_chunks`, `missing_memory`, `uneven_nodes`,
    `larger_than_system`.

    Users, groups (accounts where there are none) and queues are numbered from 1 as they appear;
    `comments` name them.

    Parameters
    ----------
    params
        The log and its policies.
    system
        The system that requests are expressed for.
    """

    @classmethod
    def build(cls, params: PbsAccountingParams, context: Context) -> Self:
        """Make the source for the scenario's system."""
        return cls(params, context.system)

    def __init__(self, params: PbsAccountingParams, system: System) -> None:
        lines = TextLines(Path(params.path), TextEncoding(params.encoding, params.undecodable))
        super().__init__(params, lines, system)
        self._params = params
        self._types = {**_TAKEN_FOR, **params.resource_types}
        self._resources = frozenset(self._types)
        if next(lines.records(), None) is None:
            raise InputError(
                Finding("empty-trace", "the log has no records", Place(str(lines.path), 1))
            )

    def job_of(self, line: bytes) -> TracedJob:
        """Return the job of a record; raises UnusableError or ValueError if there is none."""
        number, said = parse_end(line)
        # PBS writes start=0 for a job that was deleted before its start.
        if said.get("start") == "0":
            with suppress(UnusableError, ValueError):
                self.note_submission(self._submitted_at(said))
            raise SetAsideError("never_started", "a job that was not started")
        submit_time = self._submitted_at(said)
        self.note_submission(submit_time)
        end_time, start_time = self._second(said, "end"), self._second(said, "start")
        run_time = end_time - start_time
        if run_time < 0:
            raise ValueError("the job ends before it starts")
        number = self.number_of(number, submit_time)
        self.check_order(submit_time)
        self.check_run_time(run_time)
        # A walltime is optional in PBS: queues may run jobs without a limit.
        limit = said.get("Resource_List.walltime")
        wanted = -1 if limit is None else self.seconds.duration(parse_time(limit))
        requested_time = self.requested_time(wanted, run_time)
        units = self.units_of(*self._totals(said))
        queue = said.get("queue", "")
        place = said.get("Resource_List.place", "").split(":")
        # What is said of chunks does not hold of units that are something else.
        one_unit_per_node = units.per_node and units.units > 1 and not _SCATTERED.isdisjoint(place)
        request = Request(
            units=units.units,
            unit_request=self.request_for(units, one_unit_per_node=one_unit_per_node),
            exclusive=not _EXCLUSIVE.isdisjoint(place),
            one_unit_per_node=one_unit_per_node,
        )
        job = Job(
            number,
            submit_time,
            request,
            requested_time,
            self.names.user.number(said.get("user", "")),
            self.names.group.number(said.get("group") or said.get("account", "")),
            queue=self.names.queue.number(queue),
            name=said.get("jobname") or None,
            queue_name=queue or None,
        )
        self.note_wait(number, start_time - submit_time)
        return TracedJob(job, self.clipped(run_time, requested_time))

    def _totals(self, said: dict[str, str]) -> tuple[dict[str, int], int]:
        """Return the total request of a job by resource type, and its number of chunks."""
        count, amounts = self._requested(said)
        totals: dict[str, int] = {}
        for name, amount in amounts.items():
            what = self._types[name]
            if what is not None:
                totals[what] = totals.get(what, 0) + amount
        memory = self._types["mem"]
        if memory is not None and memory not in totals and "Resource_List.mem" in said:
            totals[memory] = parse_size(said["Resource_List.mem"])
        return totals, count

    def _requested(self, said: dict[str, str]) -> tuple[int, dict[str, int]]:
        """Return the number of chunks of a job, and its total request by the names of PBS."""
        if "Resource_List.select" in said:
            chunks = parse_select(said["Resource_List.select"], self._resources)
        elif "Resource_List.nodes" in said:
            chunks = parse_nodes(said["Resource_List.nodes"], self._resources)
        elif "Resource_List.ncpus" in said:
            amounts = {"ncpus": parse_count(said["Resource_List.ncpus"], "ncpus")}
            nodes = parse_count(said.get("Resource_List.nodect", "1"), "nodect")
            if nodes < 1:
                raise ValueError("expected Resource_List.nodect=1 or more, found 0")
            return nodes, amounts
        else:
            raise ValueError(
                "expected Resource_List.select, Resource_List.nodes or Resource_List.ncpus"
            )
        count, each = self._one_chunk(chunks)
        return count, {name: amount * count for name, amount in each.items()}

    def _one_chunk(self, chunks: list[Chunk]) -> Chunk:
        """Return the chunk that a job requests repeatedly.

        Raises
        ------
        UnusableError
            If the chunks differ and the policy does not take the largest.
        """
        count = sum(chunk.number for chunk in chunks)
        if len({tuple(sorted(chunk.amounts.items())) for chunk in chunks}) > 1:
            if self._params.unlike_chunks != "largest":
                raise UnusableError("unlike_chunks", "the job asks for chunks that are unlike")
            self.changes.append("unlike_chunks")
        names = dict.fromkeys(name for chunk in chunks for name in chunk.amounts)
        return Chunk(
            count, {name: max(chunk.amounts.get(name, 0) for chunk in chunks) for name in names}
        )

    def _submitted_at(self, said: dict[str, str]) -> int:
        return self._second(said, "ctime" if "ctime" in said else "qtime")

    def _second(self, said: dict[str, str], key: str) -> int:
        """Return a Unix time of the record; raises ValueError without one."""
        text = said.get(key, "")
        if not _SECOND.fullmatch(text) or float(text) > LARGEST:
            raise ValueError(f"expected {key}= with a Unix time, found {text!r}")
        return self.seconds.instant(text)
