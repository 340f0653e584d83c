"""Features of the queue for a learned policy: a row of numbers for each of the first jobs."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.portable_math import log1p
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import Request

FeatureRows = npt.NDArray[np.float32]

FEATURES = (
    "wait",
    "predicted_run_time",
    "requested_time",
    "share",
    "fits_now",
    "free_share",
    "queue_length",
    "present",
)
"""Names of the features, in the order of the columns; all are from 0 to 1."""

_HOUR = 3600
_LONGEST = log1p(30 * 86_400)


def job_features(problem: DispatchingProblem, window: int) -> FeatureRows:
    """Return the features of the first queued jobs, in order of arrival.

    They are close to those of RLScheduler (Zhang et al., SC 2020, section IV-B): a wait `w` in
    seconds is `w / (w + 3600)`; a time `t` is `log(1 + t)` as a share of that of 30 days; the share
    of the system is that of the resource type of which the job requests most; the free share is
    that of the resource type of which least is free; a queue of `n` jobs has `n / (n + window)`.

    Returns
    -------
    FeatureRows
        `[window, len(FEATURES)]`; rows without a job are 0.
    """
    rows = np.zeros((window, len(FEATURES)), dtype=np.float32)
    totals = problem.system.totals
    free = _free_amounts(problem)
    free_share = min(f / t for f, t in zip(free, totals, strict=True) if t)
    length = len(problem.queue) / (len(problem.queue) + window)
    # Many jobs have equal requests.
    known: dict[Request, tuple[float, bool]] = {}
    seen = []
    for job in problem.queue[:window]:
        request, wait = job.request, problem.now - job.submit_time
        if request not in known:
            asked = zip(job.unit_request, totals, strict=True)
            share = max(job.units * amount / total for amount, total in asked if total)
            known[request] = share, _fits_now(problem, request, free)
        predicted, requested = job.predicted_run_time, job.job.requested_time
        times = wait / (wait + _HOUR), _as_share(predicted), _as_share(requested)
        seen.append((*times, *known[request], free_share, length, 1))
    if seen:
        rows[: len(seen)] = seen
    return rows


@lru_cache(maxsize=1 << 16)
def _as_share(seconds: int) -> float:
    return min(log1p(seconds) / _LONGEST, 1.0)


def _free_amounts(problem: DispatchingProblem) -> list[int]:
    """Return the free amount of each resource type, `[R]`."""
    if problem.free_amounts is not None:
        return [int(amount) for amount in problem.free_amounts.sum(axis=1)]
    used = [0] * len(problem.system.totals)
    for running in problem.running:
        for k, amount in enumerate(running.waiting.unit_request):
            used[k] += running.units * amount
    return [total - taken for total, taken in zip(problem.system.totals, used, strict=True)]


def _fits_now(problem: DispatchingProblem, request: Request, free: list[int]) -> bool:
    if problem.free_slots is not None:
        return request.units <= sum(high - low for low, high in problem.free_slots)
    needed = (request.units * amount for amount in request.unit_request)
    if any(amount > there for amount, there in zip(needed, free, strict=True)):
        return False
    assert problem.free_amounts is not None
    fit = units_that_fit(problem.system, problem.free_amounts, request)
    return int(fit.sum()) >= request.units
