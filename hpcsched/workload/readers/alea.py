"""Trace source `alea`: the extended Standard Workload Format of the Alea simulator.

A record has the 18 fields of the standard, with two of another meaning (submit times are Unix
times, and field 10 is the memory requested on each node, in bytes), and three more: the nodes that
were used (`{7,7,9}`, one number a core), the name of the queue, and the request as PBS wrote it
(`2:ppn=8:cl_zewura#excl`).

Source: D. Klusáček, Š. Tóth, G. Podolníková, *Complex Job Scheduling Simulations with Alea 4*,
2016; the memory is per node as in that simulator's own reader.
"""

from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np

from hpcsched._core import Verdict
from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job_columns import NUMBERED
from hpcsched.workload.mapping import processors_per_node, whole_nodes
from hpcsched.workload.node_properties import NodeProperties
from hpcsched.workload.readers.alea_lines import (
    FIELDS,
    NO_NODES,
    REQUEST,
    USED,
    is_list_of_nodes,
    numbers_of,
)
from hpcsched.workload.readers.alea_params import AleaParams, review_alea
from hpcsched.workload.readers.column_source import ColumnSource
from hpcsched.workload.readers.pbs_nodes import (
    HeterogeneousChunksError,
    NodeRequest,
    parse_node_request,
)
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.scanned_lines import LineRequest, Lines, ScannedLines
from hpcsched.workload.readers.swf_lines import SwfLines
from hpcsched.workload.readers.text_encoding import TextEncoding

_QUEUE_DETAIL = NUMBERED.index("queue")


_Asked = tuple[bytes, int, int]
"""Request of a record as PBS wrote it, its number of processors, and its memory in bytes."""

_REQUESTS_KEPT = 4096
"""Size of the cache of parsed requests."""


