"""Transform `first`: so many jobs from the beginning of a trace, or from a job in it."""

from collections.abc import Iterator
from itertools import islice
from sys import maxsize

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount


class FirstParams(Params):
    """How many jobs to use, and which is the first."""

    jobs: int = Field(ge=1, description="Stop after so many jobs that come to this transform.")
    skip: int = Field(
        0, ge=0, description="How many jobs are skipped first; they do not count as `jobs`."
    )


@builtin(
    "transform",
    "first",
    FirstParams,
    summary="so many jobs from the beginning",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class First:
    """Passes on the first jobs and reads no further.

    Those that are skipped before count as `before_first_jobs`, and what transforms before it have
    read ahead as `after_first_jobs`.
    """

    def __init__(self, params: FirstParams) -> None:
        self._params = params

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield so many jobs."""
        skip, count = min(self._params.skip, maxsize), min(self._params.jobs, maxsize)
        for _ in islice(jobs, skip):
            account.skip("before_first_jobs")
        yield from islice(jobs, count)
        account.end("after_first_jobs")
