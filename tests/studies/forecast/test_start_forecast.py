"""Forecasts by hand."""

import numpy as np

from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.arrival_samples import ArrivalHistory
from hpcsched.studies.forecast.run_time_samples import FEWEST, RunTimeHistory
from hpcsched.studies.forecast.start_forecast import Past, StartForecast, forecast_starts
from tests.builders import easy, one_type, parts
from tests.studies.forecast.columns import jobs_of

STARTS = np.array([[10], [20], [20], [40]])


def test_quantiles_by_hand() -> None:
    """Nearest ranks of 10, 20, 20, 40: a quarter is up to 10 s, half up to 20 s."""
    found = StartForecast(0, np.array([7]), STARTS)
    assert [int(found.quantile(share)[0]) for share in (0, 0.25, 0.26, 0.75, 0.76, 1)] == [
        10, 10, 20, 20, 40, 40,
    ]  # fmt: skip


def test_ranks_by_hand() -> None:
    """One of four samples is before 20 s, and half of the two equal ones count: 0.5."""
    found = StartForecast(0, np.array([7]), STARTS)
    assert [found.rank(0, start) for start in (5, 20, 30, 50)] == [0, 0.5, 0.75, 1]


def test_the_end_of_a_running_job() -> None:
    """User 1's jobs took 10 or 50 of 100 s; one runs since 20 s, so that it takes 50 s.

    The job that waits for its core starts at its end, in all futures.
    """
    rows = [(0, 1, 100, 10 if k % 2 else 50, 1) for k in range(2 * FEWEST)]
    rows += [(1000, 1, 100, 30, 1), (1020, 16, 100, 5, 1)]
    columns = jobs_of(rows)
    ((_, branch, ended),) = branches(
        parts(one_type(2 * FEWEST), easy()), columns, [len(rows)]
    )  # fmt: skip
    past = Past(columns, RunTimeHistory(columns), ArrivalHistory(columns))
    past.run_times.ended(ended.tolist())
    wanted = np.array([len(rows) - 1])
    found = forecast_starts(branch, past, wanted, samples=20)
    assert set(found.samples[:, 0].tolist()) == {1050}
    again = forecast_starts(branch, past, wanted, samples=20)
    assert (again.samples == found.samples).all()
