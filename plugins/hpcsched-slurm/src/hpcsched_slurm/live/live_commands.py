"""`hpcsched live`: a scenario's dispatcher on a real cluster."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli.options import (
    QUANTILES,
    DataOutput,
    Force,
    OneRun,
    OutFile,
    Overrides,
    Quantiles,
    Samples,
    ScenarioFile,
    Supposed,
    emit,
    with_option_groups,
)

app = typer.Typer(
    name="live", help="Advise on, drive or replay a real cluster.", no_args_is_help=True
)

RunOut = Annotated[
    Path | None, typer.Option("--out", help="The run directory; runs/NAME by default.")
]


@dataclass(frozen=True)
class Ends:
    """Options on when a live run ends."""

    seconds: Annotated[
        float | None, typer.Option("--for", help="End after this many seconds.", min=0)
    ] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="End after this many rounds.")] = None
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when no job is queued or running.")
    ] = False


@app.command()
def init(
    *,
    partition: Annotated[list[str], typer.Option(help="A partition; can be repeated.")],
    rest: Annotated[
        str | None, typer.Option(help="unix:/path/to/socket or http://127.0.0.1:PORT.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with a token, readable by its owner alone.")
    ] = None,
    history: Annotated[
        Path | None, typer.Option(help="The file that JobCompLoc names; slurmdbd by default.")
    ] = None,
    dispatcher: Annotated[str, typer.Option(help="Its name.")] = "easy",
    out: OutFile = None,
    force: Force = False,
) -> None:
    """Write a scenario for the cluster that Slurm runs here."""
    from hpcsched_slurm.scenario_writer import calls_at, scenario_of
    from hpcsched_slurm.site.writing import check_dispatcher

    check_dispatcher(dispatcher, "--dispatcher")
    given = {"rest": rest, "token_file": token_file and str(token_file)}
    manager = {key: value for key, value in given.items() if value is not None}
    past = None if history is None else str(history)
    text, warnings = scenario_of(
        calls_at(manager), partition, manager, history=past, dispatcher=dispatcher
    )
    emit(text.rstrip("\n"), out, force=force)
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


@app.command()
@with_option_groups
def advise(
    scenario: ScenarioFile,
    out: RunOut = None,
    overrides: Overrides = None,
    *,
    ends: Ends,
    force: Force = False,
) -> None:
    """Show which jobs would start where; change nothing.

    Without --for, --rounds and --until-idle it ends after one look at the cluster.
    """
    _run(scenario, out, overrides, ends, drive=False, force=force)


@app.command()
@with_option_groups
def drive(
    scenario: ScenarioFile,
    out: RunOut = None,
    overrides: Overrides = None,
    *,
    ends: Ends,
    force: Force = False,
) -> None:
    """Start the held jobs of the scenario's partitions."""
    _run(scenario, out, overrides, ends, drive=True, force=force)


@app.command()
def replay(
    scenario: ScenarioFile,
    live_run: OneRun,
    out: RunOut = None,
    overrides: Overrides = None,
    *,
    latency: Annotated[
        int, typer.Option(min=0, help="Simulated seconds that each round takes.")
    ] = 1,
    force: Force = False,
) -> None:
    """Simulate the jobs of a live run; compare start times.

    The run directory is runs/NAME-replayed by default.
    """
    from hpcsched.report.run_choice import one_run_folder
    from hpcsched_slurm.live.replay import difference_lines, replay_live

    found = replay_live(
        scenario,
        one_run_folder(live_run),
        out,
        latency=latency,
        overrides=overrides or (),
        force=force,
    )
    for line in difference_lines(found):
        typer.echo(line)


def _seconds(text: str) -> int:
    from hpcsched.parameters import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@dataclass(frozen=True)
class Publishing:
    """Options on forecasts that are made again and again for others."""

    publish: Annotated[
        Path | None,
        typer.Option(help="Write forecasts to this JSON file, again and again; see --every."),
    ] = None
    every: Annotated[
        Any,
        typer.Option(
            parser=_seconds, metavar="TIME", help="Time from one to the next; 5min by default."
        ),
    ] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="End after this many.")] = None
    prometheus: Annotated[
        Path | None, typer.Option(help="Also write metrics to this file (*.prom).")
    ] = None
    page: Annotated[Path | None, typer.Option(help="Also write a page to this file (*.html).")] = (
        None
    )
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Also serve /metrics, /forecast.json and the page there."
        ),
    ] = None


@app.command()
@with_option_groups
def forecast(
    scenario: ScenarioFile,
    *,
    supposed: Supposed = None,
    quantiles: Quantiles = QUANTILES,
    samples: Samples = 100,
    output: DataOutput,
    publishing: Publishing,
    overrides: Overrides = None,
) -> None:
    """Forecast when the jobs that wait on the cluster will start.

    Run times and later jobs are sampled from the scenario's trace, the cluster's history; the
    scenario's dispatcher replays each sample. Nothing is changed.
    """
    from hpcsched.scenario import load_scenario
    from hpcsched.studies.forecast.forecasting import forecast_content, forecast_table
    from hpcsched.studies.progress import Bar
    from hpcsched_slurm.live.live_forecast import ClusterForecaster

    own = {f"--{name}": value for name, value in vars(publishing).items() if name != "publish"}
    single = {"--if": supposed, "--out": output.out}
    given, where = (own, "without") if publishing.publish is None else (single, "with")
    idle = [name for name, value in given.items() if value is not None]
    if idle:
        raise typer.BadParameter(f"{', '.join(idle)}: of no use {where} --publish")
    if publishing.publish is not None:
        from hpcsched_slurm.live.published import Published

        published = Published()
        with ExitStack() as stack:
            if publishing.serve is not None:
                address = stack.enter_context(published.served(publishing.serve))
                typer.echo(f"serving {address}", err=True)
            forecaster = ClusterForecaster(load_scenario(scenario, overrides or ()))
            every = 300 if publishing.every is None else publishing.every
            for one in forecaster.repeated(quantiles, samples, every, publishing.rounds):
                published.put(one, publishing.publish, publishing.prometheus, publishing.page)
        return
    forecaster = ClusterForecaster(load_scenario(scenario, overrides or ()))
    with Bar("forecast") as bar:
        now = forecaster.forecast(
            supposed, quantiles, samples, lambda number: bar.count(number, samples, "futures")
        )
    output.show(lambda: forecast_table(now).as_text(), lambda: forecast_content(now))


def _run(
    file: Path,
    out: Path | None,
    overrides: list[str] | None,
    ends: Ends,
    *,
    drive: bool,
    force: bool,
) -> None:
    from hpcsched.cli.run_commands import run_warnings
    from hpcsched.scenario import read_scenario
    from hpcsched_slurm.live.session import run_live

    loaded = read_scenario(file, overrides or ())
    directory = run_live(
        loaded.scenario,
        out or Path("runs") / loaded.scenario.name,
        drive=drive,
        # During a run `print` writes to standard error, for plugins; advice does not.
        say=partial(typer.echo, file=sys.stdout),
        seconds=ends.seconds,
        rounds=ends.rounds,
        until_idle=ends.until_idle,
        force=force,
    )
    typer.echo(f"results in {directory.path}")
    for warning in run_warnings(loaded, directory):
        typer.echo(warning, err=True)
