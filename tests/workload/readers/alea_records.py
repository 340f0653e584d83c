"""A reader of logs of the Alea simulator that reads one record after the other."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.mapping import processors_per_node, whole_nodes
from hpcsched.workload.node_properties import NodeProperties
from hpcsched.workload.readers.alea_lines import (
    NO_NODES,
    REQUEST,
    is_list_of_nodes,
    numbers_of,
)
from hpcsched.workload.readers.alea_params import AleaParams
from hpcsched.workload.readers.pbs_nodes import (
    HeterogeneousChunksError,
    NodeRequest,
    parse_node_request,
)
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.record_source import RecordSource
from hpcsched.workload.readers.swf_lines import SwfLines, wait_time
from hpcsched.workload.readers.text_encoding import TextEncoding


class _Wanted(NamedTuple):
    """Request of a record.

    Attributes
    ----------
    request
        The request.
    declared
        Amounts of a unit, as the system declares them.
    room
        Number of such units that fit on the idle system.
    rounded
        Whether a fraction of a processor was cut off.
    ignored
        Whether an unknown property was ignored.
    """

    request: Request
    declared: dict[str, int]
    room: int
    rounded: bool
    ignored: bool


_REQUESTS_KEPT = 4096
"""Size of the cache of parsed requests."""


class AleaRecords(RecordSource):
    """Stream of the jobs of a log, each record by itself."""

    def __init__(self, params: AleaParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        super().__init__(params, system, SwfLines(Path(params.path), encoding), encoding)
        self._params = params
        self._properties = NodeProperties(system, params.properties)
        self._everywhere = frozenset(range(system.node_count))
        self._queues: dict[str, int] = {}
        self._rooms: dict[ShapeKey, int] = {}
        self._wanted = lru_cache(_REQUESTS_KEPT)(self._read_request)

    @property
    def comments(self) -> list[str]:
        """Queues seen so far, as header comments of the Standard Workload Format."""
        named = [f"Queue: {number} {name}" for name, number in self._queues.items()]
        return [*self.lines.comments, *named]

    def parse(self, line: bytes) -> TracedJob:
        """Return the job of a record.

        Raises
        ------
        UnusableError
            If the record gives no job; the reason names the policy.
        """
        numbers = numbers_of(line, self.seconds)
        *_, nodes, queue, text = (field.decode() for field in line.split())
        if not is_list_of_nodes(nodes.encode()):
            raise UnusableError("malformed", NO_NODES)
        (
            job_id, submit_time, run_time, processors, requested_time, memory,
            user, group, application, partition,
        ) = numbers  # fmt: skip
        self.check_submission(job_id, submit_time)
        self.check_run_time(run_time)
        requested_time = self.requested_time(requested_time, run_time)
        wanted = self._wanted(text, processors, memory)
        request = wanted.request
        if request.units > wanted.room:
            self.check_room(request.units, wanted.room, wanted.declared, request.allowed_nodes)
        job = Job(
            job_id,
            submit_time,
            request,
            requested_time,
            user if user >= 0 else None,
            group if group >= 0 else None,
            application if application >= 0 else None,
            self._queue_number(queue),
            partition if partition >= 0 else None,
        )
        if wanted.rounded:
            self.changes.append("fractional_processors")
        if wanted.ignored:
            self.changes.append("unknown_property")
        if self.keeps_waits:
            self.note_wait(job_id, wait_time(line))
        return TracedJob(job, self.clipped(run_time, requested_time))

    def _queue_number(self, queue: str) -> int:
        return self._queues.setdefault(queue, len(self._queues) + 1)

    def _read_request(self, text: str, processors: int, memory: int) -> _Wanted:
        """Return the request of a record.

        Raises
        ------
        UnusableError
            If the system cannot express the request.
        """
        asked = self._node_request(text, processors)
        declared, units = self._units(asked, self._memory(asked, memory))
        # Node sets are frozen and cached per request text, so that equal requests share one.
        allowed, ignored = self._allowed_nodes(asked)
        request = Request(
            units=units,
            unit_request=self.system.request(declared),
            allowed_nodes=allowed,
            exclusive=asked.exclusive,
        )
        return _Wanted(request, declared, self._room(request), asked.rounded, ignored)

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
