"""Trace source `batsim`: workloads of the simulator Batsim, in JSON.

A workload has `jobs`, each with `id`, `subtime` (when it is submitted), `res` (how many resources
it asks for), maybe `walltime`, and the name of a profile; and `profiles`, of which those of type
`delay` (`DelayProfile` in later versions) say how long a job runs, and sequences of profiles
(`composed`: `seq`, `repeat` times) as long as their parts. Homogeneous parallel tasks say
it for machines of a declared speed. Other keys are amounts of shared resources, if a scenario says
so, and are not used otherwise.

Source: the pages on workloads of Batsim's documentation; P.-F. Dutot, M. Mercier, M. Poquet and
O. Richard, *Batsim: a Realistic Language-Independent Resources and Jobs Management Systems
Simulator*, JSSPP 2016.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NoReturn, Self, TypeVar

from pydantic import Field

from hpcsched._core import Verdict
from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import UnitAmounts
from hpcsched.paths import open_file
from hpcsched.registration import builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.log_source import check_draws, check_types
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    RecordPolicies,
    UnusableError,
)
from hpcsched.workload.readers.quantities import exact_number, whole_number
from hpcsched.workload.readers.record_source import Record, RecordSource
from hpcsched.workload.readers.text_files import DAMAGE, MARK, TextEncoding, whole_text

_JOBS = "jobs"
_SPACE = re.compile(r"[ \t\n\r]*")


def _no_constant(name: str) -> NoReturn:
    """Refuse the constants that Python's decoder accepts beyond JSON, such as NaN."""
    raise ValueError(f"expected JSON, which has no {name}")


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises ValueError for a repeated key, as one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for n, key in enumerate(keys) if key in keys[:n])
        raise ValueError(f"an object has the key {double!r} twice")
    return found


# Strict: Python's decoder accepts NaN and keeps the last of repeated keys, which loses jobs.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_double)


