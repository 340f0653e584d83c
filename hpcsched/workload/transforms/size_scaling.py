"""Transform `scale-sizes`: the same jobs with more or fewer units."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field

from hpcsched.context import Context
from hpcsched.parameters import Params
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.own_draws import own_share
from hpcsched.workload.transforms.request_fit import Rooms, TooLarge


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
