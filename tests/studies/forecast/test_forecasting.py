"""Forecasts of a small trace, and of a job that might be submitted."""

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.studies.forecast.forecasting import SupposedJob, forecast, supposed_job
from hpcsched.studies.forecast.prepared_replay import PreparedReplay, prepare, submitted_until
from tests.builders import one_type


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
