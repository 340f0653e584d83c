"""The file of a forecast: what it tells of jobs, and to monitoring."""

import json
import time
from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.studies.forecast.forecast_file import (
    ForecastFile,
    WaitingJobForecast,
    prometheus_text,
    publish,
    read_forecast,
)

NOON = 12 * 3600
"""Noon of the first day of 1970 by UTC."""


def waiting(
    job: str, group: int | None, middle: int, partition: str = "main"
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
    )


FOUND = ForecastFile(
    cluster="site",
    time=NOON,
    running=3,
    samples=200,
    quantiles=(0.1, 0.5, 0.9),
    jobs=(
        waiting("7", 5, NOON + 7200),
        waiting("100340_1", 5, NOON + 3600),
        waiting("100340_12", None, NOON + 86_400),
        waiting("9", 6, NOON + 3600, "gpu"),
    ),
)


@pytest.fixture(name="file")
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The forecast in a file, on a machine whose clock shows UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    publish(FOUND, tmp_path / "forecast.json", tmp_path / "forecast.prom")
    return tmp_path / "forecast.json"


def test_a_forecast_is_read_as_it_was_written(file: Path) -> None:
    """Nothing is lost; files of another format, or damaged ones, are refused."""
    assert read_forecast(file) == FOUND
    content = json.loads(file.read_text())
    for changed, message in (({"format": 0}, "has format 0"), ({"jobs": 1}, "it is damaged: jobs")):
        file.write_text(json.dumps(content | changed))
        with pytest.raises(InputError, match=message):
            read_forecast(file)


def test_when(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A job, an array's tasks by its number, and one that does not wait."""
    assert main(["when", "7", "--forecast", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "7: between 13:30 and 14:30 (80%), in the middle 14:00; before it: 2 jobs, of which 1 of"
        " its group",
        "as of 1970-01-01 12:00, by 200 sampled futures",
    ]
    assert main(["when", "100340", "--forecast", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "100340_1: between 12:30 and 13:30 (80%), in the middle 13:00; before it: 0 jobs, of"
        " which 0 of its group",
        "100340_12: between 1970-01-02 11:30 and 1970-01-02 12:30 (80%), in the middle"
        " 1970-01-02 12:00; before it: 3 jobs",
    ]
    assert main(["when", "7", "8", "10034", "--forecast", str(file)]) == 1
    assert (
        "not among the 4 jobs that waited at 1970-01-01 12:00: 8, 10034" in capsys.readouterr().err
    )


def test_a_partition_with_an_odd_name() -> None:
    """Quotes, backslashes and line breaks are escaped."""
    odd = FOUND.model_copy(update={"jobs": (waiting("1", None, NOON, 'a"b\\c\nd'),)})
    assert 'hpcsched_waiting_jobs{partition="a\\"b\\\\c\\nd"} 1' in prometheus_text(odd)


def test_metrics(file: Path) -> None:
    """By partition: how many wait, and the least, middle and greatest of their medians."""
    text = file.with_suffix(".prom").read_text()
    assert text == prometheus_text(FOUND)
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values == {
        "hpcsched_forecast_time_seconds": "43200",
        "hpcsched_running_jobs": "3",
        'hpcsched_waiting_jobs{partition="gpu"}': "1",
        'hpcsched_waiting_jobs{partition="main"}': "3",
        'hpcsched_forecast_wait_seconds{partition="gpu",quantile="0"}': "3600",
        'hpcsched_forecast_wait_seconds{partition="gpu",quantile="0.5"}': "3600",
        'hpcsched_forecast_wait_seconds{partition="gpu",quantile="1"}': "3600",
        'hpcsched_forecast_wait_seconds{partition="main",quantile="0"}': "3600",
        'hpcsched_forecast_wait_seconds{partition="main",quantile="0.5"}': "7200",
        'hpcsched_forecast_wait_seconds{partition="main",quantile="1"}': "86400",
    }
