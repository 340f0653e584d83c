"""Trace source `mimic`: any number of jobs similar to those of another trace, by resampling.

The original is cut into its users, and each user's submissions are moved by a random whole number
of weeks, around the end of the original to its beginning. So hours and weekdays, sessions, requests
and run times of every user stay as they are, and what changes is which users are busy at the same
time. Further passes over the original, each with other moves, make longer traces.

Source: Zakay and Feitelson, *Workload resampling for performance evaluation of parallel job
schedulers*, Concurrency and Computation: Practice and Experience 26(12), 2014. They draw users with
replacement, week by week; here each user occurs once a pass, so that the load is the original's.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Params, Selects
from hpcsched.registration import Context, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.synthetic_source import Draws, SyntheticSource
from hpcsched.workload.trace_calendar import time_comments
from hpcsched.workload.trace_source import TraceSource

_STEPS = (7 * 86_400, 86_400, 3600, 1)
"""Seconds of which moves are whole multiples: the largest of which the original has `_FEWEST`."""
_FEWEST = 4


class MimicParams(Params):
    """Parameters of `mimic`: the original trace, and the number of jobs."""

    of: Annotated[Any, Selects("trace_source")]
    """The trace to mimic: a source with its parameters, as under `trace`."""
    jobs: int | None = Field(None, ge=1)
    """Number of jobs to make; that of the original, if not given."""


@builtin("trace_source", "mimic", MimicParams)
class MimicSource(SyntheticSource):
    """Trace source: synthetic: any number of jobs like those of another trace.

    The original is read at the first request for jobs.
    """

    def __init__(self, params: MimicParams, context: Context) -> None:
        original: TraceSource = context.make("trace_source", params.of)
        super().__init__(
            self._make,
            context.system,
            comments=_comments(original),
            count=params.jobs,
            uniform_request=original.uniform_request,
        )
        self.files = original.files
        self._original = original
        self._originals: Sequence[TracedJob] | None = None
        self._seed = context.seed

    def _make(self) -> Iterator[TracedJob]:
        if self._originals is None:
            self._originals = list(self._original.jobs())
            self.comments = _comments(self._original)
            self._count = self._count or len(self._originals)
        jobs = _resampled(self._originals, Draws(self._seed))
        for number, (job, run_time) in zip(range(1, (self._count or 0) + 1), jobs, strict=False):
            # Jobs to wait for may come later now.
            yield TracedJob(job._replace(job_id=number, after=(), think_time=0), run_time)


def _comments(original: TraceSource) -> list[str]:
    """Return header comments: the original's date, and its other comments."""
    when = time_comments(original.comments)
    said = (f"Original: {comment}" for comment in original.comments if comment not in when)
    return ["Note: made up by hpcsched's mimic, like the original", *when, *said]


def _resampled(jobs: Sequence[TracedJob], draws: Draws) -> Iterator[TracedJob]:
    """Yield moved jobs by ascending submit time, without end if there are any."""
    if not jobs:
        return
    first, last = jobs[0].job.submit_time, jobs[-1].job.submit_time
    step = next((step for step in _STEPS if last - first >= _FEWEST * step), 1)
    steps = (last - first) // step + 1
    for passed in count(first, steps * step):
        move_of: defaultdict[int, int] = defaultdict(lambda: draws.below(steps))
        moved = []
        for k, (job, _) in enumerate(jobs):
            # Jobs without a user are moved one by one.
            move = draws.below(steps) if job.user is None else move_of[job.user]
            moved.append(((job.submit_time - first + move * step) % (steps * step), k))
        for since, k in sorted(moved):
            job, run_time = jobs[k]
            yield TracedJob(job._replace(submit_time=passed + since), run_time)
