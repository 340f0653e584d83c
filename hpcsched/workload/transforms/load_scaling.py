"""Transform `scale-load`: the same jobs at a higher or lower rate of submissions."""

from collections.abc import Iterator

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount


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
