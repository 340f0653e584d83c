"""Files of dispatching problems: gzip JSON lines, a header, then a line for each problem."""

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import index
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import (
    Dispatcher,
    DispatchingProblem,
    Objective,
    RunningJob,
    WaitingJob,
    plans_past_outages,
    waiting_job,
    waits_for_outage,
)
from hpcsched.errors import Finding, HpcschedError, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.manifest import sha256
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.faults import sentence
from hpcsched.scenario.key_path import show_key_path
from hpcsched.scenario.loading import check_document
from hpcsched.scenario.system import SystemDeclaration
from hpcsched.simulation.check import check_allocation
from hpcsched.simulation.event_loop import simulate
from hpcsched.studies.progress import Bar
from hpcsched.system import space
from hpcsched.system.shared_resources import longest_stay
from hpcsched.system.system import Request, System, is_constrained
from hpcsched.version import __version__
from hpcsched.whole_files import cannot_write, check_target, file_error, replacing
from hpcsched.workload.job import BOUNDS, NUMBERED, TEXTS, Job, bounded_request

Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=1, le=LARGEST)]
Amount = Annotated[int, Field(ge=0, le=2**63 - 1)]
Node = Annotated[int, Field(ge=0, le=LARGEST)]


class Line(BaseModel):
    """Base of the parts of a line: frozen, strict, unknown keys refused."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class JobLine(Line):
    """A job, with the keys of `Job` and its prediction; absent values are left out."""

    job_id: Whole
    submit_time: Whole
    units: Count
    unit_request: tuple[Amount, ...]
    requested_time: Whole
    predicted_run_time: Count
    expected_run_time: Count | None = None
    user: Whole | None = None
    group: Whole | None = None
    application: Whole | None = None
    queue: Whole | None = None
    partition: Whole | None = None
    node_groups: tuple[str, ...] | None = None
    exclusive: bool = False
    one_unit_per_node: bool = False
    allowed_nodes: tuple[Node, ...] | None = None
    name: str | None = None
    queue_name: str | None = None
    partition_name: str | None = None
    shared_requests: tuple[tuple[str, Amount], ...] = ()


class PlacedLine(Line):
    """Start and places of a running job: nodes with the units on each."""

    job_id: Whole
    start_time: Whole
    nodes: tuple[Node, ...]
    node_units: tuple[Count, ...]


class ProblemLine(Line):
    """A dispatching problem.

    Attributes
    ----------
    jobs, placed
        Jobs and allocations that are new or changed since the line before.
    running
        Number and predicted end of each running job, in the order of the problem.
    """

    round: Count
    now: Whole
    jobs: tuple[JobLine, ...] = ()
    placed: tuple[PlacedLine, ...] = ()
    running: tuple[tuple[Whole, Whole], ...] = ()
    queue: tuple[Whole, ...]


def first_fault(error: ValidationError) -> str:
    """Return the first fault: place, expected and found value."""
    # The first alone: later ones of a damaged line mostly follow from it.
    details = error.errors(include_url=False)[0]
    at = details["loc"]
    if details["type"] == "json_invalid":
        text = f"expected JSON, found a fault in it: {details['ctx']['error']}"
    elif details["type"] == "extra_forbidden":
        text = f"there is no key {at[-1]!r}"
    else:
        text = sentence(details)
    if details["type"] in ("extra_forbidden", "missing"):
        at = at[:-1]
    return f"{show_key_path(at)}: {text}" if at else text


_OPTIONAL = (*NUMBERED, *TEXTS)
# Numbers of nodes may be many; they come last.
_BOUNDS = sorted(BOUNDS, key=lambda column: column.kind == "numbers")


class Encoder:
    """Writer of the lines of a file, one after another (see `ProblemLine`).

    It remembers the last problem alone. Equal problems give equal bytes.
    """

    def __init__(self) -> None:
        self._jobs: Mapping[int, WaitingJob] = {}
        self._placed: Mapping[int, tuple[int, space.NodeAllocation]] = {}

    def encode(self, problem: DispatchingProblem) -> bytes:
        """Return the line of a problem, with its end."""
        jobs = {job.job_id: job for job in problem.queue}
        jobs |= {running.job_id: running.waiting for running in problem.running}
        described = {
            job_id: job
            for job_id, job in jobs.items()
            # Identity first: nearly all jobs are the very objects of the last problem, and a
            # comparison goes through all their fields.
            if (known := self._jobs.get(job_id)) is not job and known != job
        }
        placed = {job.job_id: (job.start_time, job.allocation) for job in problem.running}
        # A job that is described anew is placed anew: the decoder releases it by its old request.
        newly = [
            job
            for job in problem.running
            if job.job_id in described or self._placed.get(job.job_id) != placed[job.job_id]
        ]
        content: dict[str, Any] = {"round": problem.round, "now": problem.now}
        if described:
            content["jobs"] = [_job(waiting) for waiting in described.values()]
        if newly:
            content["placed"] = [
                {
                    "job_id": running.job_id,
                    "start_time": running.start_time,
                    "nodes": running.allocation.nodes,
                    "node_units": running.allocation.units,
                }
                for running in newly
            ]
        if problem.running:
            content["running"] = [(job.job_id, job.predicted_end_time) for job in problem.running]
        content["queue"] = [job.job_id for job in problem.queue]
        self._jobs, self._placed = jobs, placed
        return as_line(content)


def as_line(content: Mapping[str, Any]) -> bytes:
    """Return a JSON object as a line."""
    # Whole numbers of numpy, which plugins may bring, are whole numbers too.
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, default=index)
    return f"{text}\n".encode()


def _job(waiting: WaitingJob) -> dict[str, Any]:
    job, request = waiting.job, waiting.request
    content: dict[str, Any] = {
        "job_id": job.job_id,
        "submit_time": job.submit_time,
        "units": request.units,
        "unit_request": request.unit_request,
        "requested_time": job.requested_time,
        "predicted_run_time": waiting.predicted_run_time,
    }
    if waiting.expected_run_time != waiting.predicted_run_time:
        content["expected_run_time"] = waiting.expected_run_time
    given = ((name, getattr(job, name)) for name in _OPTIONAL)
    content |= {name: value for name, value in given if value is not None}
    for column in _BOUNDS:
        value = column.get(request)
        # Not `if value`: an empty set of nodes is a bound too, and one that nothing fits.
        if value is not None and value is not False:
            content[column.name] = column.told(value)
    if request.shared_requests:
        content["shared_requests"] = request.shared_requests
    return content


class _Placed(NamedTuple):
    """A running job: start time, allocation, and request."""

    start_time: int
    allocation: space.NodeAllocation
    request: Request


class Decoder:
    """Reader of the lines of a file, one after another (see `ProblemLine`).

    Free resources are not in the file: they are computed from the running jobs, claimed as in a
    replay, so that a line in which they hold too much is detected. After an error the decoder
    cannot be used any more.
    """

    def __init__(
        self, system: System, uniform_request: tuple[int, ...] | None, objective: Objective
    ) -> None:
        self._system = system
        self._request = uniform_request
        self._objective = objective
        self._space = space.NodeSpace(system)
        self._jobs: dict[int, WaitingJob] = {}
        self._placed: dict[int, _Placed] = {}

    def decode(self, text: bytes) -> DispatchingProblem:
        """Return the problem of a line."""
        try:
            line = ProblemLine.model_validate_json(text)
        except ValidationError as error:
            raise ValueError(first_fault(error)) from None
        ends = dict(line.running)
        present = ends.keys() | set(line.queue)
        if len(present) < len(line.running) + len(line.queue):
            counts = Counter([*(job_id for job_id, _ in line.running), *line.queue])
            job_id = counts.most_common(1)[0][0]
            raise ValueError(f"expected each job once, queued or running, found job {job_id} twice")
        for number, job in enumerate(line.jobs):
            self._jobs[job.job_id] = self._waiting(job, f"jobs[{number}]", line.now)
        # A job that has left is forgotten, so that memory grows with a problem and not with the
        # file.
        self._jobs = {i: job for i, job in self._jobs.items() if i in present}
        for job_id in present - self._jobs.keys():
            raise ValueError(f"expected a job of this line or the one before, found job {job_id}")
        # All releases come before the first claim: a new job may stand where an old one stood.
        new = {job.job_id for job in line.jobs} | {place.job_id for place in line.placed}
        for job_id in [i for i in self._placed if i not in ends or i in new]:
            gone = self._placed.pop(job_id)
            self._space.release(gone.allocation, gone.request)
        for number, place in enumerate(line.placed):
            self._place(place, f"placed[{number}]", ends, line.now)
        running = []
        # Running jobs end after now: one that outlives its prediction gets at least a second more.
        last = line.now + 1
        for number, (job_id, end) in enumerate(line.running):
            if end < last or job_id not in self._placed:
                raise ValueError(
                    f"running[{number}]: expected a job with a place and a predicted end of at"
                    f" least {last}, found job {job_id} with {end}"
                )
            last = end
            waiting, placed = self._jobs[job_id], self._placed[job_id]
            running.append(
                RunningJob(
                    end, job_id, placed.start_time, waiting.units, placed.allocation, waiting
                )
            )
        available = self._space.available.copy()
        available.flags.writeable = False
        return DispatchingProblem(
            line.now,
            line.round,
            tuple([self._jobs[job_id] for job_id in line.queue]),
            tuple(running),
            self._system,
            self._objective,
            available,
            None if self._request is None else self._free_units(running),
        )

    def _free_units(self, running: Sequence[RunningJob]) -> int:
        """Return the number of free units where all are equal."""
        assert self._request is not None
        room = space.idle_room(self._system, Request(1, self._request)).units
        return room - sum(job.units for job in running)

    def _waiting(self, line: JobLine, where: str, now: int) -> WaitingJob:
        request = bounded_request(line.units, line.unit_request, vars(line), line.shared_requests)
        fault = next(self._faults(request, line.predicted_run_time), None)
        # A dispatcher that sees a job before its submission would know the future.
        if line.submit_time > now:
            fault = f"expected a submit time of at most now, {now}, found {line.submit_time}"
        if fault is not None:
            raise ValueError(f"{where}: {fault}")
        others = (getattr(line, name) for name in _OPTIONAL)
        job = Job(line.job_id, line.submit_time, request, line.requested_time, *others)
        return waiting_job(job, line.predicted_run_time, self._system, line.expected_run_time)

    def _faults(self, request: Request, run_time: int) -> Iterator[str]:
        """Yield why a request cannot run on the idle system; only the first fault is right."""
        system, amounts = self._system, request.unit_request
        if len(amounts) != len(system.resource_types) or not any(amounts):
            types = ", ".join(system.resource_types)
            yield f"unit_request: expected amounts of {types}, found {list(amounts)}"
        # Any other request would be counted wrongly.
        if self._request is not None and (is_constrained(request) or amounts != self._request):
            yield f"expected {list(self._request)} per unit on any node, as the header says of all"
        if request.allowed_nodes and max(request.allowed_nodes) >= system.node_count:
            yield f"allowed_nodes: expected nodes from 0 to {system.node_count - 1}"
        room = space.idle_room(system, request).units
        if request.units > room:
            yield f"units: expected at most {room}, which fit on the system, found {request.units}"
        drawn = {name for name, _ in request.shared_requests}
        unknown = drawn.difference(resource.name for resource in system.shared_resources)
        if unknown:
            yield f"shared_requests: the system has no shared resource {min(unknown)!r}"
        stay = longest_stay(system.shared_resources, space.most_draw(system, request))
        if run_time > stay:
            yield (
                f"predicted_run_time: expected at most {stay} s, for which shared resources offer"
                f" the job's draw, found {run_time}"
            )

    def _place(self, line: PlacedLine, where: str, ends: Mapping[int, int], now: int) -> None:
        if line.job_id not in ends or line.start_time > now:
            raise ValueError(
                f"{where}: expected a running job, started up to {now}, found job {line.job_id},"
                f" started at {line.start_time}"
            )
        request = self._jobs[line.job_id].request
        allocation = space.NodeAllocation(line.nodes, line.node_units)
        try:
            check_allocation(self._system, allocation, request)
            self._space.claim(allocation, request)
        except space.OvercommitError as error:
            node = self._system.node_name(error.node)
            raise ValueError(f"{where}: job {line.job_id}, node {node}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{where}: job {line.job_id}: {error}") from None
        self._placed[line.job_id] = _Placed(line.start_time, allocation, request)


class Selection(BaseModel):
    """Selection of the dispatching problems to save.

    Attributes
    ----------
    every
        Save the first matching problem and every n-th after it.
    min_queued, max_queued
        Bounds on the number of queued jobs of a matching problem; None for no bound.
    limit
        Largest number of problems; None for all.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    every: int = Field(default=1, ge=1)
    min_queued: int = Field(default=0, ge=0)
    max_queued: int | None = Field(default=None, ge=0)
    limit: int | None = Field(default=None, ge=1)


