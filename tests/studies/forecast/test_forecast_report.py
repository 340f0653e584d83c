"""Forecasts and evaluations as text and JSON."""

import json

from hpcsched.studies.forecast.forecast_evaluation import (
    Evaluation,
    Scores,
    evaluation_content,
    evaluation_table,
)
from hpcsched.studies.forecast.forecasting import (
    Forecast,
    ForecastJob,
    forecast_content,
    forecast_table,
)
from hpcsched.workload.trace_calendar import calendar_of

FOUND = Forecast(
    1000,
    (0.05, 0.5, 0.95),
    (ForecastJob(7, 400, 2, 7200, (1000, 1042, 1754)), ForecastJob(None, 1000, 1, 60, (1060,) * 3)),
    3,
    200,
)
SCORES = Evaluation(
    {"at submission": {"forecast": Scores(4, 0.25, 0.5, 600.0, 300.0, 400.0, (0.5, 1.0)),
                       "similar jobs": Scores(4, 0.0, 0.25, 900.0, 700.0, 900.0)}},
    10, 6,
)  # fmt: skip


def test_a_forecast_as_text() -> None:
    """Times are from now on, and a start at once is said so."""
    lines = forecast_table(FOUND).as_text().splitlines()
    assert lines[0] == "Starts after second 1000, with 3 jobs running"
    assert lines[2].split("  ")[0] == "job"
    assert lines[3].split() == ["7", "2", "2", "h", "10", "min", "now", "42", "s", "13", "min"]
    assert lines[4].split()[0] == "supposed"


def test_a_forecast_as_json() -> None:
    """Times are seconds of the trace."""
    content = json.loads(json.dumps(forecast_content(FOUND)))
    assert content["jobs"][0]["starts"] == [1000, 1042, 1754]
    assert content["jobs"][1]["job_id"] is None
    assert content["quantiles"] == [0.05, 0.5, 0.95]


def test_an_evaluation() -> None:
    """Shares are percent in the table; a single value has no intervals."""
    first, second = evaluation_table(SCORES).rows
    assert first == ("at submission", "forecast", 4, 25, 50, 600, 300, 400, 50, 100)
    assert second[-2:] == (None, None)
    content = evaluation_content(SCORES)
    assert content["scores"]["at submission"]["forecast"]["coverage"] == (0.5, 1.0)


def test_the_title_has_a_date_where_the_log_has_one() -> None:
    """Second 1000 of a log that begins at 10:00 in Prague is 10:16:40."""
    calendar = calendar_of(("UnixStartTime: 1709283600", "TimeZoneString: Europe/Prague"), 0)
    text = forecast_table(FOUND._replace(calendar=calendar)).as_text()
    assert text.startswith("Starts after 2024-03-01 10:16:40, with 3 jobs running\n")
    assert forecast_content(FOUND._replace(calendar=calendar))["now"] == 1000
