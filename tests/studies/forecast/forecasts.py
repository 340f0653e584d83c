"""A forecast of the jobs that wait on a cluster, for tests."""

from hpcsched.studies.forecast.forecast_file import ForecastFile, WaitingJobForecast

NOON = 12 * 3600
"""Noon of the first day of 1970 by UTC."""


def waiting(
    job: str, group: int | None, middle: int, partition: str = "main", gain: int = 0
) -> WaitingJobForecast:
    """Return a job that starts half an hour around a second."""
    return WaitingJobForecast(
        job=job,
        partition=partition,
        user=1,
        group=group,
        submit_time=NOON - 600,
        units=1,
        requested_time=3600,
        starts=(middle - 1800, middle, middle + 1800),
        gain=gain,
    )


FOUND = ForecastFile(
    cluster="site",
    time=NOON,
    running=3,
    samples=200,
    quantiles=(0.1, 0.5, 0.9),
    jobs=(
        waiting("7", 5, NOON + 7200, gain=4800),
        waiting("100340_1", 5, NOON + 3600, gain=59),
        waiting("100340_12", None, NOON + 86_400),
        waiting("9", 6, NOON + 3600, "gpu"),
    ),
)
