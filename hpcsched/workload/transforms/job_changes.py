"""Transforms that change jobs: `scale-sizes`, `attach`, `jitter` and `scale-load`."""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from hpcsched.context import Context
from hpcsched.parameters import (
    LARGEST,
    Params,
    PositiveAmount,
    PositiveDuration,
    ResourceType,
    parse_amount,
)
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.system.space import Rooms, asking
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.transform import SeededParams, TransformAccount, own_seed, own_share


class ScaleSizesParams(Params):
    """Parameters of `scale-sizes`: the factor."""

    factor: float = Field(
        ge=0.001, le=1000, description="Factor of the number of units of each job."
    )


@builtin(
    "transform",
    "scale-sizes",
    ScaleSizesParams,
    summary="more or less load, by the number of units of each job",
    capabilities={KEEPS_REQUESTS},
)
class ScaleSizes:
    """Transform that multiplies the units of each job, and its draws from shared resources.

    Units are rounded up or down by a draw for each job, so that the mean is right: 1.25 is 2 for a
    quarter of the jobs. A job keeps at least one unit. A job with a changed number of units counts
    as `size_scaled`. One that no longer fits on the idle system gets as many units as fit, and
    counts as clipped, `scaled_too_large`.
    """

    def __init__(self, params: ScaleSizesParams, context: Context) -> None:
        self._factor = params.factor
        self._seed = context.seed
        self._rooms = Rooms(context.system)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs."""
        for traced in jobs:
            job, run_time = traced
            exact = job.units * self._factor
            # By the job's number, so that a job's size does not depend on other jobs.
            up = exact - int(exact) > own_share(self._seed, job.job_id)
            units = max(int(exact) + up, 1)
            if units > job.units:
                # A job that did not fit before does not become smaller.
                room = max(self._rooms.room_for(job.request), job.units)
                if units > room:
                    account.clip("scaled_too_large")
                    units = room
            if units == job.units:
                yield traced
            else:
                account.change("size_scaled")
                yield TracedJob(_sized(job, units), run_time)


def _sized(job: Job, units: int) -> Job:
    """Return a job with another number of units, and the same draw of each unit.

    A draw in the trace that its units do not share evenly is rounded up, so that no positive draw
    becomes 0.
    """
    drawn = tuple(
        (resource, -(-amount * units // job.units)) for resource, amount in job.shared_requests
    )
    return job._replace(request=job.request._replace(units=units, shared_requests=drawn))


UNIT = "unit"
"""Word for an amount of each job unit, independent of its other amounts."""


class LogNormal(Params):
    """Log-normal distribution of amounts."""

    median: PositiveAmount = Field(description="Median amount.")
    spread: float = Field(
        gt=0, le=10, description="Standard deviation of the natural logarithms of the amounts."
    )


class AttachParams(SeededParams):
    """Parameters of `attach`: resource type, share of jobs, and amounts."""

    resource: Annotated[str, ResourceType()] = Field(
        description="Resource type; jobs that request it already are left unchanged."
    )
    amount: PositiveAmount | LogNormal = Field(
        description="Amount, or its log-normal distribution."
    )
    per: Annotated[str, ResourceType(beside=(UNIT,))] = Field(
        UNIT,
        description="Basis of the amount: each job unit (`unit`), or each requested core or other"
        " resource type.",
    )
    share: float = Field(1.0, gt=0, le=1, description="Share of jobs that request it.")

    @field_validator("amount", mode="before")
    @classmethod
    def _by_its_form(cls, amount: Any, info: ValidationInfo) -> Any:
        """Validate the form that the value has, so that an error is reported once."""
        if isinstance(amount, dict):
            return LogNormal.model_validate(amount, context=info.context)
        return parse_amount(amount) if isinstance(amount, str) else amount


@builtin(
    "transform",
    "attach",
    AttachParams,
    summary="a further resource type in the requests of jobs",
)
class Attach:
    """Transform that adds a resource type to requests, by a draw that depends on the job's number.

    A job's draw does not depend on the jobs before it. A job with an added amount counts as
    `RESOURCE_attached`. A job that then does not fit on the idle system gets the largest amount
    that fits, if any, and counts as clipped, `RESOURCE_too_large`.
    """

    def __init__(self, params: AttachParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed
        self._system = context.system
        self._resource = context.system.resource_types.index(params.resource)
        self._rooms = Rooms(context.system)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs."""
        name, resource = self._params.resource, self._resource
        for traced in jobs:
            job, run_time = traced
            # A request in the trace takes precedence over a drawn one.
            wanted = 0 if job.unit_request[resource] else self._wanted(job)
            request = asking(job.request, resource, wanted)
            if wanted and self._rooms.room_for(request) < job.units:
                account.clip(f"{name}_too_large")
                wanted = self._rooms.most_of(job.request, resource, wanted)
                request = asking(job.request, resource, wanted)
            if wanted:
                account.change(f"{name}_attached")
                yield TracedJob(job._replace(request=request), run_time)
            else:
                yield traced

    def _wanted(self, job: Job) -> int:
        """Return the amount to add to a unit of a job, in the system's units."""
        params = self._params
        draws = Draws(own_seed(self._seed, params.seed, params.resource, job.job_id))
        if not draws.chance(params.share):
            return 0
        amount = params.amount
        if isinstance(amount, LogNormal):
            drawn = round(draws.log_normal(amount.median, amount.spread))
            each = max(1, min(LARGEST, drawn))
        else:
            each = amount
        if params.per != UNIT:
            each *= self._system.declared(job.unit_request)[params.per]
        return self._system.request({params.resource: each})[self._resource]


class JitterParams(SeededParams):
    """Parameters of `jitter`: bound of the delays, and seed."""

    by: PositiveDuration = Field(
        description="Maximum delay, in seconds or with a unit (1min); delays are uniform whole"
        " seconds from 0 to this.",
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
