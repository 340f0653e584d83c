"""Trace source `batsim`: workloads of the simulator Batsim, in JSON.

A workload has `jobs`, each with `id`, `subtime` (when it is submitted), `res` (how many resources
it asks for), maybe `walltime`, and the name of a profile; and `profiles`, of which those of type
`delay` (`DelayProfile` in later versions) say how long a job runs. Homogeneous parallel tasks say
it for machines of a declared speed. Other keys are not used.

Source: the pages on workloads of Batsim's documentation; P.-F. Dutot, M. Mercier, M. Poquet and
O. Richard, *Batsim: a Realistic Language-Independent Resources and Jobs Management Systems
Simulator*, JSSPP 2016.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

from pydantic import Field

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import UnitAmounts
from hpcsched.registration import builtin
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.log_source import Record, RecordSource, check_types
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    RecordPolicies,
    UnusableError,
)
from hpcsched.workload.readers.quantities import exact_number, whole_number
from hpcsched.workload.readers.text_files import read_text

_JOBS = re.compile(r'"jobs"\s*:\s*(?=\[)')
_BETWEEN = re.compile(r"[\s,]*")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"found {name}, which JSON has not")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class BatsimFile:
    """Workload file, held in memory: profiles may come after the jobs that name them.

    Attributes
    ----------
    jobs
        Content of the jobs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = read_text(path)
        try:
            content = _DECODER.decode(self._text)
        except json.JSONDecodeError as error:
            place = Place(str(path), error.lineno, error.colno)
            message = f"expected JSON: {error.msg}"
            raise InputError(Finding("malformed", message, place)) from None
        except (ValueError, RecursionError) as error:
            raise self._malformed(f"expected JSON: {error}") from None
        if not isinstance(content, dict):
            raise self._malformed("expected a workload, which begins with {")
        for key, kind in (("jobs", list), ("profiles", dict)):
            if not isinstance(content.get(key), kind):
                raise self._malformed(f"expected a {kind.__name__} under the key {key!r}")
        self.jobs: Sequence[Any] = content["jobs"]
        self.profiles: dict[str, Any] = content["profiles"]
        self.comments: Sequence[str] = str(content.get("description") or "").splitlines()
        self._read = 0

    @property
    def fraction_read(self) -> float:
        """Fraction of the jobs that has been read, from 0 to 1."""
        return self._read / len(self.jobs) if self.jobs else 1.0

    def records(self) -> Iterator[tuple[int, Any]]:
        """Yield the first line of each job, and the decoded job."""
        self._read = 0
        position = counted = self._start_of_jobs() + 1
        line = 1 + self._text.count("\n", 0, counted)
        for job in self.jobs:
            between = _BETWEEN.match(self._text, position)
            position = between.end() if between else position
            line += self._text.count("\n", counted, position)
            counted = position
            self._read += 1
            yield line, job
            _, position = _DECODER.raw_decode(self._text, position)

    def _start_of_jobs(self) -> int:
        """Return where the list of jobs begins; an object in a profile may have the same key."""
        starts = (match.end() for match in _JOBS.finditer(self._text))
        for start in starts:
            if _DECODER.raw_decode(self._text, start)[0] == self.jobs:
                return start
        raise self._malformed("expected the key 'jobs' without escapes")

    def _malformed(self, message: str) -> InputError:
        return InputError(Finding("malformed", message, Place(str(self.path))))


DELAY = "delay"
_DELAYS = (DELAY, "DelayProfile")
_TASKS = ("parallel_homogeneous", "ParallelTaskHomogeneousProfile")
_TOTAL_TASK = "parallel_homogeneous_total"
_SPREAD = "DefinedAmountsSpreadUniformly"
_NUMBER_IN_ID = re.compile(r"(?:.*!)?([0-9]{1,18})", re.DOTALL)

_Number = TypeVar("_Number", int, int | Fraction)


class BatsimParams(RecordPolicies):
    """Parameters of `batsim`: the workload, and policies for jobs."""

    unit: UnitAmounts = Field(default_factory=lambda: {"core": 1})
    """Request of each requested resource, by resource type; one core if not given."""
    job_ids: Literal["number", "position"] = "number"
    """Number of a job: the number that its id is or ends in after the last '!' (w0!12), or its
    place in the file, from 1."""
    unsorted: Literal["error", "skip", "sort"] = "sort"
    """Policy for a job submitted before its predecessor; to sort, all jobs are held in memory
    first."""
    fractional_seconds: FractionalSeconds = Field("outward", description=FRACTIONS)
    other_profile: Literal["skip", "error"] = "skip"
    """Policy for a job with a profile that gives no run time: neither a delay nor, with a speed, a
    homogeneous parallel task."""
    speed: float | None = Field(None, gt=0)
    """Floating-point operations that a requested resource does in a second: the run time of a
    homogeneous parallel task is its operations / speed. Its communication takes no time, which is
    counted as a clipping."""


