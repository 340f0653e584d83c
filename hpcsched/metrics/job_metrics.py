"""Mean wait time, mean response time (AF), and response times weighted by demand: AWF and PαSF."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.column_sums import (
    FloatColumn,
    mean_of_floats,
    mean_of_integers,
    sum_of_floats,
)
from hpcsched.metrics.metric import Column, Table
from hpcsched.portable_math import exp, expm1, log, log1p, of_each


def mean_wait_time(jobs: Table) -> float | None:
    """Return Σ (start − submit) / n, in seconds, over all jobs that ran; None if there are none.

    Notes
    -----
    The integer sum is exact.
    """
    return mean_of_integers(
        jobs, ("submit_time", "start_time"), lambda submit, start: start - submit
    )


def mean_response_time(jobs: Table) -> float | None:
    """Return AF = Σ F / n with F = end − submit, in seconds; None if no job ran.

    Notes
    -----
    Source: DEBS 2024 paper, section 2.1, equation (4). Population: all jobs that ran. The integer
    sum is exact.
    """
    return mean_of_integers(jobs, ("submit_time", "end_time"), lambda submit, end: end - submit)


def area_weighted_response_time(jobs: Table) -> float | None:
    """Return AWF = Σ r·D·F / Σ r·D, in seconds; None if no job that ran has an area.

    Notes
    -----
    r is the demand, D the run time, F = end − submit. Source: DEBS 2024 paper, section 2.1,
    equation (5). Population: all jobs that ran; those of zero run time weigh nothing. Every product
    is rounded to 53 bits and the sums are exact, so the relative error is below 10⁻¹⁵.
    """

    def area(demand: Column, run_time: Column) -> FloatColumn:
        return demand.astype(np.float64) * run_time

    def weighted(demand: Column, run_time: Column, submit: Column, end: Column) -> FloatColumn:
        return area(demand, run_time) * (end - submit)

    total = sum_of_floats(jobs, ("demand", "run_time"), area)
    if not total:
        return None
    columns = ("demand", "run_time", "submit_time", "end_time")
    return sum_of_floats(jobs, columns, weighted) / total


def specific_response_time(jobs: Table, alpha: float) -> float | None:
    """Return PαSF, in seconds; None if no job that ran has an area.

    PαSF = (α+1)/(α+2) · Σ r·(F^(α+2) − Q^(α+2)) / Σ r·(F^(α+1) − Q^(α+1)), where r is the demand, F
    = end − submit and Q = start − submit.

    Parameters
    ----------
    alpha
        The exponent α, at least 0.

    Notes
    -----
    Source: DEBS 2024 paper, section 2.1, equation (6). For a whole α of at most 10 the relative
    error is below 10⁻¹⁴ and the result is the same on every machine; for another α it is below
    10⁻¹³, and its last digits depend on the machine's mathematical functions.
    """

    def weighted(power: float) -> float:
        def term(demand: Column, run_time: Column, submit: Column, start: Column) -> FloatColumn:
            wait = (start - submit).astype(np.float64)
            difference = power_difference(wait, run_time.astype(np.float64), power)
            return demand.astype(np.float64) * difference

        return sum_of_floats(jobs, ("demand", "run_time", "submit_time", "start_time"), term)

    total = weighted(alpha + 1)
    return (alpha + 1) / (alpha + 2) * weighted(alpha + 2) / total if total else None


def power_difference(wait: FloatColumn, run_time: FloatColumn, power: float) -> FloatColumn:
    """Return (wait + run_time)^power − wait^power, without cancellation after a long wait.

    Parameters
    ----------
    wait
        Wait times in seconds, `[n]`.
    run_time
        Run times in seconds, `[n]`.
    """
    response = wait + run_time
    if float(power).is_integer():
        # F^p − Q^p = D · (F^(p−1) + F^(p−2)·Q + … + Q^(p−1)): only sums of what is not negative.
        total = wait_power = np.ones_like(wait)
        # Horner's scheme for the sum of F^i Q^j, all terms non-negative: no cancellation.
        for _ in range(int(power) - 1):
            wait_power = wait_power * wait
            total = total * response + wait_power
        return run_time * total
    # F^p − Q^p = −F^p · (exp(p · log(1 − D/F)) − 1); the factor is −1 where nothing was waited.
    share = np.divide(run_time, response, out=np.zeros_like(wait), where=response > 0)
    grown: FloatColumn = of_each(lambda x: exp(power * log(x)) if x else 0.0, response)
    less: FloatColumn = of_each(lambda x: expm1(power * log1p(-x)) if x < 1 else -1.0, share)
    return -grown * less


COLUMNS = ("submit_time", "end_time", "run_time")


def mean_slowdown(jobs: Table) -> float | None:
    """Return Σ (F / D) / n with F = end − submit and D = run time, a ratio; None if n is 0.

    Notes
    -----
    Source: DEBS 2024 paper, section 2.1, equation (3) with a bound of 0. Population: jobs that ran
    for at least a second, since the slowdown of a job of zero run time is not defined.
    """

    def slowdowns(submit: Column, end: Column, run_time: Column) -> FloatColumn:
        ran = run_time > 0
        return (end - submit)[ran] / run_time[ran]

    return mean_of_floats(jobs, COLUMNS, slowdowns)


def bounded_slowdowns(submit: Column, end: Column, run_time: Column, tau: int) -> FloatColumn:
    """Return the bounded slowdown of each job: max(1, F / max(D, tau)) with F = end − submit.

    Parameters
    ----------
    submit
        Submit times in seconds, `[n]`.
    end
        End times in seconds, `[n]`.
    run_time
        Run times D in seconds, `[n]`.
    tau
        Lower bound of run times in seconds, at least 1.
    """
    return np.maximum(1.0, (end - submit) / np.maximum(run_time, tau))


def mean_bounded_slowdown(jobs: Table, tau: int) -> float | None:
    """Return BSLD = Σ max(1, F / max(D, tau)) / n, a ratio; None if no job ran.

    Parameters
    ----------
    tau
        Lower bound of run times, in seconds.

    Notes
    -----
    Source: DEBS 2024 paper, section 2.1, equation (3), where the bound is called k and is 10.
    Population: all jobs that ran.
    """
    return mean_of_floats(jobs, COLUMNS, partial(bounded_slowdowns, tau=tau))


def percentiles(
    jobs: Table, percents: Sequence[int], tau: int
) -> dict[str, dict[str, float | None]]:
    """Return percentiles of wait time, response time and bounded slowdown of all jobs that ran.

    All values of one quantity are in memory at once, 8 bytes a job.

    Parameters
    ----------
    percents
        Percentages, from 0 to 100.
    tau
        Lower bound of run times in the bounded slowdown, in seconds.

    Returns
    -------
    dict
        By quantity and by `p50`, `p90` and so on; times in seconds, slowdowns as ratios. None where
        no job ran.

    Notes
    -----
    The p-th percentile of n values is by nearest rank: the ⌈p·n/100⌉-th smallest (the smallest for
    0), always a value that occurs.
    """
    quantities: Mapping[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
        "wait_time": (("submit_time", "start_time"), lambda submit, start: start - submit),
        "response_time": (("submit_time", "end_time"), lambda submit, end: end - submit),
        "bounded_slowdown": (COLUMNS, partial(bounded_slowdowns, tau=tau)),
    }
    # One after the other: 8 bytes a job each.
    return {
        name: _nearest_ranks([term(*batch) for batch in jobs.batches(*columns)], percents)
        for name, (columns, term) in quantities.items()
    }


def _nearest_ranks(
    parts: list[npt.NDArray[Any]], percents: Sequence[int]
) -> dict[str, float | None]:
    values = np.concatenate(parts) if parts else np.empty(0)
    if not percents or not len(values):
        return {f"p{percent}": None for percent in percents}
    ranks = {percent: nearest_rank(percent, len(values)) for percent in percents}
    values = np.partition(values, list(ranks.values()))
    return {f"p{percent}": values[rank].item() for percent, rank in ranks.items()}


def nearest_rank(percent: int, count: int) -> int:
    """Return the index, from 0, of a percentile among `count` ascending values.

    Parameters
    ----------
    count
        Number of values, at least 1.
    """
    return max(-(-percent * count // 100), 1) - 1


NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}
"""Names of the classes by their number; more than three classes are numbered."""


@dataclass(frozen=True, slots=True)
class RunTimeClass:
    """Jobs of a table with a run time from `least` to `most`, both included.

    Attributes
    ----------
    least
        Smallest run time, in seconds.
    most
        Largest run time, in seconds; None: no bound.
    """

    jobs: Table
    least: int
    most: int | None

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns of the jobs of this class, batch by batch."""
        for run_time, *batch in self.jobs.batches("run_time", *columns):
            keep = run_time >= self.least
            if self.most is not None:
                keep &= run_time <= self.most
            yield tuple(column[keep] for column in batch)


