"""Trace source `pbs-accounting`: the accounting logs of PBS Professional, OpenPBS and TORQUE.

Jobs are read from the records of their ends (`E`). Needed are `ctime` or `qtime`, `start`, `end`,
and what the job asked for: `Resource_List.select`, `Resource_List.nodes` or `Resource_List.ncpus`.
Used where they are there: `Resource_List.walltime`, `Resource_List.mem`, `Resource_List.nodect`,
`Resource_List.place`, `user`, `group`, `account`, `queue`, `jobname`.

Source: the reference guide of PBS Professional (Altair), chapters on accounting
and resources, and the administrator's guide of TORQUE (Adaptive Computing); times in it are
Unix times, so that the zone of a site does not matter.
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, field_validator

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.accounting_log import AccountingLogSource, task_number
from hpcsched.workload.readers.log_source import Record
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    AccountingLogParams,
    FractionalSeconds,
    SetAsideError,
    UnusableError,
)
from hpcsched.workload.readers.quantities import exact_number, parse_count
from hpcsched.workload.readers.text_files import TextLines

_SIZE = re.compile(r"([0-9]{1,15})([kmgtp]?)([bw]?)", re.IGNORECASE)
_POWERS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_WORD = 8
_TIME = re.compile(r"[0-9]{1,10}(:[0-9]{1,4}){0,3}(\.[0-9]{1,9})?")
_TIME_PARTS = 1, 60, 3600, 86_400
"""Seconds of each part of a time, from the last."""


class Chunk(NamedTuple):
    """Identical parts of a job.

    Attributes
    ----------
    number
        Number of parts.
    amounts
        Amounts of each part, by the names of PBS.
    """

    number: int
    amounts: dict[str, int]


def parse_select(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ncpus=8:mem=16gb:ngpus=1+1:ncpus=4`.

    A chunk without `ncpus` requests 1 core.
    """
    return [_chunk(part, resources, nodes=False) for part in text.split("+")]


def parse_nodes(text: str, resources: frozenset[str]) -> list[Chunk]:
    """Return the chunks of a request such as `2:ppn=8:gpus=1+node07`.

    `ppn` becomes `ncpus`, and `gpus` and `mics` become `ngpus` and `nmics`. Properties of nodes,
    and names in place of their number, are ignored.
    """
    # What follows '#' is about the whole request, such as '#excl'.
    body = text.partition("#")[0]
    return [_chunk(part, resources, nodes=True) for part in body.split("+")]


_TORQUE = {"ppn": "ncpus", "gpus": "ngpus", "mics": "nmics"}


def _chunk(text: str, resources: frozenset[str], *, nodes: bool) -> Chunk:
    first, *words = text.split(":")
    count = 1
    if first.isdecimal():
        count = int(first)
    elif "=" in first or (nodes and first):
        words = [first, *words]
    else:
        count = 0
    if count < 1:
        example = "2:ppn=8" if nodes else "2:ncpus=8"
        raise ValueError(f"expected chunks such as {example}, found {text!r}")
    amounts = {"ncpus": 1}
    for word in words:
        key, equals, value = word.partition("=")
        name = _TORQUE.get(key, key) if nodes else key
        if not equals and not nodes:
            raise ValueError(f"expected resources such as ncpus=8, found {word!r}")
        if equals and (name == "ncpus" or name in resources):
            amounts[name] = parse_size(value) if name == "mem" else parse_count(value, key)
    return Chunk(count, amounts)


def parse_size(text: str) -> int:
    """Return a size such as `16gb`, `4000kb` or `512` (bytes) in bytes; `w` is for words."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an amount of memory such as 16gb, found {text!r}")
    size = int(match[1]) * _POWERS[match[2].lower()] * (_WORD if match[3].lower() == "w" else 1)
    if size > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes, found {text!r}")
    return size


def parse_time(text: str) -> int | Fraction:
    """Return a time such as `12:00:00`, `1:00:00:00` (a day), `3600` or `0.5` in seconds."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"expected a time such as 12:00:00, found {text!r}")
    whole, dot, rest = text.partition(".")
    parts = zip(reversed(whole.split(":")), _TIME_PARTS, strict=False)
    return sum(int(part) * of for part, of in parts) + exact_number(f"0{dot}{rest}")


_DATE = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?")
_TYPE = re.compile(r"[A-Za-z]")
_JOB_ID = re.compile(r"([0-9]{1,9})(?:\[([0-9]{0,7})\]|-([0-9]{1,7}))?(?:\.[^\s;]+)?")
_ITEM = re.compile(r'([^\s="]+)=("[^"]*"|[^\s]*)|(\S+)')
ENDED = "E"
"""Type of the record of a job's end."""


def parse_end(line: str) -> tuple[int, dict[str, str]]:
    """Return the number of a job or array task that ended, and its attributes as texts."""
    # At most three splits: attributes may contain semicolons.
    fields = line.strip().split(";", 3)
    if len(fields) < 4 or not _DATE.fullmatch(fields[0]) or not _TYPE.fullmatch(fields[1]):
        raise ValueError("expected a record such as 03/01/2024 12:00:00;E;123.server;user=…")
    _, kind, job_id, said = fields
    if kind != ENDED:
        raise SetAsideError(f"record_{kind}", f"a record of the type {kind}")
    return _number(job_id), _attributes(said)


def _number(text: str) -> int:
    match = _JOB_ID.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a job id such as 123.server, found {text!r}")
    job = int(match[1])
    task = match[2] if match[2] is not None else match[3]
    if task == "":
        raise SetAsideError("whole_array", "the end of an array, whose tasks have records")
    return job if task is None else task_number(job, int(task))


