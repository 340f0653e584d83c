"""Trace source `mimic`: any number of jobs similar to those of another trace.

Source: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020, section 3.5.3, the
workload generator: submit times follow the cycles of the original (see `submission_cycle`);
requests come from jobs of the original (`fitted_jobs`), with further resource types if the scenario
says so; run times are a number of FLOPs / the performance of the request.

The thesis leaves open, and is decided here: sizes and FLOPs are drawn from the original's own
distributions rather than from fitted formulas, FLOPs given a class of sizes; requested times and
submitters, of which it says nothing, are drawn from the original's as well. With limits of requests
in the scenario, amounts are drawn evenly between them, type by type, as in the thesis; it also
chooses among types, which here a limit of 0 does, as one of the amounts. If the original has no
requested times of its own, their replacements are mimicked.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import add
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from hpcsched.context import Context
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Amount, Params, PositiveAmount, Selects
from hpcsched.registration import builtin
from hpcsched.system.space import room_for
from hpcsched.system.system import Request, System, is_constrained
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.fitted_jobs import (
    FittedJobs,
    JobCounter,
    Performance,
    RequestedTimes,
    Submitter,
    in_seconds,
)
from hpcsched.workload.synthetic.submission_cycle import (
    Cycle,
    CycleCounter,
    SlotCalendar,
    Way,
    submissions,
)
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from hpcsched.workload.trace_calendar import calendar_of, time_comments
from hpcsched.workload.trace_source import TraceSource

CORE_FLOPS = 1e9
"""Default FLOP/s of a core. It cancels out unless other types compute too."""

PositiveNumber = Annotated[float, Field(ge=1e-30, le=1e30)]


class Further(Params):
    """Parameters of a further resource type: share of jobs, and amounts of a unit."""

    share: float = Field(gt=0, le=1, description="Share of jobs that request it.")
    min: PositiveAmount = Field(1, description="Smallest amount per unit.")
    max: PositiveAmount = Field(
        1, description="Largest amount per unit; amounts are drawn uniformly."
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"expected min to be at most max, found {self.min} and {self.max}")
        return self


class RequestLimits(Params):
    """Bounds of a uniformly drawn amount of a resource type in a unit."""

    min: Amount = Field(0, description="Smallest amount per unit.")
    max: PositiveAmount = Field(description="Largest amount per unit.")

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"expected min to be at most max, found {self.min} and {self.max}")
        return self


class MimicParams(Params):
    """Parameters of `mimic`: the original trace, number of jobs, and differences of the machine."""

    of: Annotated[Any, Selects("trace_source")] = Field(
        description="The trace to mimic: a source with its parameters, as under `trace`."
    )
    jobs: int | None = Field(
        None, ge=1, description="Number of jobs to make; that of the original, if not given."
    )
    cycle: Way = Field(
        "calendar",
        description="Cycle of submissions: by hour of the day alone (`slots`); with"
        " a bound that also follows progress by hour, weekday and month (`progress`, the thesis's"
        " method); or with weights of weekdays and months as well (`calendar`).",
    )
    performance: dict[str, PositiveNumber] | None = Field(
        None,
        description="FLOP/s for each amount of a resource type on the original's machine; if not"
        " given, 10⁹ a core, or 1 of the system's first resource type if it has no cores.",
    )
    speedup: dict[str, PositiveNumber] | None = Field(
        None,
        description="Speed factor of each resource type on the new machine; 1 by default.",
    )
    request_limits: dict[str, RequestLimits] | None = Field(
        None,
        description="Limits of the amount per unit by resource type: amounts are drawn uniformly"
        " between them. Other types keep the amounts of the original.",
    )
    requests: dict[str, Further] | None = Field(
        None,
        description="Additional resource types that a share of the jobs requests.",
    )

    @field_validator("performance")
    @classmethod
    def _something_computes(cls, performance: dict[str, float] | None) -> dict[str, float] | None:
        if performance is not None and not performance:
            raise ValueError("expected the performance of at least one resource type, found none")
        return performance


@builtin(
    "trace_source",
    "mimic",
    MimicParams,
    summary="synthetic: any number of jobs like those of another trace",
)
def make_mimic(params: MimicParams, context: Context) -> "MimicSource":
    """Make the source."""
    system = context.system
    performance = params.performance
    if performance is None:
        first = system.resource_types[0]
        performance = {"core": CORE_FLOPS} if "core" in system.resource_types else {first: 1.0}
    _check_types(system, "performance", performance)
    _check_types(system, "speedup", params.speedup or ())
    _check_types(system, "requests", params.requests or ())
    _check_limits(system, performance, params.request_limits or {})
    idle = [name for name in params.speedup or () if name not in performance]
    if idle:
        raise _problem(
            "no-performance",
            f"the speedup of {idle[0]} says nothing, as its performance is not given",
            f"trace.speedup.{idle[0]}",
        )
    original = context.make("trace_source", params.of)
    return MimicSource(params, original, performance, system, context.seed)


class MimicSource(SyntheticSource):
    """Stream of jobs like those of the original, which is read at the first request for jobs.

    It is read twice if the cycle needs that, and not again for another iteration. Nothing but
    tables of bounded size is kept of it.

    Parameters
    ----------
    performance
        FLOP/s by resource type on the original's machine.
    """

    def __init__(
        self,
        params: MimicParams,
        original: TraceSource,
        performance: Mapping[str, float],
        system: System,
        seed: int,
    ) -> None:
        super().__init__(
            self._make,
            system,
            comments=_comments(original),
            count=params.jobs,
            files=original.files,
            uniform_request=(
                None if params.requests or params.request_limits else original.uniform_request
            ),
        )
        self._params = params
        self._original = original
        self._seed = seed
        self._before = Performance(system, performance)
        speedup = params.speedup or {}
        self._now = Performance(
            system, {name: flops * speedup.get(name, 1.0) for name, flops in performance.items()}
        )
        self._fit: tuple[Cycle, FittedJobs] | None = None

    def _make(self) -> Iterator[TracedJob]:
        if self._fit is None:
            self._fit = self._read()
        cycle, fitted = self._fit
        draws = Draws(self._seed)
        submitter: Submitter | None = None
        numbers = range(1, (self._count or 0) + 1)
        for number, submit_time in zip(numbers, submissions(cycle, draws), strict=False):
            shape = fitted.shape(draws)
            unit_request = self._with_further(shape, self._within_limits(shape, draws), draws)
            run_time, requested_time = fitted.times(draws, shape)
            submitter = fitted.submitter(draws, submitter)
            before = self._before.of_unit(shape.unit_request)
            now = self._now.of_unit(unit_request)
            if before and now != before:
                run_time, requested_time = _scaled(
                    run_time, requested_time, before / now, fitted.requested_times
                )
            user, group, application, queue, partition = submitter
            job = Job(
                number,
                submit_time,
                shape._replace(unit_request=unit_request),
                requested_time,
                user,
                group,
                application,
                queue,
                partition,
            )
            yield TracedJob(job, run_time)

    def _within_limits(self, shape: Request, draws: Draws) -> tuple[int, ...]:
        """Return the request of a unit, with amounts drawn between the limits.

        Jobs that are bound to nodes, or not to share them, keep their request in the original.
        """
        limits = self._params.request_limits
        if not limits:
            return shape.unit_request
        # Drawn for constrained jobs too, so that every job takes the same number of draws.
        drawn = {
            name: limit.min + draws.below(limit.max - limit.min + 1)
            for name, limit in limits.items()
        }
        if is_constrained(shape):
            return shape.unit_request
        return self._system.request({**self._system.declared(shape.unit_request), **drawn})

    def _with_further(
        self, shape: Request, unit_request: tuple[int, ...], draws: Draws
    ) -> tuple[int, ...]:
        """Return the request of a unit, with drawn amounts of further resource types."""
        for name, further in (self._params.requests or {}).items():
            asks = draws.chance(further.share)
            amount = further.min + draws.below(further.max - further.min + 1)
            if asks and not is_constrained(shape):
                more = self._system.request({name: amount})
                unit_request = tuple(map(add, unit_request, more))
        return unit_request

    def _read(self) -> tuple[Cycle, FittedJobs]:
        """Read the original."""
        jobs = self._original.jobs()
        first = next(jobs, None)  # the header has been read then
        started = 0 if first is None else first.job.submit_time
        calendar = SlotCalendar(calendar_of(self._original.comments, started))
        submitted = CycleCounter(calendar)
        asked = JobCounter(self._before, uniform=self._original.uniform_request is not None)
        for traced in chain([] if first is None else [first], jobs):
            submitted.add(traced.job.submit_time)
            asked.add(traced)
        if submitted.jobs < 2:
            raise _problem(
                "too-few-jobs",
                f"expected a trace of at least two jobs to mimic, found {submitted.jobs}",
                "trace.of",
            )
        self.comments = _comments(self._original)
        self._count = self._params.jobs or submitted.jobs
        # A second pass over the original, made only by the variant `calendar`.
        again = (traced.job.submit_time for traced in self._original.jobs())
        return Cycle(submitted, self._params.cycle, again), FittedJobs(asked)


def _comments(original: TraceSource) -> list[str]:
    """Return header comments: the original's date, and its other comments."""
    when = time_comments(original.comments)
    said = (f"Original: {comment}" for comment in original.comments if comment not in when)
    return ["Note: made up by hpcsched's mimic, like the original", *when, *said]


