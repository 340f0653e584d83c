"""Transforms: those that select jobs, and those that change submit times and requests."""

import math
from collections import defaultdict
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain, islice
from sys import maxsize
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from hpcsched.parameters import (
    LARGEST,
    Listed,
    Params,
    PositiveAmount,
    PositiveDuration,
    ResourceType,
    parse_amount,
)
from hpcsched.portable_math import log
from hpcsched.registration import KEEPS_REQUESTS, KEEPS_WAITS, Context, builtin
from hpcsched.system.space import asking, idle_room, most_of
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.synthetic_source import Draws
from hpcsched.workload.trace_calendar import Span
from hpcsched.workload.transform import SeededParams, TransformAccount, own_seed, own_share


class FirstParams(Params):
    """Parameters of `first`: number of jobs, and of jobs before them."""

    jobs: int = Field(ge=1)
    """Maximum number of jobs, from the beginning."""
    skip: int = Field(0, ge=0)
    """Number of jobs to skip first; they do not count as `jobs`."""


@builtin("transform", "first", FirstParams, capabilities={KEEPS_REQUESTS, KEEPS_WAITS})
class First:
    """Transform: a number of jobs from the beginning.

    No further job is read.

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

    shift: bool = True
    """Make the window's start second 0; dates stay as they were. Otherwise submit times stay."""


@builtin("transform", "window", WindowParams, capabilities={KEEPS_REQUESTS, KEEPS_WAITS})
class Window:
    """Transform: the jobs submitted within a part of the trace.

    Reading stops at its end.

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

    share: float = Field(gt=0, le=1)
    """Share of users to keep; each user is drawn on its own."""


@builtin("transform", "sample-users", SampleUsersParams, capabilities={KEEPS_REQUESTS, KEEPS_WAITS})
class SampleUsers:
    """Transform: the jobs of a share of the users.

    All others count as `not_sampled`.

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


UNIT = "unit"
"""Word for an amount of each job unit, independent of its other amounts."""


class LogNormal(Params):
    """Log-normal distribution of amounts."""

    median: PositiveAmount
    """Median amount."""
    spread: float = Field(gt=0, le=10)
    """Standard deviation of the natural logarithms of the amounts."""


class Flurry(Span):
    """Known flurry: the jobs of a user, submitted from `start` on and before `end`."""

    user: int = Field(ge=0)
    """The number of the user."""


class WithoutFlurriesParams(Params):
    """Parameters of `without-flurries`: the list of flurries."""

    flurries: Annotated[tuple[Flurry, ...], Listed] = Field(min_length=1)
    """Flurries that are known, each a user and a part of the trace."""