class BatsimFile:
    """Workload file, read once; its jobs can be iterated repeatedly.

    The text stays in memory, since profiles may come after the jobs that name them; jobs are
    decoded one at a time.

    Parameters
    ----------
    encoding
        Encoding of the file; UTF-8 if not given.

    Attributes
    ----------
    header
        Entries of the file beside its jobs, including `profiles`.
    in_doubt
        Whether the job that was yielded last has undecodable bytes.
    """

    def __init__(self, path: Path, encoding: TextEncoding | None = None) -> None:
        self.path = path
        self.in_doubt = False
        self._encoding = encoding or TextEncoding()
        self.header: dict[str, Any] = {}
        self._text = self._read()
        self._first: int | None = None
        self._end = len(self._text)
        self._reached = 0
        self._check()

    @property
    def comments(self) -> list[str]:
        """Lines of the file's description, if any."""
        description = self.header.get("description")
        if not isinstance(description, str):
            return []
        return description.replace(MARK, "\ufffd").splitlines()

    @property
    def fraction_read(self) -> float:
        """Fraction of the file that has been read, from 0 to 1."""
        return min(self._reached / self._end, 1.0) if self._end else 1.0

    def records(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the first line of each job, and the decoded job."""
        self._reached = 0
        if self._first is None:
            return
        line, counted = 1, 0
        for start, end, job in self._items(self._first):
            line += self._text.count("\n", counted, start)
            counted, self._reached = start, end
            self.in_doubt = MARK in self._text[start:end]
            yield line, job
        self._reached = self._end

    def _read(self) -> str:
        try:
            with open_file(self.path) as raw:
                data = whole_text(self._encoding.stream(raw), b"{", str(self.path))
        except DAMAGE as error:
            message = f"expected a whole compressed file, found damage: {error}"
            raise self._problem("damaged-trace", message) from None
        except OSError as error:
            message = f"the trace cannot be read: {error.strerror or error}"
            raise self._problem("unreadable-trace", message) from None
        return self._encoding.marked(self._encoding.without_mark(data, self.path))

    def _check(self) -> None:
        """Decode the whole file once, and keep everything but the jobs."""
        position = self._expect("{", self._after_space(0), "a workload, which begins with {")
        position = self._after_space(position)
        while self._text[position : position + 1] != "}":
            key_at = position
            key, position = self._decode(position)
            if not isinstance(key, str):
                raise self._at("expected a key in quotes", key_at)
            # Python's reader takes the last of two equal keys without a word.
            if key in self.header or (key == _JOBS and self._first is not None):
                raise self._at(f"the workload has the key {key!r} twice", key_at)
            position = self._expect(":", self._after_space(position), "':' after a key")
            position = self._after_space(position)
            if key == _JOBS:
                self._first = self._expect("[", position, "a list of jobs")
                position = self._end_of_jobs(self._first)
            else:
                value_at = position
                self.header[key], position = self._decode(position)
                self._check_text(value_at, position)
            position = self._after_space(position)
            if self._text[position : position + 1] == ",":
                position = self._after_space(position + 1)
                if self._text[position : position + 1] == "}":
                    raise self._at("expected a key after ','", position)
            elif self._text[position : position + 1] != "}":
                raise self._at("expected ',' or '}'", position)
        rest = self._after_space(position + 1)
        if rest < len(self._text):
            raise self._at("expected nothing after the workload", rest)
        self._check_keys()

    def _check_text(self, begin: int, end: int) -> None:
        """Raise InputError for undecodable bytes that belong to no job, if the policy says so."""
        found = self._text.find(MARK, begin, end)
        if found < 0 or self._encoding.policy != "error":
            return
        try:
            self._encoding.refuse("found bytes that are none")
        except UnusableError as error:
            place = Place(str(self.path), self._text.count("\n", 0, found) + 1)
            raise InputError(Finding("undecodable", str(error), place)) from None

    def _check_keys(self) -> None:
        if self._first is None:
            raise self._problem("malformed", f"the key {_JOBS!r} is missing")
        profiles = self.header.get("profiles")
        if profiles is None:
            raise self._problem("malformed", "the key 'profiles' is missing")
        if not isinstance(profiles, dict):
            raise self._problem("malformed", "expected an object under 'profiles'")

    def _end_of_jobs(self, first: int) -> int:
        ends = (end for _, end, _ in self._items(first))
        return self._after_space(max(ends, default=first)) + 1

    def _items(self, first: int) -> Iterator[tuple[int, int, Any]]:
        """Yield the begin, the end and the value of each item of a list; `]` is after the last."""
        position = self._after_space(first)
        if self._text[position : position + 1] == "]":
            return
        while True:
            item, end = self._decode(position)
            yield position, end, item
            position = self._after_space(end)
            sign = self._text[position : position + 1]
            if sign == "]":
                return
            if sign != ",":
                raise self._at("expected ',' or ']' after a job", position)
            position = self._after_space(position + 1)

    def _decode(self, position: int) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text, position)
        except json.JSONDecodeError as error:
            raise self._at(f"expected JSON: {error.msg}", error.pos) from None
        except ValueError as error:
            raise self._at(str(error), position) from None
        except RecursionError:
            raise self._at("values are nested too deeply", position) from None

    def _after_space(self, position: int) -> int:
        found = _SPACE.match(self._text, position)
        return found.end() if found else position

    def _expect(self, sign: str, position: int, what: str) -> int:
        if self._text[position : position + 1] != sign:
            raise self._at(f"expected {what}", position)
        return position + 1

    def _at(self, message: str, position: int) -> InputError:
        line = self._text.count("\n", 0, position) + 1
        column = position - self._text.rfind("\n", 0, position)
        if position >= len(self._text):
            message += "; the file ends here"
        return InputError(Finding("malformed", message, Place(str(self.path), line, column)))

    def _problem(self, rule: str, message: str) -> InputError:
        return InputError(Finding(rule, message, Place(str(self.path))))


DELAY = "delay"
_DELAYS = (DELAY, "DelayProfile")
_TASKS = ("parallel_homogeneous", "ParallelTaskHomogeneousProfile")
_TOTAL_TASK = "parallel_homogeneous_total"
_SEQUENCES = ("composed", "SequentialCompositionProfile")
_DEEPEST = 50
"""Maximum depth of sequences within sequences."""
_SPREAD = "DefinedAmountsSpreadUniformly"
_NUMBER_IN_ID = re.compile(r"(?:.*!)?([0-9]{1,18})", re.DOTALL)


_Number = TypeVar("_Number", int, int | Fraction)

_Lasting = tuple[int | Fraction, bool]
"""Exact run time of a profile in seconds, negative if not given; and whether it communicates."""


class BatsimParams(RecordPolicies):
    """Parameters of `batsim`: the workload, and policies for jobs."""

    unit: UnitAmounts = Field(
        default_factory=lambda: {"core": 1},
        description="Request of each requested resource, by resource type; one core if not given.",
    )
    job_ids: Literal["number", "position"] = Field(
        "number",
        description="Number of a job: the number that its id is or ends in after the last"
        " '!' (w0!12), or its place in the file, from 1.",
    )
    unsorted: Literal["error", "skip", "sort"] = Field(
        "sort",
        description="Policy for a job submitted before its predecessor; to sort, all jobs are"
        " held in memory first.",
    )
    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    other_profile: Literal["skip", "error"] = Field(
        "skip",
        description="Policy for a job with a profile that gives no run time: neither a delay nor,"
        " with a speed, a homogeneous parallel task, nor a sequence of these.",
    )
    speed: float | None = Field(
        None,
        gt=0,
        description="Floating-point operations that a requested resource does in a second: the run"
        " time of a homogeneous parallel task is its operations / speed. Its communication takes"
        " no time, which is counted as a clipping.",
    )
    shared_requests: dict[str, str] = Field(
        default_factory=dict,
        description="For each shared resource, the key of a job, or of its extra_data, with the"
        " amount that the whole job uses; a job without the key uses none.",
    )


@builtin(
    "trace_source",
    "batsim",
    BatsimParams,
    summary="workloads of the simulator Batsim, in JSON: jobs with delays or parallel tasks",
)
class BatsimSource(RecordSource):
    """Stream of the jobs of a Batsim workload.

    Reasons for skipping a job, in the order in which they apply: `undecodable`, `malformed`,
    `fractional_seconds`, `unsorted`, `other_profile`, `missing_run_time`, `zero_run_time`,
    `missing_requested_time`, `larger_than_system`.
    """

    @classmethod
    def build(cls, params: BatsimParams, context: Context) -> Self:
        """Make the source for the scenario's system."""
        return cls(params, context.system)

    def __init__(self, params: BatsimParams, system: System) -> None:
        encoding = TextEncoding(params.encoding, params.undecodable)
        self._file = BatsimFile(Path(params.path), encoding)
        super().__init__(params, system, self._file, encoding)
        self._params = params
        check_types(system, params.unit, self.lines.path, "trace.unit")
        self.uniform_request = system.request(params.unit)
        self._check_shared()
        self._profiles: dict[str, Any] = self._file.header["profiles"]
        # A few nested sequences can stand for billions of parts.
        self._sequences: dict[tuple[str, int], _Lasting] = {}

    def parse(self, line: Any) -> Record:
        """Return the content of an object under `jobs`."""
        if not isinstance(line, dict):
            raise UnusableError("malformed", "expected an object for a job")
        job_id = self._job_id(line)
        if self._file.in_doubt:
            self.encoding.refuse("found bytes that are none")
        submit_time = _value(line, "subtime", self.seconds.instant)
        units = _value(line, "res", whole_number)
        wanted = _value(line, "walltime", self.seconds.duration) if "walltime" in line else -1
        if units < 1:
            raise UnusableError("malformed", "res: expected at least 1")
        record = Record(job_id, submit_time, -1, wanted)
        try:
            run_time, communicates = self._run_time(line, units)
        except UnusableError as problem:
            return record.refused_for(problem, Verdict.MISSING_RUN_TIME)
        assert self.uniform_request is not None
        request = Request(units, self.uniform_request)
        record = record._replace(run_time=run_time)
        try:
            self.check_room(request, self._params.unit)
            request = request._replace(shared_requests=self._shared(line))
        except UnusableError as problem:
            return record.refused_for(problem)
        self.changes += ["communication"] * communicates
        return record._replace(request=request)

    def _check_shared(self) -> None:
        """Raise InputError if the system lacks a shared resource that jobs are to use."""
        known = check_draws(
            self.system, self._params.shared_requests, self.lines.path, "trace.shared_requests"
        )
        for name in self._params.shared_requests:
            if name not in known:
                there = f"there are: {', '.join(sorted(known))}" if known else "it has none"
                message = f"the system has no shared resource called {name!r}; {there}"
                place = Place(str(self._file.path))
                raise InputError(
                    Finding(
                        "unknown-shared-resource",
                        message,
                        place,
                        key=f"trace.shared_requests.{name}",
                    )
                )

    def _shared(self, job: dict[str, Any]) -> tuple[tuple[str, int], ...]:
        """Return the amounts of shared resources that a job uses."""
        if not self._params.shared_requests:
            return ()
        more = job.get("extra_data")
        if isinstance(more, str):
            try:
                more = json.loads(more)
            except ValueError:
                more = None
        found = {**(more if isinstance(more, dict) else {}), **job}
        amounts = (
            (name, _value(found, key, whole_number))
            for name, key in self._params.shared_requests.items()
            if found.get(key) is not None
        )
        return tuple((name, amount) for name, amount in amounts if amount > 0)

    def _job_id(self, job: dict[str, Any]) -> int:
        if self._params.job_ids == "position":
            # Every object counts, skipped ones too, so that a number tells where a job is.
            return self.position
        if "id" not in job:
            raise UnusableError("malformed", "the key 'id' is missing")
        found = job["id"]
        if isinstance(found, str):
            matched = _NUMBER_IN_ID.fullmatch(found)
            if matched is None:
                raise UnusableError(
                    "malformed",
                    f"id: expected a number, or one after '!', found {found[:40]!r};"
                    " 'job_ids: position' takes a job's place in the file instead",
                )
            found = matched[1]
        return _value({"id": found}, "id", whole_number)

    def _run_time(self, job: dict[str, Any], units: int) -> tuple[int, bool]:
        """Return the run time from a job's profile, -1 if it has none, and if it communicates."""
        name = job.get("profile")
        # Numbers are accepted as names, since JSON keys are texts and jobs may name profile 5 as 5.
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise UnusableError("malformed", "profile: expected the name of a profile")
        lasting, communicates = self._lasting(str(name), units, ())
        return _value({"run time": lasting}, "run time", self.seconds.duration), communicates

    def _lasting(self, name: str, units: int, within: tuple[str, ...]) -> _Lasting:
        """Return the run time of a profile, in the sequences that name it."""
        profile = self._profiles.get(name)
        if not isinstance(profile, dict):
            raise UnusableError("malformed", f"profile: there is no profile {name[:40]!r}")
        kind = profile.get("type")
        if kind in _SEQUENCES:
            return self._lasting_in_sequence(name, units, within)
        total = kind == _TOTAL_TASK or profile.get("generation_strategy") == _SPREAD
        if self._params.speed is not None and kind in (*_TASKS, _TOTAL_TASK):
            per_second = Fraction(self._params.speed) * (units if total else 1)
            return _value(profile, "cpu", exact_number) / per_second, bool(profile.get("com"))
        if kind not in _DELAYS:
            raise UnusableError(
                "other_profile",
                f"the profile {name[:40]!r} is of type {str(kind)[:40]!r}, from which no run time"
                " follows",
            )
        return (_value(profile, "delay", exact_number) if "delay" in profile else -1), False

    def _lasting_in_sequence(self, name: str, units: int, within: tuple[str, ...]) -> _Lasting:
        """Return the run time of a sequence: the sum of its parts times its repetitions."""
        if name in within or len(within) >= _DEEPEST:
            raise UnusableError("malformed", f"profile: the sequence {name[:40]!r} has no end")
        known = self._sequences.get((name, units))
        if known is not None:
            return known
        profile = self._profiles[name]
        parts = profile.get("seq")
        if not isinstance(parts, list) or not all(isinstance(part, str | int) for part in parts):
            raise UnusableError("malformed", "seq: expected a list of names of profiles")
        lasting = [self._lasting(str(part), units, (*within, name)) for part in parts]
        times = max(_value({"repeat": 1, **profile}, "repeat", whole_number), 0)
        # A part without a run time leaves the whole without one.
        seconds = times * sum(part for part, _ in lasting)
        found = (
            min([seconds, *(part for part, _ in lasting if part < 0)]),
            any(communicates for _, communicates in lasting),
        )
        self._sequences[name, units] = found
        return found


def ids_are_numbers(path: Path, encoding: str) -> bool:
    """Return whether at least half of the jobs of a workload have ids with numbers of their own."""
    jobs = [job for _, job in BatsimFile(path, TextEncoding(encoding)).records()]
    ids = (job.get("id") for job in jobs if isinstance(job, dict))
    found = (_NUMBER_IN_ID.fullmatch(str(one)) for one in ids)
    return 2 * len({int(match[1]) for match in found if match}) >= len(jobs)


def _value(record: dict[str, Any], key: str, read: Callable[[Any], _Number]) -> _Number:
    """Return the number under a key; raises UnusableError if it is missing or no number."""
    if key not in record:
        raise UnusableError("malformed", f"the key {key!r} is missing")
    try:
        return read(record[key])
    except ValueError as error:
        raise UnusableError("malformed", f"{key}: {error}") from None
