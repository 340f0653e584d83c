"""Transforms that select jobs: `first`, `window`, `sample-users` and `without-flurries`."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, islice
from sys import maxsize
from typing import Annotated

from pydantic import Field

from hpcsched.context import Context
from hpcsched.parameters import Listed, Params
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_calendar import Span
from hpcsched.workload.transform import SeededParams, TransformAccount, own_share


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
        """Yield the jobs of the window."""
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


class SampleUsersParams(SeededParams):
    """Parameters of `sample-users`: share of the users, and seed."""

    share: float = Field(
        gt=0,
        le=1,
        description="Share of users to keep; each user is drawn on its own.",
    )


@builtin(
    "transform",
    "sample-users",
    SampleUsersParams,
    summary="the jobs of a share of the users",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class SampleUsers:
    """Transform that passes on all jobs of some users; the others' count as `not_sampled`.

    The selection of a user depends on the user's number and the seeds alone. A larger share keeps
    the same users, and more. Jobs without a user are kept. Memory: one answer for each user.
    """

    def __init__(self, params: SampleUsersParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs of the selected users."""
        keeps: dict[int | None, bool] = {None: True}
        for traced in jobs:
            user = traced.job.user
            keep = keeps.get(user)
            if keep is None:
                # One number per user, compared with the share: larger shares include smaller ones.
                drawn = own_share(self._seed, self._params.seed, user or 0)
                keep = keeps[user] = drawn < self._params.share
            if keep:
                yield traced
            else:
                account.skip("not_sampled")


class Flurry(Span):
    """Known flurry: the jobs of a user, submitted from `start` on and before `end`."""

    user: int = Field(ge=0, description="The number of the user.")


class WithoutFlurriesParams(Params):
    """Parameters of `without-flurries`: the list of flurries."""

    flurries: Annotated[tuple[Flurry, ...], Listed] = Field(
        min_length=1, description="Flurries that are known, each a user and a part of the trace."
    )


@builtin(
    "transform",
    "without-flurries",
    WithoutFlurriesParams,
    summary="the jobs that belong to no burst of a single user's activity",
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class WithoutFlurries:
    """Transform that removes the jobs of flurries, which count as `flurry`.

    Tsafrir and Feitelson, *Instability in parallel job scheduling simulation: the role of workload
    flurries* (IPDPS 2006), show that a burst of many similar jobs of one user, which is unlikely
    to happen again, can decide the result of a simulation. The cleaned logs of the Parallel
    Workloads Archive leave out such bursts, found by inspection.
    """

    def __init__(self, params: WithoutFlurriesParams) -> None:
        self._params = params

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs outside flurries."""
        first = next(jobs, None)
        if first is None:
            return
        known: dict[int | None, list[tuple[int, int | None]]] = defaultdict(list)
        for flurry in self._params.flurries:
            span = flurry.seconds(account.comments, first.job.submit_time)
            known[flurry.user].append(span)
        for traced in chain((first,), jobs):
            user, submit_time = traced.job.user, traced.job.submit_time
            if any(
                start <= submit_time and (end is None or submit_time < end)
                for start, end in known.get(user, ())
            ):
                account.skip("flurry")
            else:
                yield traced
