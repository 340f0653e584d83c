"""Mean slowdown and mean bounded slowdown."""

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, mean_of_floats
from hpcsched.metrics.metric_tables import Column, Table

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

    def term(submit: Column, end: Column, run_time: Column) -> FloatColumn:
        return bounded_slowdowns(submit, end, run_time, tau)

    return mean_of_floats(jobs, COLUMNS, term)