@builtin(
    "trace_source",
    "alea",
    AleaParams,
    summary="logs of the Alea simulator: cores and memory, node properties, exclusive use",
    capabilities={RECORDS_WAITS},
    review=review_alea,
)
class AleaSource(ColumnSource):
    """Stream of the jobs of a log of the Alea simulator.

    Reasons for skipping a record, in the order in which they apply: `malformed`, `unsorted`,
    `missing_run_time`, `zero_run_time`, `missing_requested_time`, `unlike_chunks`,
    `fractional_processors`, `unlike_processors`, `missing_memory`, `unknown_property`,
    `larger_than_system`. Queues are numbered from 1 as they appear; `comments` name them.
    """

    field_count = FIELDS
    number_count = 0
    fields_read = USED

    @classmethod
    def build(cls, params: AleaParams, context: Context) -> Self:
        """Make the source for the scenario's system."""
        return cls(params, context.system)

    def __init__(self, params: AleaParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        lines = SwfLines(Path(params.path), encoding)
        super().__init__(params, system, lines, encoding)
        self._params = params
        self._check_system()
        self._properties = NodeProperties(system, params.properties)
        self._everywhere = frozenset(range(system.node_count))
        self._queues: dict[str, int] = {}
        self._rooms: dict[ShapeKey, int] = {}
        self._asked = lru_cache(_REQUESTS_KEPT)(self.read_request)
        lines.read_header()  # so that a file that cannot be read is known at once

    @property
    def comments(self) -> list[str]:
        """Queues seen so far, as header comments of the Standard Workload Format."""
        named = [f"Queue: {number} {name}" for name, number in self._queues.items()]
        return [*self.lines.comments, *named]

    def odd_numbers(self, line: bytes) -> list[int]:
        """Return the used numbers of a record; raises UnusableError if the line is no record."""
        return numbers_of(line, self.seconds)

    def scan(self, lines: Lines) -> ScannedLines:
        """Return lines as columns; `finish` numbers the queues of the lines that give jobs."""
        job_id, submit_time, run_time, processors, requested_time, memory = lines.numbers[:6]
        request = np.full(len(job_id), -1)
        known: dict[_Asked, int] = {}
        requests: list[LineRequest] = []
        there = np.flatnonzero(lines.verdicts == Verdict.JOB)
        given = (column[there].tolist() for column in (processors, memory))
        for k, *numbers in zip(there.tolist(), *given, strict=True):
            _, nodes, _, text = lines[k].rsplit(None, 3)
            if not is_list_of_nodes(nodes):
                problem = UnusableError("malformed", NO_NODES)
                lines.refuse(k, problem, Verdict.NO_RECORD)
                continue
            key = text, *numbers
            if key not in known:
                known[key] = len(requests)
                requests.append(self._asked(*key))
            request[k] = known[key]
        user, group, application, partition = lines.numbers[6:]
        return ScannedLines(
            job_id,
            submit_time,
            run_time,
            requested_time,
            request,
            requests,
            np.stack((user, group, application, np.full_like(user, -1), partition)),
            np.zeros_like(job_id),
        )

    def finish(self, lines: Lines, scanned: ScannedLines, rows: IntArray) -> None:
        """Number the queues of the jobs, in their order.

        Parameters
        ----------
        lines
            The lines, `[L]`.
        rows
            Indices of the lines that give jobs, ascending.
        """
        for k in rows.tolist():
            queue = lines[k].rsplit(None, 2)[1].decode()
            number = self._queues.setdefault(queue, len(self._queues) + 1)
            scanned.details[_QUEUE_DETAIL, k] = number

    def read_request(self, text: bytes, processors: int, memory: int) -> LineRequest:
        """Return the request in a record's text; numbers are those of the record's other fields."""
        request = Request(1, (0,) * len(self.system.resource_types))
        changes: list[str] = []
        try:
            asked = self._node_request(text.decode(), processors)
            declared, units = self._units(asked, self._memory(asked, memory))
            # Node sets are frozen and cached per request text, so that equal requests share one.
            allowed, ignored = self._allowed_nodes(asked)
            request = Request(
                units=units,
                unit_request=self.system.request(declared),
                allowed_nodes=allowed,
                exclusive=asked.exclusive,
            )
            changes += ["fractional_processors"] * asked.rounded + ["unknown_property"] * ignored
            self.check_room(units, self._room(request), declared, allowed)
        except UnusableError as problem:
            return LineRequest(request, problem)
        return LineRequest(request, None, changes)

    def _node_request(self, text: str, processors: int) -> NodeRequest:
        try:
            asked = parse_node_request(text)
        except HeterogeneousChunksError as error:
            raise UnusableError("unlike_chunks", str(error)) from None
        except ValueError as error:
            raise UnusableError("malformed", f"field {REQUEST + 1}: {error}") from None
        if asked.rounded and self._params.fractional_processors != "down":
            raise UnusableError("fractional_processors", f"{text!r} asks for a part of one")
        requested = asked.nodes * asked.processors
        # Field 8 repeats the request; -1 means that the log leaves it out.
        if processors not in (-1, requested) and self._params.unlike_processors != "request":
            raise UnusableError(
                "unlike_processors",
                f"field 8 says {processors} processors, and the request {text!r} {requested}",
            )
        return asked

    def _memory(self, asked: NodeRequest, recorded: int) -> int:
        """Return the requested bytes on each node."""
        if asked.memory is not None:
            return asked.memory
        if recorded > 0:
            return recorded
        if self._params.missing_memory == "zero":
            return 0
        raise UnusableError("missing_memory", "no requested memory is given")

    def _units(self, asked: NodeRequest, memory: int) -> tuple[dict[str, int], int]:
        """Return the declared amounts of a unit, and the number of units."""
        if self._params.mapping == "as_requested":
            return {"core": asked.processors, "mem": memory}, asked.nodes
        processors = asked.nodes * asked.processors
        each = {"core": 1, "mem": -(-memory // asked.processors)}
        if self._params.mapping == "one_each":
            return each, processors
        per_node = processors_per_node(self.system, self.system.request(each))
        units, size = whole_nodes(processors, per_node) if per_node else (processors, 1)
        return {name: amount * size for name, amount in each.items()}, units

    def _allowed_nodes(self, asked: NodeRequest) -> tuple[frozenset[int] | None, bool]:
        """Return the nodes that have all required and no excluded properties; None for all nodes.

        The second value says whether an unknown property was ignored.
        """
        wanted = [self._properties.nodes_with(name) for name in asked.wanted]
        unwanted = [self._properties.nodes_with(name) for name in asked.unwanted]
        ignored = None in wanted or None in unwanted
        if ignored and self._params.unknown_property != "ignore":
            named = zip(asked.wanted + asked.unwanted, wanted + unwanted, strict=True)
            unknown = (name for name, nodes in named if nodes is None)
            raise UnusableError(
                "unknown_property", f"no node group is said to have {', '.join(unknown)}"
            )
        allowed = self._everywhere
        for nodes in wanted:
            allowed = allowed if nodes is None else allowed & nodes
        for nodes in unwanted:
            allowed = allowed if nodes is None else allowed - nodes
        return None if allowed == self._everywhere else allowed, ignored

    def _room(self, request: Request) -> int:
        shape = shape_key(request)
        room = self._rooms.get(shape)
        if room is None:
            if not any(request.unit_request):
                raise UnusableError("malformed", "a unit must ask for at least one resource type")
            fits = units_that_fit(self.system, self.system.capacity.T, request)
            room = self._rooms[shape] = int(fits.sum())
        return room

    def _check_system(self) -> None:
        """Raise InputError if the system lacks a resource type or node group of the requests."""
        lacking = [name for name in ("core", "mem") if name not in self.system.resource_types]
        groups = {group.name for group in self.system.groups}
        findings = [
            Finding(
                "unknown-resource-type",
                f"the records ask for core and mem, and no node group has {name}; there are:"
                f" {', '.join(self.system.resource_types)}",
                Place(str(self.lines.path)),
                key="system",
            )
            for name in lacking
        ]
        findings += [
            Finding(
                "unknown-node-group",
                f"there is no node group {group!r} that could have the property {name!r}; there"
                f" are: {', '.join(sorted(groups))}",
                Place(str(self.lines.path)),
                key=f"trace.properties.{name}",
            )
            for name, listed in self._params.properties.items()
            for group in listed
            if group not in groups
        ]
        if findings:
            raise InputError(findings)