@builtin(
    "trace_source",
    "batsim",
    BatsimParams,
    summary="workloads of the simulator Batsim, in JSON: jobs with delays or parallel tasks",
)
class BatsimSource(RecordSource):
    """Stream of the jobs of a Batsim workload.

    Reasons for skipping a job, in the order in which they apply: `malformed`, `other_profile`,
    `fractional_seconds`, `unsorted`, `missing_run_time`, `zero_run_time`, `missing_requested_time`,
    `larger_than_system`.
    """

    def __init__(self, params: BatsimParams, system: System) -> None:
        self._file = BatsimFile(Path(params.path))
        super().__init__(params, system, self._file)
        self._params = params
        check_types(system, params.unit, self.lines.path, "trace.unit")
        self._unit_request = self.uniform_request = system.request(params.unit)

    def parse(self, line: Any) -> Record:
        """Return the content of an object under `jobs`."""
        if not isinstance(line, dict):
            raise ValueError("expected an object for a job")
        job_id = self._job_id(line)
        submit_time = _value(line, "subtime", self.seconds.instant)
        units = _value(line, "res", whole_number)
        wanted = _value(line, "walltime", self.seconds.duration) if "walltime" in line else -1
        if units < 1:
            raise ValueError("res: expected at least 1")
        run_time = self._run_time(line, units)
        return Record(job_id, submit_time, run_time, wanted, lambda: self._request(units))

    def _request(self, units: int) -> Request:
        request = Request(units, self._unit_request)
        self.check_room(request, self._params.unit)
        return request

    def _job_id(self, job: dict[str, Any]) -> int:
        if self._params.job_ids == "position":
            # Every object counts, skipped ones too, so that a number tells where a job is.
            return self.position
        found = job.get("id")
        if isinstance(found, str):
            matched = _NUMBER_IN_ID.fullmatch(found)
            if matched is None:
                raise ValueError(
                    f"id: expected a number, or one after '!', found {found[:40]!r};"
                    " 'job_ids: position' takes a job's place in the file instead"
                )
            return int(matched[1])
        return _value(job, "id", whole_number)

    def _run_time(self, job: dict[str, Any], units: int) -> int:
        """Return the run time from a job's profile, -1 if it has none."""
        # Numbers are accepted as names, since JSON keys are texts and jobs may name profile 5 as 5.
        name = str(job.get("profile"))
        profile = self._file.profiles.get(name)
        if not isinstance(profile, dict):
            raise ValueError(f"profile: there is no profile {name[:40]!r}")
        kind = profile.get("type")
        if kind in _DELAYS:
            return _value(profile, "delay", self.seconds.duration) if "delay" in profile else -1
        total = kind == _TOTAL_TASK or profile.get("generation_strategy") == _SPREAD
        if self._params.speed is not None and kind in (*_TASKS, _TOTAL_TASK):
            per_second = Fraction(self._params.speed) * (units if total else 1)
            self.changes += ["communication"] * bool(profile.get("com"))
            return self.seconds.duration(_value(profile, "cpu", exact_number) / per_second)
        message = (
            f"the profile {name[:40]!r} is of type {str(kind)[:40]!r}, from which no run time"
            " follows"
        )
        raise UnusableError("other_profile", message)


def ids_are_numbers(path: Path) -> bool:
    """Return whether at least half of the jobs of a workload have ids with numbers of their own."""
    jobs = BatsimFile(path).jobs
    ids = (job.get("id") for job in jobs if isinstance(job, dict))
    found = (_NUMBER_IN_ID.fullmatch(str(one)) for one in ids)
    return 2 * len({int(match[1]) for match in found if match}) >= len(jobs)


def _value(record: dict[str, Any], key: str, read: Callable[[Any], _Number]) -> _Number:
    """Return the number under a key; raises ValueError if it is missing or no number."""
    if key not in record:
        raise ValueError(f"the key {key!r} is missing")
    try:
        return read(record[key])
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