def _attributes(text: str) -> dict[str, str]:
    """Return attributes by name; words without `=` belong to the value before them."""
    found: dict[str, str] = {}
    last = ""
    for key, value, word in _ITEM.findall(text):
        if key:
            last = key
            found[key] = value.strip('"')
        elif last:
            found[last] += f" {word}"
        else:
            raise ValueError(f"expected attributes such as user=…, found {word!r}")
    return found


_TAKEN_FOR = {"ncpus": "core", "mem": "mem", "ngpus": "gpu", "nmics": "mic"}
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_SECOND = re.compile(r"[0-9]{1,16}(\.[0-9]{1,9})?")
_EXCLUSIVE = frozenset({"excl", "exclhost"})
_SCATTERED = frozenset({"scatter", "vscatter"})


class PbsAccountingParams(AccountingLogParams):
    """Parameters of `pbs-accounting`: the log, and policies for records."""

    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    unlike_chunks: Literal["skip", "largest", "error"] = "skip"
    """Policy for a request for unlike chunks, such as 1:ncpus=1+3:ncpus=8: leave the job out, or
    let every chunk be as large as the largest, which is counted as a clipping."""
    resource_types: dict[str, str | None] = Field(default_factory=dict)
    """Resource types of PBS resources beside ncpus (core), mem (mem), ngpus (gpu) and nmics (mic);
    null: ignored, as are all that are not listed."""

    @field_validator("resource_types")
    @classmethod
    def _names(cls, named: dict[str, str | None]) -> dict[str, str | None]:
        for name in named.values():
            if name is not None and not _RESOURCE_TYPE.fullmatch(name):
                raise ValueError(f"expected a resource type such as gpu, found {name!r}")
        return named


@builtin("trace_source", "pbs-accounting", PbsAccountingParams, capabilities={RECORDS_WAITS})
class PbsAccountingSource(AccountingLogSource):
    """Trace source: accounting logs of PBS Professional and TORQUE: chunks, memory, GPUs, names.

    Daily logs of a folder are read in the order of their names.

    Reasons for skipping a record, in the order in which they apply: `malformed`, `record_Q` and so
    on for records of other types, `whole_array`, `never_started`, `fractional_seconds`,
    `duplicate`, `unsorted`, `zero_run_time`, `missing_requested_time`, `unlike_chunks`,
    `missing_memory`, `uneven_nodes`, `larger_than_system`.

    Users, groups (accounts where there are none) and queues are numbered from 1 as they appear;
    `comments` name them.
    """

    def __init__(self, params: PbsAccountingParams, system: System) -> None:
        lines = TextLines(Path(params.path))
        super().__init__(params, lines, system)
        self._params = params
        self._types = {**_TAKEN_FOR, **params.resource_types}
        self._resources = frozenset(self._types)
        if next(lines.records(), None) is None:
            raise InputError(
                Finding("empty-trace", "the log has no records", Place(str(lines.path), 1))
            )

    def record_of(self, line: str) -> Record:
        """Return the content of a line."""
        number, said = parse_end(line)
        # PBS writes start=0 for a job that was deleted before its start.
        withdrawn = said.get("start") == "0"
        if withdrawn and self._params.withdrawn == "skip":
            raise SetAsideError("never_started", "a job that was not started")
        submit_time = self._second(said, "ctime" if "ctime" in said else "qtime")
        end_time = self._second(said, "end")
        start_time = end_time if withdrawn else self._second(said, "start")
        if end_time < start_time:
            raise ValueError("the job ends before it starts")
        queue = said.get("queue", "")
        # A walltime is optional in PBS: queues may run jobs without a limit.
        limit = said.get("Resource_List.walltime")
        requested_time = -1 if limit is None else self.seconds.duration(parse_time(limit))
        begin = submit_time
        if self._params.begin_times == "honour" and "etime" in said:
            begin = max(self._second(said, "etime"), submit_time)
        return Record(
            number,
            submit_time,
            requested_time if withdrawn else end_time - start_time,
            requested_time,
            lambda: self._request(said),
            details=(
                said.get("user", ""),
                said.get("group") or said.get("account", ""),
                None,
                queue,
                None,
            ),
            texts=(said.get("jobname") or None, queue or None, None),
            wait=start_time - submit_time,
            patience=end_time - submit_time if withdrawn else -1,
            begin_delay=begin - submit_time,
        )

    def _request(self, said: dict[str, str]) -> Request:
        units = self.units_of(*self._totals(said))
        place = said.get("Resource_List.place", "").split(":")
        # What is said of chunks does not hold of units that are something else.
        one_unit_per_node = units.per_node and units.units > 1 and not _SCATTERED.isdisjoint(place)
        request = self.request_for(units, one_unit_per_node=one_unit_per_node)
        return request._replace(exclusive=not _EXCLUSIVE.isdisjoint(place))

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
        """Return the chunk that a job requests repeatedly."""
        count = sum(chunk.number for chunk in chunks)
        if len({tuple(sorted(chunk.amounts.items())) for chunk in chunks}) > 1:
            if self._params.unlike_chunks != "largest":
                raise UnusableError("unlike_chunks", "the job asks for chunks that are unlike")
            self.changes.append("unlike_chunks")
        names = dict.fromkeys(name for chunk in chunks for name in chunk.amounts)
        return Chunk(
            count, {name: max(chunk.amounts.get(name, 0) for chunk in chunks) for name in names}
        )

    def _second(self, said: dict[str, str], key: str) -> int:
        """Return a Unix time of the record; raises ValueError without one."""
        text = said.get(key, "")
        if not _SECOND.fullmatch(text) or float(text) > LARGEST:
            raise ValueError(f"expected {key}= with a Unix time, found {text!r}")
        return self.seconds.instant(text)
