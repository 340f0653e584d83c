"""Trace source `alea`: the extended Standard Workload Format of the Alea simulator.

A record has the 18 fields of the standard, with two of another meaning (submit times are Unix
times, and field 10 is the memory requested on each node, in bytes), and three more: the nodes that
were used (`{7,7,9}`, one number a core), the name of the queue, and the request as PBS wrote it
(`2:ppn=8:cl_zewura#excl`).

Source: D. Klusáček, Š. Tóth, G. Podolníková, *Complex Job Scheduling Simulations with Alea 4*,
2016; the memory is per node as in that simulator's own reader.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import floor
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field

from hpcsched._core import Verdict
from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST, Listed
from hpcsched.registration import RECORDS_WAITS, Caution, builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.job_columns import NUMBERED
from hpcsched.workload.readers.equal_units import processors_per_node, whole_nodes
from hpcsched.workload.readers.log_source import Block, NamesSeen, ReadRequest
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.swf import header_of
from hpcsched.workload.readers.swf_lines import (
    DURATIONS,
    Lines,
    LineSource,
    SwfLines,
    header_machine,
    other_machine,
    whole_numbers,
)
from hpcsched.workload.readers.text_files import TextEncoding


class AleaParams(RecordPolicies):
    """Parameters of `alea`: the log, and policies for records that cannot be used as they are."""

    mapping: Literal["as_requested", "one_each", "whole_nodes"] = Field(
        "as_requested",
        description="Units of a job: the nodes that it requested, with the processors on"
        " each; its processors, one each; or its processors in units as large as a node of the"
        " largest group allows. Memory is shared out with the processors.",
    )
    properties: dict[str, Annotated[tuple[str, ...], Listed]] = Field(
        default_factory=dict,
        description="Node groups by property of requests. Known without it: cl_GROUP, nodecpusN,"
        " and host names such as GROUP7.",
    )
    unknown_property: Literal["ignore", "skip", "error"] = Field(
        "ignore",
        description="Policy for a request for a property that is not known; ignoring it is"
        " counted as a clipping.",
    )
    fractional_processors: Literal["down", "skip", "error"] = Field(
        "down", description="Policy for a request such as ppn=1.5; rounding down is counted."
    )
    unlike_chunks: Literal["skip", "error"] = Field(
        "skip", description="Policy for a request for unlike nodes, such as 1:ppn=1+3:ppn=2."
    )
    unlike_processors: Literal["request", "skip", "error"] = Field(
        "error",
        description="Policy for a record with a number of processors other than that of its"
        " request: use the request, or not.",
    )
    missing_memory: Literal["zero", "skip", "error"] = Field(
        "error", description="Policy for requested memory that is not given; `zero` reads it as 0."
    )


def review_alea(params: AleaParams, system: System) -> Iterator[Caution]:
    """Yield a caution if the header tells another machine than the system."""
    comments = header_of(Path(params.path), TextEncoding(params.encoding))
    yield from other_machine(header_machine(comments), system, {"core": 1})


FIELDS = 21
USED = (0, 1, 3, 7, 8, 9, 11, 12, 13, 15)
"""Job, submit, run time, processors, requested time, memory, user to application, partition."""
NODES, REQUEST = 18, 20
NO_NODES = f"field {NODES + 1}: expected nodes between braces"

_used = itemgetter(*USED)


def numbers_of(line: bytes, seconds: WholeSeconds) -> list[int]:
    """Return the used numbers of a record.

    Parameters
    ----------
    line
        The record, in UTF-8.
    """
    fields = line.split()
    if len(fields) != FIELDS:
        raise UnusableError("malformed", f"expected {FIELDS} fields, found {len(fields)}")
    texts = _used(fields)
    # Python accepts 1_000 as a number, logs do not mean it as one.
    if b"_" in b" ".join(texts):  # int() takes it for a separator of digits
        raise UnusableError("malformed", "expected whole numbers, found '_'")
    try:
        numbers = list(map(int, texts))
    except ValueError:
        numbers = whole_numbers(fields, USED, DURATIONS, seconds)
    if max(numbers) > LARGEST:
        raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
    return numbers


def is_list_of_nodes(field: bytes) -> bool:
    """Return True if a field is a list of nodes between braces."""
    return field[:1] == b"{" and field[-1:] == b"}"


_MEMORY = re.compile(r"([0-9]{1,15})(b|kb|mb|gb|tb)?", re.IGNORECASE)
_BYTES = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
_LARGEST = 10**9


class NodeRequest(NamedTuple):
    """Request for identical nodes.

    Attributes
    ----------
    memory
        Bytes on each node; None if not given.
    exclusive
        Whether other jobs are kept off the nodes.
    rounded
        Whether a fraction of a processor was cut off.
    """

    nodes: int
    processors: int
    memory: int | None = None
    exclusive: bool = False
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    rounded: bool = False


class HeterogeneousChunksError(ValueError):
    """Request for heterogeneous chunks, which are no identical units of one job."""


def parse_node_request(text: str) -> NodeRequest:
    """Return the request in the syntax of PBS and TORQUE users, such as `2:ppn=8:cl_zewura#excl`.

    A request is a list of chunks with `+` between them; a chunk is a number of nodes, the
    processors on each (`ppn`), and properties that the nodes must have (`cl_zewura`) or must not
    have (`^cl_zewura`).

    Examples
    --------
    >>> parse_node_request("2:ppn=8").processors
    8
    """
    body, mark, flags = text.partition("#")
    if mark and flags != "excl":
        raise ValueError(f"expected '#excl', found {'#' + flags!r}")
    chunks = [_chunk(part, exclusive=bool(flags)) for part in body.split("+")]
    if len({chunk._replace(nodes=0) for chunk in chunks}) > 1:
        raise HeterogeneousChunksError(f"the chunks of {text!r} ask for unlike nodes")
    return chunks[0]._replace(nodes=sum(chunk.nodes for chunk in chunks))


def _chunk(text: str, *, exclusive: bool) -> NodeRequest:
    first, *others = text.split(":")
    if first[:1].isalpha() or first[:1] == "^":  # one node, of which this is a name or a property
        request, others = NodeRequest(1, 1, exclusive=exclusive), [first, *others]
    else:
        request = NodeRequest(_whole(first), 1, exclusive=exclusive)
    wanted: set[str] = set()
    unwanted: set[str] = set()
    for word in others:
        key, equals, value = word.partition("=")
        if key == "ppn" and equals:
            processors = _processors(value)
            request = request._replace(
                processors=floor(processors), rounded=processors != floor(processors)
            )
        elif key == "mem" and equals:
            request = request._replace(memory=_memory(value))
        elif key == "host" and value:
            wanted.add(value)
        elif word == "excl":
            request = request._replace(exclusive=True)
        elif word.startswith("^") and len(word) > 1 and not equals:
            unwanted.add(word[1:])
        elif word.strip("^") and not equals:
            wanted.add(word)
        else:
            raise ValueError(f"expected a property, ppn=, mem= or host=, found {word!r}")
    # Sorted, since their order makes no difference between chunks.
    return request._replace(wanted=tuple(sorted(wanted)), unwanted=tuple(sorted(unwanted)))


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or not 1 <= int(text) <= _LARGEST:
        raise ValueError(f"expected a number of nodes from 1 on, found {text!r}")
    return int(text)


def _processors(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,6})?", text) or not 1 <= float(text) <= _LARGEST:
        raise ValueError(f"expected ppn=1 or more, found 'ppn={text}'")
    return float(text)


def _memory(text: str) -> int:
    match = _MEMORY.fullmatch(text)
    amount = int(match[1]) * _BYTES[(match[2] or "").lower()] if match else 0
    if not 1 <= amount <= LARGEST:
        raise ValueError(f"expected an amount such as mem=3gb, found 'mem={text}'")
    return amount


class NodeProperties:
    """Nodes by the name of a property.

    A name is a property in the scenario; or `cl_GROUP`, the nodes of a group; or `nodecpusN`, the
    nodes with N cores; or a node's host name: the group's name with the node's number in the group,
    counted from 1, and perhaps a domain.
    """

    def __init__(self, system: System, listed: Mapping[str, Sequence[str]]) -> None:
        self._system = system
        self._known: dict[str, frozenset[int] | None] = {}
        nodes: dict[str, range] = {}
        first = 0
        for group in system.groups:
            nodes[group.name] = range(first, first + group.count)
            first += group.count
        self._nodes = nodes
        for name, groups in listed.items():
            self._known[name] = frozenset(node for group in groups for node in nodes[group])

    def nodes_with(self, name: str) -> frozenset[int] | None:
        """Return the numbers of the nodes with a property; None for an unknown name."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> frozenset[int] | None:
        if name.startswith("cl_") and name[3:] in self._nodes:
            return frozenset(self._nodes[name[3:]])
        if cores := re.fullmatch(r"nodecpus([0-9]{1,9})", name):
            alike = [
                frozenset(self._nodes[group.name])
                for group in self._system.groups
                if group.resources.get("core") == int(cores[1])
            ]
            return frozenset().union(*alike) if alike else None
        for group, nodes in self._nodes.items():
            number = re.fullmatch(rf"{re.escape(group)}([1-9][0-9]{{0,8}})(\..*)?", name)
            if number and int(number[1]) <= len(nodes):
                return frozenset({nodes[int(number[1]) - 1]})
        return None


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
class AleaSource(LineSource):
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
        self.names = {_QUEUE_DETAIL: NamesSeen("Queue")}
        self._asked = lru_cache(_REQUESTS_KEPT)(self.read_request)
        lines.read_header()  # so that a file that cannot be read is known at once

    def odd_numbers(self, line: bytes) -> list[int]:
        """Return the used numbers of a record; raises UnusableError if the line is no record."""
        return numbers_of(line, self.seconds)

    def scan(self, lines: Lines) -> Block:
        """Return lines as columns."""
        job_id, submit_time, run_time, processors, requested_time, memory = lines.numbers[:6]
        request = np.full(len(job_id), -1)
        known: dict[_Asked, int] = {}
        requests: list[ReadRequest] = []
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
        return lines.block(
            job_id,
            submit_time,
            run_time,
            requested_time,
            request,
            requests,
            np.stack((user, group, application, np.full_like(user, -1), partition)),
            np.zeros_like(job_id),
            named={_QUEUE_DETAIL: lambda k: lines[k].rsplit(None, 2)[1].decode()},
        )

    def read_request(self, text: bytes, processors: int, memory: int) -> ReadRequest:
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
            self.check_room(request, declared)
        except UnusableError as problem:
            return ReadRequest(request, problem)
        return ReadRequest(request, None, changes)

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
