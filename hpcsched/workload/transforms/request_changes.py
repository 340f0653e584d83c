"""Transforms of requests: `scale-sizes` and `attach`."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from hpcsched.context import Context
from hpcsched.parameters import (
    LARGEST,
    Listed,
    Params,
    PositiveAmount,
    ResourceType,
    parse_amount,
)
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.system.space import Rooms, asking
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.draws import Draws, Weighted
from hpcsched.workload.transform import TransformAccount, own_seed, own_share

TooLarge = Literal["clip", "skip"]
"""Policy for a job that a transform has made too large for the idle system."""


class ScaleSizesParams(Params):
    """Parameters of `scale-sizes`: factor, rounding, and policy for jobs that no longer fit."""

    factor: float = Field(
        ge=0.001, le=1000, description="Factor of the number of units of each job."
    )
    rounding: Literal["drawn", "nearest"] = Field(
        "drawn",
        description="Rounding to whole units: up or down by a draw for each job, so that"
        " the mean is right (1.25 is 2 for a quarter of the jobs), or to the nearest (always 1)."
        " A job keeps at least one unit.",
    )
    too_large: TooLarge = Field(
        "clip",
        description="Policy for a job that no longer fits on the idle system: as many units as"
        " fit, or removal.",
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

    A job with a changed number of units counts as `size_scaled`. A job that no longer fits is
    clipped or skipped as `scaled_too_large`.
    """

    @classmethod
    def build(cls, params: ScaleSizesParams, context: Context) -> Self:
        """Make the transform for the scenario's system and seed."""
        return cls(params, context)

    def __init__(self, params: ScaleSizesParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed
        self._rooms = Rooms(context.system)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs; skip those that are too large if the policy says so."""
        for traced in jobs:
            job, run_time = traced
            units = self._scaled(job.units, job.job_id)
            if units > job.units:
                # A job that did not fit before does not become smaller.
                room = max(self._rooms.room_for(job.request), job.units)
                if units > room and self._params.too_large == "skip":
                    account.skip("scaled_too_large")
                    continue
                if units > room:
                    account.clip("scaled_too_large")
                    units = room
            if units == job.units:
                yield traced
            else:
                account.change("size_scaled")
                yield TracedJob(_sized(job, units), run_time)

    def _scaled(self, units: int, job_id: int) -> int:
        exact = units * self._params.factor
        whole = int(exact)
        drawn = self._params.rounding == "drawn"
        # By the job's number, so that a job's size does not depend on other jobs.
        bound = own_share(self._seed, job_id) if drawn else 0.5
        # Half a unit is rounded up, and no part of one never is.
        up = exact - whole > bound if drawn else exact - whole >= bound
        return max(whole + up, 1)


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

_Weight = Annotated[float, Field(ge=0)]
_FORMS = (("min", "max"), ("median", "spread"), ("values", "weights"))


class Distribution(Params):
    """Distribution of amounts: uniform, log-normal, or over a list."""

    min: PositiveAmount | None = Field(None, description="Uniform distribution: smallest amount.")
    max: PositiveAmount | None = Field(None, description="Uniform distribution: largest amount.")
    median: PositiveAmount | None = Field(None, description="Median of a log-normal distribution.")
    spread: float | None = Field(
        None,
        gt=0,
        le=10,
        description="Spread of a log-normal distribution: standard deviation of the natural"
        " logarithms.",
    )
    values: Annotated[tuple[PositiveAmount, ...] | None, Listed] = Field(
        None, description="One of these amounts."
    )
    weights: Annotated[tuple[_Weight, ...] | None, Listed] = Field(
        None, description="Weight of each of `values`; all equal if not given."
    )

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        given = [[key for key in form if getattr(self, key) is not None] for form in _FORMS]
        used = [keys for keys in given if keys]
        if len(used) != 1 or used[0] == ["weights"] or used[0] in (["min"], ["max"]):
            found = " and ".join(key for keys in used for key in keys) or "nothing"
            forms = "min and max, or median and spread, or values (and weights)"
            raise ValueError(f"expected {forms}, found {found}")
        if used[0] in (["median"], ["spread"]):
            raise ValueError(f"expected median and spread together, found {used[0][0]} alone")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"expected min to be at most max, found {self.min} and {self.max}")
        if self.values is not None:
            self._check_weights(self.values)
        return self

    def _check_weights(self, values: tuple[int, ...]) -> None:
        if not values:
            raise ValueError("expected at least one of values, found none")
        if self.weights is None:
            return
        if len(self.weights) != len(values):
            raise ValueError(
                f"expected a weight for each of {len(values)} values, found {len(self.weights)}"
            )
        if not any(self.weights):
            raise ValueError("expected a weight above 0, found none")

    def draw(self, draws: Draws) -> int:
        """Draw an amount of at least 1."""
        if self.min is not None and self.max is not None:
            return self.min + draws.below(self.max - self.min + 1)
        if self.median is not None and self.spread is not None:
            return max(1, min(LARGEST, round(draws.log_normal(self.median, self.spread))))
        assert self.values is not None
        return Weighted(self.values, self.weights or (1.0,) * len(self.values)).draw(draws)


class AttachParams(Params):
    """Parameters of `attach`: resource type, share of jobs, and amounts."""

    resource: Annotated[str, ResourceType()] = Field(
        description="Resource type; jobs that request it already are left unchanged."
    )
    amount: PositiveAmount | Distribution = Field(description="Amount, or its distribution.")
    per: Annotated[str, ResourceType(beside=(UNIT,))] = Field(
        UNIT,
        description="Basis of the amount: each job unit (`unit`), or each requested core or other"
        " resource type.",
    )
    share: float = Field(1.0, gt=0, le=1, description="Share of jobs that request it.")
    too_large: TooLarge = Field(
        "clip",
        description="Policy for a job that does not fit on the idle system with this amount: the"
        " largest amount that fits, or removal.",
    )
    seed: int = Field(0, ge=0, description="Seed of the draw, beside the scenario's.")

    @field_validator("amount", mode="before")
    @classmethod
    def _by_its_form(cls, amount: Any, info: ValidationInfo) -> Any:
        """Validate the form that the value has, so that an error is reported once."""
        if isinstance(amount, dict):
            return Distribution.model_validate(amount, context=info.context)
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
    `RESOURCE_attached`. A job that then does not fit on the idle system is clipped or skipped as
    `RESOURCE_too_large`; clipped to nothing, it is passed on as it was.
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
        """Yield the jobs; skip those that are too large if the policy says so."""
        name, resource = self._params.resource, self._resource
        for traced in jobs:
            job, run_time = traced
            # A request in the trace takes precedence over a drawn one.
            wanted = 0 if job.unit_request[resource] else self._wanted(job)
            request = asking(job.request, resource, wanted)
            if wanted and self._rooms.room_for(request) < job.units:
                if self._params.too_large == "skip":
                    account.skip(f"{name}_too_large")
                    continue
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
        each = amount if isinstance(amount, int) else amount.draw(draws)
        if params.per != UNIT:
            each *= self._system.declared(job.unit_request)[params.per]
        return self._system.request({params.resource: each})[self._resource]
