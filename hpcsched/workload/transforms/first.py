"""Transform `first`: a number of jobs from the beginning of a trace, or from a later job."""

from collections.abc import Iterator
from itertools import islice
from sys import maxsize

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount


class FirstParams(Params):
    """Parameters of `first`: number of jobs, and of jobs before them."""

    jobs: int = Field(ge=1, description="Maximum number of jobs, from the beginning.")
    skip: int = Field(
        0, ge=0, description="Number of jobs to skip first; they do not count as `jobs`."
    )


@builtin(
    "transform",
    "first",
    FirstParams,
    summary="a number of jobs from the beginning",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class First:
    """Transform that passes on the first jobs and reads no further.

    Skipped jobs before them count as `before_first_jobs`, and jobs that earlier transforms have
    read ahead as `after_first_jobs`.
    """

    def __init__(self, params: FirstParams) -> None:
        self._params = params

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the first jobs after the skipped ones."""
        # `islice` accepts no larger numbers.
        skip, count = min(self._params.skip, maxsize), min(self._params.jobs, maxsize)
        for _ in islice(jobs, skip):
            account.skip("before_first_jobs")
        yield from islice(jobs, count)
        account.end("after_first_jobs")
