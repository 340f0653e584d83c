"""`hpcsched forecast`: when waiting jobs will start, as quantiles over sampled futures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.options import Force, Overrides, ScenarioFile, with_option_groups
from hpcsched.cli.output import DataFormat, DataFormatOption, DataOutput, emit, free, json_text

if TYPE_CHECKING:
    from hpcsched.studies.forecast.forecasting import Forecast, PreparedReplay, SupposedJob

PANEL = "Study"
app = typer.Typer(
    name="forecast", help="Forecast when jobs will start.", no_args_is_help=True
)  # fmt: skip

QUANTILES = "0.05,0.25,0.5,0.75,0.95"
Quantiles = Annotated[str, typer.Option(help="The quantiles, from 0 to 1.")]
Supposed = Annotated[
    str | None,
    typer.Option(
        "--if", metavar="JOB", help="A possible job: '{units: 4, core: 2, time: 2h, user: 7}'."
    ),
]
ForecastOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write to this file.",
        callback=free,
    ),
]
Samples = Annotated[int, typer.Option(min=1, help="The number of sampled futures.")]


@app.command()
def starts(
    scenario: ScenarioFile,
    *,
    at: Annotated[
        str | None, typer.Option(help="Seconds, 2d12h or a date; the last submission by default.")
    ] = None,
    supposed: Supposed = None,
    quantiles: Quantiles = QUANTILES,
    samples: Samples = 200,
    format_: DataFormatOption = DataFormat.TEXT,
    out: ForecastOut = None,
    force: Force = False,
    overrides: Overrides = None,
) -> None:
    """Forecast when the jobs that wait at a time will start.

    Run times and later jobs are sampled from the past, with the scenario's seed; the scenario's
    dispatcher replays each sample.
    """
    from hpcsched.scenario import load_scenario
    from hpcsched.studies.forecast.forecasting import forecast, prepare
    from hpcsched.studies.progress import Bar

    shares = quantiles_of(quantiles)
    prepared = prepare(load_scenario(scenario, overrides or ()))
    second, job = _second(at, prepared), _supposed(supposed, prepared)
    with Bar("forecast") as bar:
        found = forecast(
            prepared,
            second,
            supposed=job,
            quantiles=shares,
            samples=samples,
            seed=prepared.scenario.seed,
            ended=lambda number: bar.count(number, samples, "futures"),
        )
    show_forecast(found, format_, out, force=force)


@app.command()
@with_option_groups
def evaluate(
    scenario: ScenarioFile,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="The number of jobs that are forecast.")] = 400,
    samples: Samples = 200,
    output: DataOutput,
    overrides: Overrides = None,
) -> None:
    """Compare forecasts with real starts and with baselines.

    The jobs are drawn from those that waited, with the scenario's seed.
    """
    from hpcsched.scenario import load_scenario
    from hpcsched.studies.forecast import forecast_evaluation as evaluation
    from hpcsched.studies.forecast.forecast_report import evaluation_content, evaluation_table
    from hpcsched.studies.forecast.forecasting import prepare
    from hpcsched.studies.progress import Bar

    prepared = prepare(load_scenario(scenario, overrides or ()))
    with Bar("forecast") as bar:
        found = evaluation.evaluate(
            prepared,
            jobs=jobs,
            samples=samples,
            seed=prepared.scenario.seed,
            ended=lambda number, of: bar.count(number, of, "futures"),
        )
    output.show(lambda: evaluation_table(found).as_text(), lambda: evaluation_content(found))


def show_forecast(found: "Forecast", format_: DataFormat, out: Path | None, *, force: bool) -> None:
    """Print a forecast, or write it to a file."""
    from hpcsched.studies.forecast.forecast_report import forecast_content, forecast_table

    as_json = format_ is DataFormat.JSON
    text = json_text(forecast_content(found)) if as_json else forecast_table(found).as_text()
    emit(text, out, force=force)


def quantiles_of(text: str) -> tuple[float, ...]:
    """Return quantiles in ascending order, each once."""
    try:
        shares = sorted({float(part) for part in text.split(",")})
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        message = f"expected numbers from 0 to 1, with commas between them; found {text!r}"
        raise typer.BadParameter(message, param_hint="--quantiles")
    return tuple(shares)


def _second(at: str | None, prepared: "PreparedReplay") -> int:
    """Return the second of --at; the last submission without it."""
    from hpcsched.workload.trace_calendar import simulated_second

    if at is None:
        return int(prepared.columns.submit_time[-1])
    return simulated_second(at, prepared.calendar, prepared.first_submit_time)


def _supposed(text: str | None, prepared: "PreparedReplay") -> "SupposedJob | None":
    """Return the job of --if."""
    from hpcsched.studies.forecast.forecasting import supposed_job

    value = mapping_of(text)
    return None if value is None else supposed_job(value, prepared.parts.system)


def mapping_of(text: str | None) -> "dict[str, Any] | None":
    """Return the mapping of --if; None without it."""
    if text is None:
        return None
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, dict):
        message = f"expected a mapping such as '{{units: 4, time: 2h}}'; found {text!r}"
        raise typer.BadParameter(message, param_hint="--if")
    return value