class Header(BaseModel):
    """First line of a file: the replay that its problems come from.

    Attributes
    ----------
    uniform_request
        Unit request of every job, where all are equal and counting units is exact; None otherwise.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    format: Literal["hpcsched-instances"]
    version: Literal[3]
    hpcsched: str
    scenario_name: str
    scenario: str
    system: SystemDeclaration
    uniform_request: tuple[Amount, ...] | None
    selection: Selection

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        request, types = self.uniform_request, self.system.build().resource_types
        # Units count the resources of nodes alone, so a draw from a shared resource would not be
        # seen.
        if request is not None and (
            self.system.shared_resources or len(request) != len(types) or not any(request)
        ):
            raise ValueError(
                f"uniform_request: expected amounts of {', '.join(types)}, or null as for a system"
                f" with shared resources, found {list(request)}"
            )
        return self


def header_of(
    scenario: Scenario, uniform_request: tuple[int, ...] | None, selection: Selection
) -> Header:
    """Return the header for the problems of a replay of this scenario."""
    return Header(
        format="hpcsched-instances",
        version=3,
        hpcsched=__version__,
        scenario_name=scenario.name,
        scenario=resolved_yaml(scenario),
        system=scenario.system,
        uniform_request=uniform_request,
        selection=selection,
    )


class InstancesWriter:
    """Appends problems to a file; see `write_instances`."""

    def __init__(self, path: Path, packed: gzip.GzipFile, header: Header) -> None:
        self._path, self._packed = path, packed
        self._encoder = Encoder()
        self.written = 0
        packed.write(as_line(header.model_dump(mode="json")))

    def add(self, problem: DispatchingProblem) -> None:
        """Append a problem."""
        try:
            self._packed.write(self._encoder.encode(problem))
        except OSError as error:
            raise cannot_write(self._path, error) from error
        self.written += 1


@contextmanager
def write_instances(
    path: Path, header: Header, *, force: bool = False
) -> Iterator[InstancesWriter]:
    """Open a file for writing; it appears under its name when all problems are written.

    Equal problems give equal bytes.
    """
    with (
        replacing(path, force=force) as unfinished,
        unfinished.open("wb") as raw,
        # Neither name nor time in its header: the same problems give the same bytes.
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
    ):
        yield InstancesWriter(path, packed, header)


class InstancesFile:
    """A file of dispatching problems, opened for reading.

    Attributes
    ----------
    fraction_read
        Share of the file that has been read, from 0 to 1.
    """

    def __init__(self, path: Path | str) -> None:
        """Read the header."""
        self.path = Path(path)
        self.fraction_read = 0.0
        _, line = next(self._lines(), (1, b""))
        try:
            self.header = Header.model_validate_json(line)
        except ValidationError as error:
            raise self._damaged(1, f"in the header, {first_fault(error)}") from None

    @cached_property
    def system(self) -> System:
        """System of the problems."""
        return self.header.system.build()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file, in hexadecimal."""
        return sha256(self.path)

    @cached_property
    def scenario(self) -> Scenario:
        """Scenario of the recorded replay; its trace need not exist."""
        # Resolved paths are absolute, so the file that the text stands in does not matter.
        document = parse_document(self.header.scenario, str(self.path))
        try:
            return check_document(document, self.path).scenario
        except InputError as error:
            finding = error.findings[0]
            key = f"{finding.key}: " if finding.key else ""
            message = f"the scenario in the header cannot be used: {key}{finding.message}"
            raise self._damaged(1, message) from None

    def problems(
        self, objective: Objective | None = None, limit: int | None = None
    ) -> Iterator[DispatchingProblem]:
        """Yield the problems, one at a time.

        Parameters
        ----------
        objective
            Objective of the problems; that of the recorded scenario by default.
        limit
            Largest number of problems; None for all.
        """
        decoder = Decoder(
            self.system,
            self.header.uniform_request,
            assemble(self.scenario).objective if objective is None else objective,
        )
        # One more than wanted is not read: what is damaged behind it does no harm.
        for number, line in islice(self._lines(), 1, None if limit is None else limit + 1):
            try:
                yield decoder.decode(line)
            except ValueError as error:
                raise self._damaged(number, str(error)) from None

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers, from 1."""
        number = 0
        try:
            with self.path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as packed:
                size = os.fstat(raw.fileno()).st_size
                for number, line in enumerate(packed, 1):
                    # By packed bytes, since the unpacked size stands only at the end of the file.
                    self.fraction_read = raw.tell() / max(size, 1)
                    yield number, line
        # A file that was cut off on its way here: all problems before that have been yielded.
        except EOFError:
            message = "expected the end of the gzip data, found the end of the file: it is cut off"
            raise self._damaged(number + 1, message) from None
        except (gzip.BadGzipFile, zlib.error):
            what = "data that can be unpacked" if number else "a gzip file"
            message = f"expected {what}, found other bytes"
            raise self._damaged(number + 1, message) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise file_error("unreadable-file", self.path, f"it cannot be read: {reason}") from None

    def _damaged(self, number: int, message: str) -> InputError:
        return InputError(Finding("bad-instances", message, Place(str(self.path), number)))


ALL = Selection()
"""Save every dispatching problem."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A written file: numbers of rounds, matching rounds and saved problems, and size in bytes."""

    path: Path
    rounds: int
    matching: int
    saved: int
    size: int


