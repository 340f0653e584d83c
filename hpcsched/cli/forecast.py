"""`hpcsched forecast`: when waiting jobs will start, as quantiles over sampled futures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text
from hpcsched.cli.shared_options import Force, Overrides, ScenarioFile

if TYPE_CHECKING:
    from hpcsched.forecast.forecasting import SupposedJob
    from hpcsched.forecast.prepared_replay import PreparedReplay


def forecast(
    scenario: ScenarioFile,
    *,
    at: Annotated[
        str | None,
        typer.Option(
            help="The simulated time, such as 90000, 25h or 3d; the last submission by default.",
            show_default=False,
        ),
    ] = None,
    supposed: Annotated[
        str | None,
        typer.Option(
            "--if",
            metavar="JOB",
            help="A job that might be submitted then: '{units: 4, core: 2, time: 2h, user: 7}'.",
            show_default=False,
        ),
    ] = None,
    quantiles: Annotated[
        str, typer.Option(help="The quantiles, from 0 to 1.")
    ] = "0.05,0.25,0.5,0.75,0.95",
    evaluate: Annotated[
        bool,
        typer.Option(
            "--evaluate",
            help="Compare forecasts of jobs of the trace with their starts, and with baselines.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="With --evaluate: the number of jobs.")] = 400,
    samples: Annotated[int, typer.Option(min=1, help="The number of sampled futures.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the samples.")] = 0,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Draw the forecast into this file: .pdf, .svg or .png.", show_default=False
        ),
    ] = None,
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
    overrides: Overrides = None,
    force: Force = False,
) -> None:
    """Forecast when the jobs that wait at a time will start.

    Run times and later jobs are sampled from the past; the scenario's dispatcher replays each
    sample.
    """
    from hpcsched.forecast.prepared_replay import prepare
    from hpcsched.scenario import load_scenario

    shares = _shares(quantiles)
    time = _time(at)
    _check_figure(figure, evaluate=evaluate, force=force)
    prepared = prepare(load_scenario(scenario, overrides or ()))
    if evaluate:
        from hpcsched.forecast.evaluation import evaluate as evaluated
        from hpcsched.forecast.rendering import evaluation_content, evaluation_table

        scores = evaluated(prepared, jobs=jobs, samples=samples, seed=seed)
        text = evaluation_table(scores).as_text
        content = evaluation_content(scores)
    else:
        from hpcsched.forecast.forecasting import forecast as forecasted
        from hpcsched.forecast.rendering import forecast_content, forecast_table

        found = forecasted(
            prepared,
            int(prepared.columns.submit_time[-1]) if time is None else time,
            supposed=_supposed(supposed, prepared),
            quantiles=shares,
            samples=samples,
            seed=seed,
        )
        text, content = forecast_table(found).as_text, forecast_content(found)
        if figure is not None:
            from hpcsched.forecast.forecast_figure import forecast_figure
            from hpcsched.report.figures.figure_files import write_figure

            write_figure(forecast_figure(found).chart, figure, force=force)
    emit(json_text(content) if format_ is DataFormat.JSON else text(), out)
    if figure is not None:
        typer.echo(f"wrote {figure}", err=True)


def _shares(text: str) -> tuple[float, ...]:
    """Return quantiles in ascending order, each once."""
    try:
        shares = sorted({float(part) for part in text.split(",")})
    except ValueError:
        shares = []
    if not shares or not all(0 <= share <= 1 for share in shares):
        message = f"expected numbers from 0 to 1, with commas between them; found {text!r}"
        raise typer.BadParameter(message, param_hint="--quantiles")
    return tuple(shares)


def _time(text: str | None) -> int | None:
    from hpcsched.parameters import parse_duration

    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--at") from None


def _check_figure(figure: Path | None, *, evaluate: bool, force: bool) -> None:
    """Check that the figure can be written, before the trace is read."""
    if figure is None:
        return
    from hpcsched.report.figures.figure_files import check_free, format_of

    if evaluate:
        message = "an evaluation has no figure; leave out --figure or --evaluate"
        raise typer.BadParameter(message, param_hint="--figure")
    format_of(figure)
    check_free(figure, force=force)


def _supposed(text: str | None, prepared: "PreparedReplay") -> "SupposedJob | None":
    """Return the job of --if."""
    if text is None:
        return None
    import yaml

    from hpcsched.forecast.forecasting import supposed_job

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, dict):
        message = f"expected a mapping such as '{{units: 4, time: 2h}}'; found {text!r}"
        raise typer.BadParameter(message, param_hint="--if")
    return supposed_job(value, prepared.parts.system)
