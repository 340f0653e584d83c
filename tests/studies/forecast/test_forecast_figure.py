"""The figure of a forecast."""

from hpcsched.studies.forecast.forecast_figure import MOST, forecast_figure
from hpcsched.studies.forecast.forecasting import Forecast, ForecastJob
from tests.report.figures.described import units


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
