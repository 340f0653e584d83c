"""Commands of studies: `whatif`, `tune`, `forecast` and `predictors`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli import options
from hpcsched.cli.scenario_commands import scenario_findings
from hpcsched.report.job_breakdown import class_kinds
from hpcsched.runs.folder_lock import locked_folder
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import resolved_yaml
from hpcsched.studies import first_look, predictor_evaluation, tuning_text, whatif_study
from hpcsched.studies.forecast import forecast_evaluation, forecast_report, forecasting
from hpcsched.studies.progress import Bar, CellProgress
from hpcsched.studies.tuning import TunedScenario
from hpcsched.studies.tuning_study import Trial
from hpcsched.studies.tuning_study import tune as tune_scenario
from hpcsched.studies.whatif import read_whatif
from hpcsched.whole_files import check_target, write_text
from hpcsched.workload.trace_calendar import simulated_second


def whatif(
    scenario: options.ScenarioFile,
    *,
    vary: Annotated[Path, typer.Option(metavar="FILE", help="The file with the variants.")],
    out: options.StudyFolder = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of replays at a time.")] = None,
    by: options.ByClass = None,
    format_: options.TableFormatOption = "text",
    overrides: options.Overrides = None,
) -> None:
    """Compare variants of a scenario on the same log, job by job.

    The folder gets the page whatif.html, the tables as whatif.json, and the outcome of each
    variant; outcomes that are there are kept. Exits with 1 if a variant fails.
    """
    # Altair takes as long to import as all else together.
    from hpcsched.studies import whatif_report

    read = read_whatif(scenario, vary, overrides or (), check=scenario_findings)
    folder = whatif_study.WhatIfFolder(out or Path("runs") / read.name)
    failed = 0
    with folder.locked():
        with options.resumable(), CellProgress(read.name, len(read.cells)) as progress:
            for outcome in whatif_study.replay_cells(read.cells, folder, limit=jobs):
                progress.ended(outcome)
                failed += outcome.status == "failed"
        study = whatif_study.read_study(read, folder)
        tables = [whatif_report.variants_table(study), whatif_report.differences_table(study)]
        for kind in class_kinds(by or ()):
            tables.append(whatif_report.class_table(study, kind, study.variants))
        verdict = whatif_report.verdict_lines(study)
        content = {
            "name": read.name,
            "scenario": read.scenario,
            "objective": study.objective,
            "verdict": verdict,
            "tables": {table.name: table.content() for table in tables},
        }
        write_text(folder.path / "whatif.json", f"{options.json_text(content)}\n")
        write_text(folder.path / "whatif.html", whatif_report.whatif_page(study))
    typer.echo(options.tables_text(tables, format_, lambda: content))
    if format_ == "text":
        typer.echo("\n" + "\n".join(verdict))
        typer.echo(f"page and tables in {folder.path}")
    if failed:
        typer.echo(f"{failed} of {len(read.cells)} replays failed", err=True)
        raise typer.Exit(1)


def tune(
    scenario: options.ScenarioFile,
    *,
    space: Annotated[Path, typer.Option(metavar="FILE", help="The tuning file with the ranges.")],
    out: options.StudyFolder = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Number of trials; the file's by default.")
    ] = None,
    format_: options.DataFormatOption = "text",
    overrides: options.Overrides = None,
) -> None:
    """Search parameters on first jobs; judge them on later ones.

    The folder keeps the trials, so that a search that was stopped goes on; tuning.json; and
    best.yaml, the scenario with the best values.
    """
    tuned = TunedScenario(scenario, space, overrides or (), check=scenario_findings)
    folder = out or Path("runs") / tuned.name
    wanted = trials or tuned.space.trials

    def tell(trial: Trial) -> None:
        value = "failed" if trial.objective is None else f"{trial.objective:.6g}"
        kept = "" if trial.keeps_constraints else ", a constraint is exceeded"
        typer.echo(f"[{trial.number + 1}/{wanted}] {value}{kept}", err=True)

    with options.resumable(), locked_folder(folder):
        study = tune_scenario(tuned, folder, trials=trials, ended=tell)
    best = tuned.base if study.best is None else tuned.with_values(study.best.values)
    content = options.json_text(tuning_text.tuning_content(study))
    write_text(folder / "tuning.json", f"{content}\n")
    write_text(folder / "best.yaml", resolved_yaml(best))
    if format_ == "json":
        typer.echo(content)
        return
    tables = [tuning_text.trials_table(study), tuning_text.later_table(study)]
    parts = [table.as_text() for table in tables if table.rows]
    typer.echo("\n\n".join([*parts, "\n".join(tuning_text.verdict_lines(study))]))
    typer.echo(f"trials and best.yaml in {folder}")


forecast = typer.Typer(help="Forecast when jobs will start.", no_args_is_help=True)


@forecast.command()
@options.with_option_groups
def starts(
    scenario: options.ScenarioFile,
    *,
    at: Annotated[
        str | None, typer.Option(help="Seconds, 2d12h or a date; the last submission by default.")
    ] = None,
    supposed: options.Supposed = None,
    quantiles: options.Quantiles = options.QUANTILES,
    samples: options.Samples = 200,
    output: options.DataOutput,
    overrides: options.Overrides = None,
) -> None:
    """Forecast when the jobs that wait at a time will start.

    Run times and later jobs are sampled from the past, with the scenario's seed; the scenario's
    dispatcher replays each sample.
    """
    prepared = forecasting.prepare(load_scenario(scenario, overrides or ()))
    second = int(prepared.columns.submit_time[-1])
    if at is not None:
        second = simulated_second(at, prepared.calendar, prepared.first_submit_time)
    job = supposed and forecasting.supposed_job(supposed, prepared.parts.system)
    with Bar("forecast") as bar:
        found = forecasting.forecast(
            prepared,
            second,
            supposed=job,
            quantiles=quantiles,
            samples=samples,
            seed=prepared.scenario.seed,
            ended=lambda number: bar.count(number, samples, "futures"),
        )
    output.show(
        lambda: forecast_report.forecast_table(found).as_text(),
        lambda: forecast_report.forecast_content(found),
    )


@forecast.command("evaluate")
@options.with_option_groups
def evaluate_forecasts(
    scenario: options.ScenarioFile,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="The number of jobs that are forecast.")] = 400,
    samples: options.Samples = 200,
    output: options.DataOutput,
    overrides: options.Overrides = None,
) -> None:
    """Compare forecasts with real starts and with baselines.

    The jobs are drawn from those that waited, with the scenario's seed.
    """
    prepared = forecasting.prepare(load_scenario(scenario, overrides or ()))
    with Bar("forecast") as bar:
        found = forecast_evaluation.evaluate(
            prepared,
            jobs=jobs,
            samples=samples,
            seed=prepared.scenario.seed,
            ended=lambda number, of: bar.count(number, of, "futures"),
        )
    output.show(
        lambda: forecast_report.evaluation_table(found).as_text(),
        lambda: forecast_report.evaluation_content(found),
    )


predictors = typer.Typer(help="Evaluate run-time predictors.", no_args_is_help=True)


@predictors.callback()
def _predictors() -> None:
    """Evaluate run-time predictors."""


@predictors.command("evaluate")
def evaluate_predictors(
    scenario: Annotated[Path, typer.Argument(metavar="TRACE", help="A scenario, or a log.")],
    *,
    further: Annotated[
        str,
        typer.Option(
            "--predictors",
            metavar="A,B,...",
            help="Further predictors: names, or {name: NAME, KEY: VALUE}.",
        ),
    ] = "",
    format_: options.TableFormatOption = "text",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw the distributions into this folder."),
    ] = None,
    overrides: options.Overrides = None,
    force: options.Force = False,
) -> None:
    """Compare predicted with actual run times on a trace.

    Nothing is dispatched. The scenario's own predictor and requested-time are always among them.
    """
    document = first_look.document_of(scenario, partial(typer.echo, err=True))
    chosen = predictor_evaluation.choose(scenario, overrides or (), further, document)
    # Before predictors are called, which may take minutes.
    if out is not None:
        for name in predictor_evaluation.FIGURES:
            check_target(out / name, force=force)
    predictions = predictor_evaluation.predict_trace(
        chosen.source.jobs(),
        chosen.predictors,
        kill_at_requested_time=chosen.scenario.simulation.kill_at_requested_time,
    )
    figures = predictor_evaluation.predictor_figures(predictions)
    written = [] if out is None else predictor_evaluation.draw(predictions, out, force=force)
    table = predictor_evaluation.evaluation_table
    if format_ == "csv":
        table = predictor_evaluation.values_table

    def content() -> dict[str, Any]:
        name, account = chosen.scenario.name, chosen.source.account
        return predictor_evaluation.evaluation_content(name, account, figures)

    options.emit(options.tables_text([table(figures)], format_, content))
    if written and format_ == "text":
        typer.echo("\n" + "\n".join(f"wrote {path}" for path in written))
