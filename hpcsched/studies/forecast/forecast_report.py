"""Forecasts and their evaluation as tables and content for JSON."""

from typing import Any

from hpcsched.report.tables.report_table import Cell, Table, duration_text
from hpcsched.studies.forecast.forecast_evaluation import INTERVALS, Evaluation
from hpcsched.studies.forecast.forecasting import Forecast


def forecast_table(found: Forecast) -> Table:
    """Return the forecasts of jobs as a table: times from now until the start."""
    shares = (f"{100 * share:g} %" for share in found.quantiles)
    header = ("job", "units", "requested", "waits for", *shares)
    rows = [
        (
            "supposed" if job.job_id is None else str(job.job_id),
            str(job.units),
            duration_text(job.requested_time),
            duration_text(found.now - job.submit_time),
            *(
                "now" if start <= found.now else duration_text(start - found.now)
                for start in job.starts
            ),
        )
        for job in found.jobs
    ]
    return Table(
        header,
        rows,
        name="forecast",
        title=f"Starts after {found.calendar.instant(found.now)}, with {found.running} jobs"
        " running",
        notes=(
            "The columns with % are quantiles of the time until the start: so many of"
            f" {found.samples} sampled futures start the job within it.",
        ),
        words=1,
    )


def forecast_content(found: Forecast) -> dict[str, Any]:
    """Return a forecast as content for JSON; times in seconds since the trace's origin."""
    return {
        "now": found.now,
        "running": found.running,
        "samples": found.samples,
        "quantiles": list(found.quantiles),
        "jobs": [job._asdict() | {"starts": list(job.starts)} for job in found.jobs],
    }


def evaluation_table(found: Evaluation) -> Table:
    """Return the scores of forecasts and baselines as a table."""
    rows: list[tuple[Cell, ...]] = []
    for instant, by_kind in found.scores.items():
        for kind, scores in by_kind.items():
            jobs, minute, ten_minutes, *errors, coverage = scores
            within = (100 * minute, 100 * ten_minutes)
            inside = [100 * share for share in coverage] if coverage else [None] * len(INTERVALS)
            rows.append((instant, kind, jobs, *within, *errors, *inside))
    return Table(
        (
            *("instant", "forecast by", "jobs", "within 1 min [%]", "within 10 min [%]"),
            *("mean error [s]", "median error [s]", "CRPS [s]"),
            *(f"in {100 * share:g} % interval [%]" for share in INTERVALS),
        ),
        rows,
        "forecast-evaluation",
        "Forecasts of start times, compared with the starts",
        (
            f"Population: drawn from the {found.waited:,} of {found.jobs:,} jobs that waited, after"
            " the first tenth of the trace.",
            "An hour before: at the last submission at least an hour before the start.",
            "Errors are absolute ones of the forecast median. CRPS: mean continuous ranked"
            " probability score; of a single value it is the absolute error.",
        ),
    )


def evaluation_content(found: Evaluation) -> dict[str, Any]:
    """Return an evaluation as content for JSON; times in seconds, shares from 0 to 1."""
    return {
        "jobs": found.jobs,
        "waited": found.waited,
        "intervals": list(INTERVALS),
        "scores": {
            instant: {kind: scores._asdict() for kind, scores in by_kind.items()}
            for instant, by_kind in found.scores.items()
        },
    }
