"""Transform `window`: part of a trace, by time."""

from collections.abc import Iterator
from itertools import chain

from pydantic import Field

from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_times import Span
from hpcsched.workload.transform import TransformAccount


class WindowParams(Span):
    """Parameters of `window`: jobs submitted from `start` on and before `end`."""

    shift: bool = Field(
        True,
        description="Make the window's start second 0; dates stay as they were."
        " Otherwise submit times stay.",
    )


@builtin(
    "transform",
    "window",
    WindowParams,
    summary="the jobs submitted within a part of the trace",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class Window:
    """Transform that passes on the jobs of a window, and stops at its end.

    Other jobs count as `outside_window`, as far as they were read. Jobs that run at its beginning
    are left out: the system is empty then.
    """

    def __init__(self, params: WindowParams) -> None:
        self._params = params

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs of the window.

        Raises
        ------
        InputError
            If a date is given and the trace has none.
        """
        first = next(jobs, None)
        if first is None:
            return
        start, end = self._params.seconds(account.comments, first.job.submit_time)
        shift = start if self._params.shift else 0
        # Header comments move with second 0, so that dates in later transforms stay right.
        account.move_origin(shift)
        for job, run_time in chain((first,), jobs):
            if end is not None and job.submit_time >= end:
                account.end("outside_window")
                return
            if job.submit_time < start:
                account.skip("outside_window")
            elif shift:
                yield TracedJob(job._replace(submit_time=job.submit_time - shift), run_time)
            else:
                yield TracedJob(job, run_time)