def class_values(
    jobs: Table, bounds: Sequence[int], tau: int
) -> list[dict[str, str | float | None]]:
    """Return the number of jobs and the means of each class of jobs that ran.

    With bounds of 1 h and 5 h jobs are short below 1 h, medium from 1 h to 5 h, and long above 5 h
    (Galleguillos, thesis 2020, section 2.1).

    Parameters
    ----------
    bounds
        Ascending run times, in seconds. Jobs below the first are in the first class, jobs above the
        last in the last; any other class includes its upper bound.
    tau
        Lower bound of run times in the bounded slowdown, in seconds.

    Returns
    -------
    list
        A mapping for each class. `run_time_from` and `run_time_to` are its bounds, both included.
        Wait and response times are in seconds, slowdowns are ratios; means are None where a class
        has no job.
    """
    values: list[dict[str, str | float | None]] = []
    ranges = _ranges(bounds)
    names = NAMES.get(len(ranges)) or [f"class {k}" for k in range(1, len(ranges) + 1)]
    for name, (least, most) in zip(names, ranges, strict=True):
        members = RunTimeClass(jobs, least, most)
        values.append(
            {
                "class": name,
                "run_time_from": least,
                "run_time_to": most,
                "jobs": sum(len(run_time) for (run_time,) in members.batches("run_time")),
                "mean_wait_time": mean_wait_time(members),
                "mean_response_time": mean_response_time(members),
                "mean_slowdown": mean_slowdown(members),
                "mean_bounded_slowdown": mean_bounded_slowdown(members, tau),
            }
        )
    return values


def _ranges(bounds: Sequence[int]) -> list[tuple[int, int | None]]:
    ranges: list[tuple[int, int | None]] = []
    least = 0
    for k, bound in enumerate(bounds):
        # The first class ends before its bound (short: below 1 h), the others include it.
        most = bound if k else bound - 1
        ranges.append((least, most))
        least = most + 1
    return [*ranges, (least, None)]
