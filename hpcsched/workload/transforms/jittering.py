"""Transform `jitter`: delays each submission by a small random time."""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Self

from pydantic import Field

from hpcsched.context import Context
from hpcsched.parameters import Params, PositiveDuration
from hpcsched.registration import KEEPS_REQUESTS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.own_draws import own_share


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
