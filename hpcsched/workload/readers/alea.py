"""Trace source `alea`: the extended Standard Workload Format of the Alea simulator.

A record has the 18 fields of the standard, with two of another meaning (submit times are Unix
times, and field 10 is the memory requested on each node, in bytes), and three more: the nodes that
were used (`{7,7,9}`, one number a core), the name of the queue, and the request as PBS wrote it
(`2:ppn=8:cl_zewura#excl`).

Source: D. Klusáček, Š. Tóth, G. Podolníková, *Complex Job Scheduling Simulations with Alea 4*,
2016; the memory is per node as in that simulator's own reader.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from hpcsched._core import Verdict
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import Listed
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.job import NUMBERED
from hpcsched.workload.readers.log_source import (
    NO_REQUEST,
    Block,
    NamesSeen,
    ReadRequest,
    check_types,
)
from hpcsched.workload.readers.pbs_accounting import parse_size
from hpcsched.workload.readers.policies import RecordPolicies, UnusableError
from hpcsched.workload.readers.swf import Lines, LineSource, other_machine
from hpcsched.workload.readers.text_files import decoded


class AleaParams(RecordPolicies):
    """Parameters of `alea`: the log, and policies for records that cannot be used as they are."""

    mapping: Literal["as_requested", "one_each"] = "as_requested"
    """Units of a job: the nodes that it requested, with the processors on each; or its processors,
    one each, among which memory is shared out."""
    properties: dict[str, Annotated[tuple[str, ...], Listed]] = Field(default_factory=dict)
    """Node groups by property of requests. Known without it: cl_GROUP, nodecpusN, and host names
    such as GROUP7."""
    unknown_property: Literal["ignore", "skip", "error"] = "ignore"
    """Policy for a request for a property that is not known; ignoring it is counted as a
    clipping."""
    unlike_chunks: Literal["skip", "error"] = "skip"
    """Policy for a request for unlike nodes, such as 1:ppn=1+3:ppn=2."""
    missing_memory: Literal["zero", "skip", "error"] = "error"
    """Policy for requested memory that is not given; `zero` reads it as 0."""


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


_NODES = re.compile(r"[0-9]{1,10}")
_PROCESSORS = re.compile(r"([0-9]{1,10})(\.[0-9]{1,6})?")


def parse_node_request(text: str) -> NodeRequest:
    """Return the request in the syntax of PBS and TORQUE users, such as `2:ppn=8:cl_zewura#excl`.

    A request is a list of chunks with `+` between them; a chunk is a number of nodes, the
    processors on each (`ppn`), and properties that the nodes must have (`cl_zewura`) or must not
    have (`^cl_zewura`).
    """
    body, mark, flags = text.partition("#")
    if mark and flags != "excl":
        raise ValueError(f"expected '#excl', found {'#' + flags!r}")
    chunks = [_chunk(part, exclusive=bool(flags)) for part in body.split("+")]
    if len({chunk._replace(nodes=0) for chunk in chunks}) > 1:
        raise UnusableError("unlike_chunks", f"the chunks of {text!r} ask for unlike nodes")
    return chunks[0]._replace(nodes=sum(chunk.nodes for chunk in chunks))


def _chunk(text: str, *, exclusive: bool) -> NodeRequest:
    first, *words = text.split(":")
    if first[:1].isalpha() or first[:1] == "^":  # one node, of which this is a name or a property
        first, words = "1", [first, *words]
    if not _NODES.fullmatch(first) or not int(first):
        raise ValueError(f"expected a number of nodes from 1 on, found {first!r}")
    request = NodeRequest(int(first), 1, exclusive=exclusive)
    wanted: set[str] = set()
    unwanted: set[str] = set()
    for word in words:
        key, equals, value = word.partition("=")
        if key == "ppn" and equals:
            match = _PROCESSORS.fullmatch(value)
            if not match or not int(match[1]):
                raise ValueError(f"expected ppn=1 or more, found {word!r}")
            rounded = bool(match[2] and match[2].strip(".0"))
            request = request._replace(processors=int(match[1]), rounded=rounded)
        elif key == "mem" and equals:
            request = request._replace(memory=parse_size(value))
        elif word == "excl":
            request = request._replace(exclusive=True)
        elif key == "host" and value:
            wanted.add(value)
        elif equals or not word.strip("^"):
            raise ValueError(f"expected a property, ppn=, mem= or host=, found {word!r}")
        else:
            (unwanted if word.startswith("^") else wanted).add(word.removeprefix("^"))
    # Sorted, since their order makes no difference between chunks.
    return request._replace(wanted=tuple(sorted(wanted)), unwanted=tuple(sorted(unwanted)))


def node_properties(
    system: System, listed: Mapping[str, Sequence[str]]
) -> dict[str, frozenset[int]]:
    """Return the numbers of nodes by property.

    A name is a property in the scenario; or `cl_GROUP`, the nodes of a group; or `nodecpusN`, the
    nodes with N cores; or a node's host name: the group's name with the node's number in the group,
    counted from 1.
    """
    known: dict[str, frozenset[int]] = {}
    first = 0
    for group in system.groups:
        nodes = range(first, first + group.count)
        first += group.count
        known |= {f"{group.name}{k}": frozenset({node}) for k, node in enumerate(nodes, 1)}
        known[f"cl_{group.name}"] = frozenset(nodes)
        alike = f"nodecpus{group.resources.get('core')}"
        known[alike] = known.get(alike, frozenset()).union(nodes)
    of_groups = {
        name: frozenset[int]().union(*(known[f"cl_{group}"] for group in groups))
        for name, groups in listed.items()
    }
    return known | of_groups


def nodes_with(known: Mapping[str, frozenset[int]], name: str) -> frozenset[int] | None:
    """Return the nodes with a property, or of a host name, maybe with a domain; None for others."""
    while name not in known and "." in name:
        name = name.rpartition(".")[0]
    return known.get(name)


_QUEUE_DETAIL = NUMBERED.index("queue")
_REQUESTS_KEPT = 4096
"""Size of the cache of parsed requests."""


@builtin(
    "trace_source",
    "alea",
    AleaParams,
    summary="logs of the Alea simulator: cores and memory, node properties, exclusive use",
    capabilities={RECORDS_WAITS},
    review=other_machine,
)
class AleaSource(LineSource):
    """Stream of the jobs of a log of the Alea simulator.

    Reasons for skipping a record, in the order in which they apply: `malformed`, `unsorted`,
    `missing_run_time`, `zero_run_time`, `missing_requested_time`, `unlike_chunks`,
    `missing_memory`, `unknown_property`, `larger_than_system`. A fraction of a processor is cut
    off, and a number of processors other than that of the request (field 8) ignored: both count as
    clippings, `fractional_processors` and `unlike_processors`. Queues are numbered from 1 as they
    appear; `comments` name them.
    """

    field_count = 21
    fields_read = (0, 1, 3, 7, 8, 9, 11, 12, 13, 15)
    """Job, submit, run time, processors, requested time, memory, user to application, partition."""

    def __init__(self, params: AleaParams, system: System) -> None:
        super().__init__(params, system)
        self._params = params
        self._check_system()
        self._properties = node_properties(system, params.properties)
        self.names = {_QUEUE_DETAIL: NamesSeen("Queue")}
        self._asked = lru_cache(_REQUESTS_KEPT)(self.read_request)

    def scan(self, lines: Lines) -> Block:
        """Return lines as columns."""
        job_id, submit_time, run_time, processors, requested_time, memory = lines.numbers[:6]
        request = np.full(len(job_id), -1)
        known: dict[tuple[bytes, int, int], int] = {}
        requests: list[ReadRequest] = []
        there = np.flatnonzero(lines.verdicts == Verdict.JOB)
        given = (column[there].tolist() for column in (processors, memory))
        for k, *numbers in zip(there.tolist(), *given, strict=True):
            _, nodes, _, text = lines[k].rsplit(None, 3)
            if nodes[:1] + nodes[-1:] != b"{}":
                message = "field 19: expected nodes between braces"
                lines.refuse(k, UnusableError("malformed", message))
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
            named={_QUEUE_DETAIL: lambda k: decoded(lines[k].rsplit(None, 2)[1])},
        )

    def read_request(self, text: bytes, processors: int, memory: int) -> ReadRequest:
        """Return the request in a record's text; numbers are those of the record's other fields."""
        try:
            try:
                asked = parse_node_request(text.decode("ascii", "replace"))
            except ValueError as error:
                raise UnusableError("malformed", f"field 21: {error}") from None
            declared, units = self._units(asked, self._memory(asked, memory))
            # Node sets are frozen and cached per request text, so that equal requests share one.
            allowed, ignored = self._allowed_nodes(asked)
            request = Request(
                units=units,
                unit_request=self.system.request(declared),
                allowed_nodes=allowed,
                exclusive=asked.exclusive,
            )
            self.check_room(request, declared)
        except UnusableError as problem:
            return ReadRequest(NO_REQUEST, problem)
        changes = {
            "fractional_processors": asked.rounded,
            "unlike_processors": processors not in (-1, asked.nodes * asked.processors),
            "unknown_property": ignored,
        }
        return ReadRequest(request, None, [name for name, true in changes.items() if true])

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
        each = {"core": 1, "mem": -(-memory // asked.processors)}
        return each, asked.nodes * asked.processors

    def _allowed_nodes(self, asked: NodeRequest) -> tuple[frozenset[int] | None, bool]:
        """Return the nodes that have all required and no excluded properties; None for all nodes.

        The second value says whether an unknown property was ignored.
        """
        found = {name: nodes_with(self._properties, name) for name in asked.wanted + asked.unwanted}
        known = {name: nodes for name, nodes in found.items() if nodes is not None}
        unknown = [name for name in found if name not in known]
        if unknown and self._params.unknown_property != "ignore":
            message = f"no node group is said to have {', '.join(unknown)}"
            raise UnusableError("unknown_property", message)
        everywhere = frozenset(range(self.system.node_count))
        allowed = everywhere.intersection(*(known.get(name, everywhere) for name in asked.wanted))
        allowed = allowed.difference(*(known.get(name, ()) for name in asked.unwanted))
        return None if allowed == everywhere else allowed, bool(unknown)

    def _check_system(self) -> None:
        """Raise InputError if the system lacks a resource type or node group of the requests."""
        check_types(self.system, ("core", "mem"), self.lines.path, "system")
        groups = {group.name for group in self.system.groups}
        findings = [
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