@builtin(
    "transform",
    "without-flurries",
    WithoutFlurriesParams,
    capabilities={KEEPS_REQUESTS, KEEPS_WAITS},
)
class WithoutFlurries:
    """Transform: the jobs that belong to no burst of a single user's activity.

    The jobs of flurries count as `flurry`.

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


class AttachParams(SeededParams):
    """Parameters of `attach`: resource type, share of jobs, and amounts."""

    resource: Annotated[str, ResourceType()]
    """Resource type; jobs that request it already are left unchanged."""
    amount: PositiveAmount | LogNormal
    """Amount, or its log-normal distribution."""
    per: Annotated[str, ResourceType(beside=(UNIT,))] = UNIT
    """Basis of the amount: each job unit (`unit`), or each requested core or other resource
    type."""
    share: float = Field(1.0, gt=0, le=1)
    """Share of jobs that request it."""

    @field_validator("amount", mode="before")
    @classmethod
    def _by_its_form(cls, amount: Any, info: ValidationInfo) -> Any:
        """Validate the form that the value has, so that an error is reported once."""
        if isinstance(amount, dict):
            return LogNormal.model_validate(amount, context=info.context)
        return parse_amount(amount) if isinstance(amount, str) else amount


@builtin("transform", "attach", AttachParams)
class Attach:
    """Transform: a further resource type in the requests of jobs.

    The amount is a draw that depends on the job's number.

    A job's draw does not depend on the jobs before it. A job with an added amount counts as
    `RESOURCE_attached`. A job that then does not fit on the idle system gets the largest amount
    that fits, if any, and counts as clipped, `RESOURCE_too_large`.
    """

    def __init__(self, params: AttachParams, context: Context) -> None:
        self._params = params
        self._seed = context.seed
        self._system = context.system
        self._resource = context.system.resource_types.index(params.resource)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs."""
        name, resource = self._params.resource, self._resource
        for traced in jobs:
            job, run_time = traced
            # A request in the trace takes precedence over a drawn one.
            wanted = 0 if job.unit_request[resource] else self._wanted(job)
            request = asking(job.request, resource, wanted)
            if wanted and idle_room(self._system, request).units < job.units:
                account.clip(f"{name}_too_large")
                wanted = most_of(self._system, job.request, resource, wanted)
                request = asking(job.request, resource, wanted)
            if wanted:
                account.change(f"{name}_attached")
                yield TracedJob(job._replace(request=request), run_time)
            else:
                yield traced

    def _wanted(self, job: Job) -> int:
        """Return the amount to add to a unit of a job, in the system's units."""
        params = self._params
        draws = Draws(own_seed(self._seed, params.seed, params.resource, job.job_id))
        if not draws.chance(params.share):
            return 0
        amount = params.amount
        if isinstance(amount, LogNormal):
            drawn = round(draws.log_normal(amount.median, amount.spread))
            each = max(1, min(LARGEST, drawn))
        else:
            each = amount
        if params.per != UNIT:
            each = math.ceil(each * self._system.declared(job.unit_request)[params.per])
        return self._system.request({params.resource: each})[self._resource]


class JitterParams(SeededParams):
    """Parameters of `jitter`: bound of the delays, and seed."""

    by: PositiveDuration
    """Maximum delay, in seconds or with a unit (1min); delays are uniform whole seconds from 0 to
    this."""


@builtin("transform", "jitter", JitterParams, capabilities={KEEPS_REQUESTS})
class Jitter:
    """Transform: jobs submitted a little later, each by a draw of its own.

    The delay is from 0 to `by` whole seconds.

    The delay depends on the job's number and the seeds alone. A delayed job counts as `jittered`.
    Jobs submitted within `by` seconds are held, to be sorted; ties keep their order.
    """

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


class PatienceParams(SeededParams):
    """Parameters of `patience`: mean patience, share of the jobs, and seed."""

    mean: PositiveDuration
    """Mean patience, in seconds or with a unit (6h), of an exponential distribution."""
    share: float = Field(1.0, gt=0, le=1)
    """Share of the jobs that are not patient."""


@builtin("transform", "patience", PatienceParams, capabilities={KEEPS_REQUESTS, KEEPS_WAITS})
class Patience:
    """Transform: jobs that are withdrawn if they wait too long, by a draw of each.

    The longest wait is in whole seconds.

    The draw depends on the job's number and the seeds alone, and takes the place of a recorded
    patience. Jobs with a drawn one count as `impatient`.
    """

    def __init__(self, params: PatienceParams, context: Context) -> None:
        self._params, self._seeds = params, (context.seed, params.seed)

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield all jobs."""
        mean, share = self._params.mean, self._params.share
        for job, run_time in jobs:
            drawn, patience = own_share(*self._seeds, job.job_id) / share, job.patience
            if drawn < 1:
                patience = int(-mean * log(1 - drawn))
                account.change("impatient")
            yield TracedJob(job._replace(patience=patience), run_time)


class ScaleLoadParams(Params):
    """Parameters of `scale-load`: the factor of the load."""

    factor: float = Field(ge=0.001, le=1000)
    """Factor of the offered load: times between submissions are divided by it."""


@builtin("transform", "scale-load", ScaleLoadParams, capabilities={KEEPS_REQUESTS})
class ScaleLoad:
    """Transform: more or less load, by the times between submissions.

    Times since the first submission are divided by a factor, to the nearest second.

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
