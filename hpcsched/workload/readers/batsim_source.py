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
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field

from hpcsched.context import Context
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import UnitAmounts
from hpcsched.registration import builtin
from hpcsched.system.request import Request
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.readers.batsim_file import BatsimFile
from hpcsched.workload.readers.policies import (
    FRACTIONS,
    FractionalSeconds,
    RecordPolicies,
    UnusableError,
)
from hpcsched.workload.readers.quantities import exact_number, whole_number
from hpcsched.workload.readers.record_source import RecordSource
from hpcsched.workload.readers.requested_names import check_draws, check_types
from hpcsched.workload.readers.text_encoding import TextEncoding

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
        self._room = room_for(system, self.uniform_request)
        self._check_shared()
        self._profiles: dict[str, Any] = self._file.header["profiles"]
        # A few nested sequences can stand for billions of parts.
        self._sequences: dict[tuple[str, int], _Lasting] = {}

    def parse(self, line: Any) -> TracedJob:
        """Return the job of an object under `jobs`.

        Raises
        ------
        UnusableError
            If the object gives no job; the reason names the policy.
        """
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
        self.check_submission(job_id, submit_time)
        run_time, communicates = self._run_time(line, units)
        self.check_run_time(run_time)
        requested_time = self.requested_time(wanted, run_time)
        self.check_room(units, self._room, self._params.unit)
        request = self.uniform_request
        assert request is not None
        asked = Request(units, request, shared_requests=self._shared(line))
        job = Job(job_id, submit_time, asked, requested_time)
        if communicates:
            self.changes.append("communication")
        return TracedJob(job, self.clipped(run_time, requested_time))

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
            return self.account.read
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
    """Return whether at least half of the jobs of a workload have ids with numbers of their own.

    Raises
    ------
    InputError
        If the file cannot be read or is no workload.
    """
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
