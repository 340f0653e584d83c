"""Forecasts of a small trace, and of a job that might be submitted."""

import numpy as np
import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.simulation.replay_branches import branches
from hpcsched.studies.forecast.forecasting import (
    ArrivalHistory,
    Past,
    PreparedReplay,
    RunTimeHistory,
    StartForecast,
    SupposedJob,
    forecast,
    forecast_starts,
    prepare,
    submitted_until,
    supposed_job,
)
from tests.builders import easy, one_type, parts
from tests.studies.forecast.columns import jobs_of


@pytest.fixture(scope="module")
def prepared() -> PreparedReplay:
    """A replay of two days."""
    return prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=400"]))


def test_the_jobs_that_wait(prepared: PreparedReplay) -> None:
    """Each has ascending start times that are not before the instant."""
    at = int(prepared.columns.submit_time[350])
    found = forecast(prepared, at + 5, samples=10)
    assert found.now == at
    assert found.jobs
    assert [job.submit_time for job in found.jobs] == sorted(job.submit_time for job in found.jobs)
    for job in found.jobs:
        assert list(job.starts) == sorted(job.starts)
        assert job.starts[0] >= found.now


def test_a_supposed_job_is_last(prepared: PreparedReplay) -> None:
    """It is submitted now; the forecasts of the others are made with it."""
    at = int(prepared.columns.submit_time[350])
    job = SupposedJob(units=2, time=7200, user=3)
    found = forecast(prepared, at, supposed=job, samples=10)
    last = found.jobs[-1]
    assert (last.job_id, last.submit_time, last.units, last.requested_time) == (None, at, 2, 7200)
    assert len(found.jobs) == len(forecast(prepared, at, samples=10).jobs) + 1
    with pytest.raises(InputError, match="does not fit on the system"):
        forecast(prepared, at, supposed=SupposedJob(units=10_000, time=60), samples=1)


def test_a_supposed_job_beyond_a_limit() -> None:
    """What could never start under the limits of its account is refused."""
    limit = "accounts={all: {other_users: true, limits: {total: {core: 3}}}}"
    limited = prepare(load_scenario("scenarios/small-easy.yaml", ["trace.jobs=100", limit]))
    at = int(limited.columns.submit_time[50])
    with pytest.raises(InputError, match="refused: over_limit"):
        forecast(limited, at, supposed=SupposedJob(units=4, time=60), samples=1)
    assert forecast(limited, at, supposed=SupposedJob(units=3, time=60), samples=1)


def test_a_supposed_job_from_text() -> None:
    """Resource types of the system are keys; all errors are told at once."""
    system = one_type(4)
    assert supposed_job({"units": 3, "time": "2h", "core": 2}, system) == SupposedJob(
        units=3, time=7200, resources={"core": 2}
    )
    with pytest.raises(InputError) as caught:
        supposed_job({"units": 0, "time": "soon", "gpu": 1}, system)
    text = str(caught.value)
    assert "found 'gpu'" in text
    assert "found 0" in text
    assert "found 'soon'" in text


def test_before_the_first_job(prepared: PreparedReplay) -> None:
    """There is nothing to forecast, which is said."""
    first = int(prepared.columns.submit_time[0])
    assert submitted_until(prepared.columns, first) >= 1
    if first:
        with pytest.raises(InputError, match=f"the first is at {first} s"):
            forecast(prepared, first - 1)


STARTS = np.array([[10], [20], [20], [40]])


def test_quantiles_by_hand() -> None:
    """Nearest ranks of 10, 20, 20, 40: a quarter is up to 10 s, half up to 20 s."""
    found = StartForecast(0, np.array([7]), STARTS)
    assert [int(found.quantile(share)[0]) for share in (0, 0.25, 0.26, 0.75, 0.76, 1)] == [
        10, 10, 20, 20, 40, 40,
    ]  # fmt: skip


def test_the_end_of_a_running_job() -> None:
    """User 1's jobs took 10 or 50 of 100 s; one runs since 20 s, so that it takes 50 s.

    The job that waits for its core starts at its end, in all futures.
    """
    rows = [(0, 1, 100, 10 if k % 2 else 50, 1) for k in range(16)]
    rows += [(1000, 1, 100, 30, 1), (1020, 16, 100, 5, 1)]
    columns = jobs_of(rows)
    ((_, branch, ended),) = branches(
        parts(one_type(16), easy()), columns, [len(rows)]
    )  # fmt: skip
    past = Past(RunTimeHistory(columns), ArrivalHistory(columns))
    past.run_times.ended(ended.tolist())
    wanted = np.array([len(rows) - 1])
    found = forecast_starts(branch, past, wanted, samples=20)
    assert set(found.samples[:, 0].tolist()) == {1050}
    again = forecast_starts(branch, past, wanted, samples=20)
    assert (again.samples == found.samples).all()


def test_off_line_plans_have_no_instants() -> None:
    """Such a scenario is refused."""
    scenario = load_scenario("scenarios/small-offline.yaml", ["trace.jobs=3"])
    with pytest.raises(InputError, match="forecasts are about on-line dispatching"):
        prepare(scenario)


def test_observers_are_left_out() -> None:
    """They would write files."""
    changes = ["trace.jobs=3", "observers=[cpu-memory]"]
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", changes))
    assert prepared.scenario.observers == ()
    assert len(prepared.columns.job_id) == 3
