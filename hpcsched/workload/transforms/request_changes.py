"""Transforms of requests: `scale-sizes` and `attach`."""

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, field_validator

from hpcsched.context import Context
from hpcsched.parameters import (
    LARGEST,
    Params,
    PositiveAmount,
    ResourceType,
    parse_amount,
)
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.system.space import Rooms, asking
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.transform import TransformAccount, own_seed, own_share


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

    @classmethod
    def build(cls, params: ScaleSizesParams, context: Context) -> Self:
        """Make the transform for the scenario's system and seed."""
        return cls(params, context)

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


class AttachParams(Params):
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
    seed: int = Field(0, ge=0, description="Seed of the draw, beside the scenario's.")

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

    @classmethod
    def build(cls, params: AttachParams, context: Context) -> Self:
        """Make the transform for the scenario's system and seed."""
        return cls(params, context)

    def __init__(self, params: AttachParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed
        self._system: System = context.system
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
