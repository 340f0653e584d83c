"""Mean wait time and mean response time."""

from hpcsched.metrics.column_sums import mean_of_integers
from hpcsched.metrics.metric_tables import Table


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