class _EnoughError(HpcschedError):
    """No further problem is to be saved."""


class RecordingDispatcher:
    """Dispatcher that saves the problems of another one, and answers as it does."""

    def __init__(
        self, dispatcher: Dispatcher, selection: Selection, writer: InstancesWriter, bar: Bar
    ) -> None:
        self._dispatcher, self._selection = dispatcher, selection
        self._writer, self._bar = writer, bar
        self.plans_past_outages = plans_past_outages(dispatcher)
        self.rounds = self.matching = 0

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Save the problem if it is selected; return the decision of the wrapped dispatcher."""
        self.rounds += 1
        if self.rounds % 100 == 0:
            self._bar.show(None, f"{self.rounds:,} rounds")
        selection, queued = self._selection, len(problem.queue)
        most = queued if selection.max_queued is None else selection.max_queued
        if selection.min_queued <= queued <= most:
            self.matching += 1
            # Counted over matching problems, so that `every` thins out what the other bounds leave.
            if (self.matching - 1) % selection.every == 0:
                # Saved problems know no outages, and a job that waits for one could never start.
                queue = (job for job in problem.queue if not waits_for_outage(problem, job))
                self._writer.add(problem._replace(queue=tuple(queue)))
                if self._writer.written == selection.limit:
                    raise _EnoughError
        return self._dispatcher.dispatch(problem)


def record(
    scenario: Scenario, out: Path, selection: Selection = ALL, *, force: bool = False
) -> Recorded:
    """Replay a scenario under its own dispatcher and save the selected problems.

    The replay ends after the last one. No run directory is written, and the scenario's observers
    are left out. Equal replays give equal bytes.
    """
    check_target(out, force=force)
    if scenario.simulation.mode == "offline":
        message = "the scenario is planned off-line at once, so it meets no dispatching problems"
        raise InputError(Finding("not-offline", message, key="simulation.mode"))
    assembly = assemble(scenario)
    # With `--force` the trace would be replaced while it is read.
    if any(out.resolve() == file.resolve() for file in assembly.source.files):
        raise file_error("cannot-write", out, "it is the trace that is to be read")
    parts = parts_of(assembly, ())
    header = header_of(scenario, parts.uniform_request, selection)
    with write_instances(out, header, force=force) as writer, Bar(scenario.name) as bar:
        recording = RecordingDispatcher(parts.dispatcher, selection, writer, bar)
        with suppress(_EnoughError):
            simulate(parts._replace(dispatcher=recording), assembly.source.jobs())
    return Recorded(out, recording.rounds, recording.matching, writer.written, out.stat().st_size)
