"""Transforms that select jobs: `first`, `window`, `sample-users` and `without-flurries`."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from sys import maxsize
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hpcsched.context import Context
from hpcsched.parameters import Listed, Params, PositiveDuration
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_calendar import Span
from hpcsched.workload.transform import TransformAccount, own_share


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


class SampleUsersParams(Params):
    """Parameters of `sample-users`: share of the users, and seed."""

    share: float = Field(
        gt=0,
        le=1,
        description="Share of users to keep; each user is drawn on its own.",
    )
    without_user: Literal["keep", "skip"] = Field(
        "keep", description="Policy for jobs without a user."
    )
    seed: int = Field(
        0,
        ge=0,
        description="Seed of the draw, beside the scenario's.",
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
    the same users, and more. Memory: one answer for each user.
    """

    @classmethod
    def build(cls, params: SampleUsersParams, context: Context) -> Self:
        """Make the transform for the scenario's seed."""
        return cls(params, context)

    def __init__(self, params: SampleUsersParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs of the selected users."""
        keeps: dict[int | None, bool] = {None: self._params.without_user == "keep"}
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
    """Parameters of `without-flurries`: a list of flurries, a rule, or both."""

    flurries: Annotated[tuple[Flurry, ...], Listed] = Field(
        (), description="Flurries that are known, each a user and a part of the trace."
    )
    more_than: int | None = Field(
        None,
        ge=1,
        description="Largest number of jobs of one user within the time `within`; more are a"
        " flurry, and all of it is removed.",
    )
    within: PositiveDuration | None = Field(
        None,
        description="Length of time for `more_than`, in seconds or with a unit: from the first"
        " submission to before the last.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if (self.more_than is None) != (self.within is None):
            missing = "within" if self.within is None else "more_than"
            raise ValueError(f"expected more_than and within together, found no {missing}")
        if self.more_than is None and not self.flurries:
            raise ValueError("expected flurries, or more_than and within, found neither")
        return self


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
    Workloads Archive leave out such bursts, found by inspection. The list serves for these. The
    rule is a definition of this project, for logs that nobody has inspected.

    By the rule, a job belongs to a flurry if it is one of n + 1 consecutive jobs of its user of
    which the last is submitted less than T seconds after the first; n is `more_than` and T is
    `within`. A job is passed on when that is settled: jobs of the last T seconds are buffered. Jobs
    without a user belong to no flurry.
    """

    def __init__(self, params: WithoutFlurriesParams) -> None:
        self._params = params

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs outside flurries."""
        params = self._params
        if params.flurries:
            jobs = _without_listed(params.flurries, jobs, account)
        if params.more_than is not None and params.within is not None:
            jobs = _without_found(params.more_than, params.within, jobs, account)
        yield from jobs


def _without_listed(
    flurries: Sequence[Flurry], jobs: Iterator[TracedJob], account: TransformAccount
) -> Iterator[TracedJob]:
    first = next(jobs, None)
    if first is None:
        return
    known: dict[int | None, list[tuple[int, int | None]]] = defaultdict(list)
    for flurry in flurries:
        known[flurry.user].append(flurry.seconds(account.comments, first.job.submit_time))
    for traced in chain((first,), jobs):
        user, submit_time = traced.job.user, traced.job.submit_time
        if any(
            start <= submit_time and (end is None or submit_time < end)
            for start, end in known.get(user, ())
        ):
            account.skip("flurry")
        else:
            yield traced


class _Buffered:
    """Job that is buffered until it is settled whether it belongs to a flurry."""

    __slots__ = ("in_flurry", "traced")

    def __init__(self, traced: TracedJob) -> None:
        self.traced = traced
        self.in_flurry = False


def _without_found(
    more_than: int, within: int, jobs: Iterator[TracedJob], account: TransformAccount
) -> Iterator[TracedJob]:
    buffered: deque[_Buffered] = deque()
    # n + 1 jobs a user suffice: an earlier job is in a flurry if and only if it is marked.
    latest: dict[
        int, deque[_Buffered]
    ] = {}  # the user's last n + 1 jobs, of those that are buffered
    for traced in jobs:
        now = traced.job.submit_time
        while buffered and now - buffered[0].traced.job.submit_time >= within:
            yield from _settled(buffered.popleft(), latest, account)
        one = _Buffered(traced)
        buffered.append(one)
        if traced.job.user is None:
            continue
        of_user = latest.setdefault(traced.job.user, deque(maxlen=more_than + 1))
        of_user.append(one)
        if len(of_user) > more_than:
            _mark(of_user)
    while buffered:
        yield from _settled(buffered.popleft(), latest, account)


def _mark(of_user: deque[_Buffered]) -> None:
    """Mark jobs from the last one back; jobs before a marked one are marked already."""
    for one in reversed(of_user):
        if one.in_flurry:
            return
        one.in_flurry = True


def _settled(
    one: _Buffered, latest: dict[int, deque[_Buffered]], account: TransformAccount
) -> Iterator[TracedJob]:
    """Yield the job if it is in no flurry; forget it as one of its user's last ones."""
    user = one.traced.job.user
    if user is not None:
        of_user = latest[user]
        if of_user[0] is one:
            of_user.popleft()
        if not of_user:
            del latest[user]
    if one.in_flurry:
        account.skip("flurry")
    else:
        yield one.traced