def _scaled(
    run_time: int, requested_time: int, scale: float, known: RequestedTimes
) -> tuple[int, int]:
    """Return the run time and requested time of a job that runs `scale` times as long.

    A common requested time stays a common one, above the run time if it was before.
    """
    scaled, requested = in_seconds(run_time * scale), in_seconds(requested_time * scale)
    if requested_time == run_time:
        return scaled, scaled
    return scaled, known.common(requested, least=scaled if requested_time > run_time else 1)


def _check_types(system: System, key: str, types: Iterable[str]) -> None:
    unknown = [name for name in types if name not in system.resource_types]
    if unknown:
        raise _problem(
            "unknown-resource-type",
            f"no node group has {', '.join(unknown)}; there are:"
            f" {', '.join(system.resource_types)}",
            f"trace.{key}",
        )


def _check_limits(
    system: System, performance: Mapping[str, float], limits: Mapping[str, RequestLimits]
) -> None:
    """Raise InputError for limits between which no unit could run."""
    _check_types(system, "request_limits", limits)
    computing = [name for name in limits if name in performance]
    if computing and not any(limits[name].min for name in computing):
        raise _problem(
            "bad-value",
            "a unit must ask for something that computes; expected a min of at least 1 of"
            f" {' or '.join(computing)}, found 0",
            f"trace.request_limits.{computing[0]}.min",
        )
    least = {name: limit.min for name, limit in limits.items()}
    if any(least.values()) and not room_for(system, system.request(least)):
        asked = ", ".join(f"{amount} {name}" for name, amount in least.items())
        raise _problem(
            "bad-value",
            f"no node can hold a unit that asks for the least of each: {asked}",
            "trace.request_limits",
        )


def _problem(rule: str, message: str, key: str) -> InputError:
    return InputError(Finding(rule, f"the trace source 'mimic': {message}", key=key))
