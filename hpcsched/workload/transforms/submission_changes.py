"""Transforms of submit times: `shift`, `jitter` and `scale-load`."""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema

from hpcsched.context import Context
from hpcsched.parameters import LARGEST, Params, PositiveDuration, parse_duration
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount, own_share

_SIGNED_PATTERN = r"^\s*-?\s*(\d+\s*(s|min|h|d|w)\s*)+$"


def _read_signed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.strip()
    return -parse_duration(text[1:]) if text.startswith("-") else parse_duration(text)


if TYPE_CHECKING:
    SignedDuration = int
else:
    SignedDuration = Annotated[
        int,
        Field(ge=-LARGEST, le=LARGEST),
        BeforeValidator(_read_signed),
        WithJsonSchema(
            {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": _SIGNED_PATTERN}]}
        ),
    ]
    """Whole seconds, which may be below 0: a number, or a text with units (`-1h`)."""


class ShiftParams(Params):
    """Parameters of `shift`: the time."""

    by: SignedDuration = Field(
        description="Delay of the submissions, in seconds or with a unit (2h);"
        " earlier with a minus (-2h).",
    )


@builtin(
    "transform",
    "shift",
    ShiftParams,
    summary="jobs submitted earlier or later",
    capabilities={KEEPS_REQUESTS},
)
class Shift:
    """Transform that adds a constant to submit times; second 0 stays, so hours of the day change.

    A shifted job counts as `shifted`; one that would be submitted before second 0 is removed as
    `shifted_before_start`.
    """

    def __init__(self, params: ShiftParams) -> None:
        self._by = params.by

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs that are not before second 0."""
        for job, run_time in jobs:
            submit_time = job.submit_time + self._by
            if submit_time < 0:
                account.skip("shifted_before_start")
            else:
                account.change("shifted")
                yield TracedJob(job._replace(submit_time=submit_time), run_time)


class JitterParams(Params):
    """Parameters of `jitter`: bound of the delays, and seed."""

    by: PositiveDuration = Field(
        description="Maximum delay, in seconds or with a unit (1min); delays are uniform whole"
        " seconds from 0 to this.",
    )
    seed: int = Field(
        0,
        ge=0,
        description="Seed of the draw, beside the scenario's.",
    )


@builtin(
    "transform",
    "jitter",
    JitterParams,
    summary="jobs submitted a little later, each by a draw of its own",
    capabilities={KEEPS_REQUESTS},
)
class Jitter:
    """Transform that adds a random delay to each submit time, from 0 to `by` whole seconds.

    The delay depends on the job's number and the seeds alone. A delayed job counts as `jittered`.
    Jobs submitted within `by` seconds are held, to be sorted; ties keep their order.
    """

    @classmethod
    def build(cls, params: JitterParams, context: Context) -> Self:
        """Make the transform for the scenario's seed."""
        return cls(params, context)

    def __init__(self, params: JitterParams, context: Context) -> None:
        self._by = params.by
        self._seeds = (context.seed, params.seed)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield all jobs."""
        held: list[tuple[int, int, TracedJob]] = []
        for number, traced in enumerate(jobs):
            job, run_time = traced
            delay = int(own_share(*self._seeds, job.job_id) * (self._by + 1))
            later = job.submit_time + delay
            if delay:
                account.change("jittered")
            delayed = TracedJob(job._replace(submit_time=later), run_time) if delay else traced
            heappush(held, (later, number, delayed))
            # No job that is still to come is submitted before this one was.
            while held and held[0][0] <= job.submit_time:
                yield heappop(held)[-1]
        while held:
            yield heappop(held)[-1]


class ScaleLoadParams(Params):
    """Parameters of `scale-load`: the factor of the load."""

    factor: float = Field(
        ge=0.001,
        le=1000,
        description="Factor of the offered load: times between submissions are divided by it.",
    )


@builtin(
    "transform",
    "scale-load",
    ScaleLoadParams,
    summary="more or less load, by the times between submissions",
    capabilities={KEEPS_REQUESTS},
)
class ScaleLoad:
    """Transform that divides times since the first submission by a factor, to the nearest second.

    Rounding concerns that time, not the time since the previous job: it keeps the order, and it
    does not add up. A job with a changed submit time counts as `submit_time_scaled`.
    """

    def __init__(self, params: ScaleLoadParams) -> None:
        self._factor = params.factor

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield all jobs, the first at its original time."""
        began: int | None = None
        for traced in jobs:
            job, run_time = traced
            if began is None:
                began = job.submit_time
            # From the first submission, not the previous one: rounding errors would add up.
            scaled = began + int((job.submit_time - began) / self._factor + 0.5)
            if scaled == job.submit_time:
                yield traced
            else:
                account.change("submit_time_scaled")
                yield TracedJob(job._replace(submit_time=scaled), run_time)
