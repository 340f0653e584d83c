"""Forecasts and evaluations as text and JSON."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.studies.forecast.forecast_evaluation import Evaluation, Scores
from hpcsched.studies.forecast.forecast_report import (
    MOST,
    ForecastProgress,
    evaluation_content,
    evaluation_table,
    forecast_content,
    forecast_figure,
    forecast_table,
)
from hpcsched.studies.forecast.forecasting import Forecast, ForecastJob
from hpcsched.workload.trace_calendar import calendar_of
from tests.report.figures.described import units
from tests.terminal import error_terminal

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


def test_bands_by_hand() -> None:
    """Each job has two bands and a line at its median, in hours from now."""
    job = ForecastJob(7, 0, 1, 60, (3600, 7200, 10_800, 14_400, 21_600))
    found = Forecast(0, (0.05, 0.25, 0.5, 0.75, 0.95), (job,), 0, 200)
    bands, middle = units(forecast_figure(found).chart)
    assert [(row["interval"], row["begin"], row["end"]) for row in bands.rows] == [
        ("90 %", 1, 6), ("50 %", 2, 4),
    ]  # fmt: skip
    assert bands.encoding["color"]["scale"]["domain"] == ["90 %", "50 %"]
    assert bands.encoding["color"]["legend"]["title"] == "start within, line: median"
    assert middle.column("begin") == [3]
    assert middle.axis_title("x") == "hours until the start"


def test_many_jobs() -> None:
    """The first ones are drawn, which the caption says."""
    jobs = tuple(ForecastJob(k, 0, 1, 60, (k, k, k)) for k in range(MOST + 5))
    figure = forecast_figure(Forecast(0, (0.1, 0.5, 0.9), jobs, 0, 200))
    assert len(units(figure.chart)[1].rows) == MOST
    assert f"The first {MOST} of {MOST + 5} jobs." in figure.caption


SCENARIO = str(Path(__file__).parents[3] / "scenarios" / "small-easy.yaml")


def test_futures_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """First the replay up to the instant, then the futures."""
    terminal = error_terminal(monkeypatch)
    with ForecastProgress(2) as progress:
        progress(1)
        progress(2)
    assert any("replaying up to the forecast" in line for line in terminal.lines)
    assert any("futures: 2 of 2" in line for line in terminal.lines)


@pytest.mark.parametrize("command", [["starts"], ["evaluate", "--jobs", "2"]])
def test_commands_show_it(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every future is told to the bar, which is not drawn where there is no terminal."""
    told: list[tuple[int, ...]] = []
    monkeypatch.setattr(ForecastProgress, "__call__", lambda _, *ended: told.append(ended))
    options = ["--set", "trace.jobs=300", "--samples", "2"]
    result = CliRunner().invoke(app, ["forecast", command[0], SCENARIO, *command[1:], *options])
    assert result.exit_code == 0, result.output
    assert "futures" not in result.stderr
    if command == ["starts"]:
        assert told == [(1,), (2,)]
    else:
        total = told[-1][1]
        assert told == [(number, total) for number in range(1, total + 1)]
