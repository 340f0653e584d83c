"""Transform `first`: so many jobs from the beginning of a trace."""

from collections.abc import Iterator
from itertools import islice

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount


class FirstParams(Params):
    """How many jobs to use."""

    jobs: int = Field(ge=1, description="Stop after so many jobs that come to this transform.")


class First:
    """Passes on the first jobs and reads no further.

    What transforms before it have read ahead counts as `after_first_jobs`.
    """

    def __init__(self, params: FirstParams) -> None:
        self._jobs = params.jobs

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield so many jobs."""
        yield from islice(jobs, self._jobs)
        account.end("after_first_jobs")
