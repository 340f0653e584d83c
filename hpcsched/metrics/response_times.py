"""Mean wait time, mean response time (AF), and response times weighted by demand: AWF and PαSF."""

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, mean_of_integers, sum_of_floats
from hpcsched.metrics.metric_tables import Column, Table
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
