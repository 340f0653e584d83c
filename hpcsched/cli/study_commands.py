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
from hpcsched.studies import first_look, predictor_evaluation, tuning_study, whatif_study
from hpcsched.studies.execution import run_in_folder
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.forecast import forecast_evaluation, forecasting
from hpcsched.studies.progress import Bar, CellProgress
from hpcsched.studies.study_files import TunedScenario, read_whatif
from hpcsched.whole_files import write_text
from hpcsched.workload.trace_calendar import simulated_second

COMMANDS = {
    "forecast": ("Study", "Forecast when jobs will start."),
    "predictors": ("Study", "Evaluate run-time predictors."),
    "tune": ("Study", "Search parameters on first jobs; judge them on later ones."),
    "whatif": ("Study", "Compare variants of a scenario on the same log, job by job."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""


def whatif(
    scenario: options.ScenarioFile,
    *,
    vary: Annotated[Path, typer.Option(metavar="FILE", help="The file with the variants.")],
    out: options.StudyFolder = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of runs at a time.")] = None,
    by: options.ByClass = None,
    format_: options.TableFormatOption = "text",
    overrides: options.Overrides = None,
) -> None:
    """Compare variants of a scenario on the same log, job by job.

    The folder is that of an experiment: complete runs are kept. It also gets the tables as
    whatif.json. Exits with 1 if a variant fails.
    """
    kinds = class_kinds(by or ())
    read = read_whatif(scenario, vary, overrides or (), check=scenario_findings)
    folder = ExperimentFolder(out or Path("runs") / read.name)
    with options.resumable(), CellProgress(read.name, len(read.cells)) as progress:
        failed = run_in_folder(read, read.cells, folder, jobs, ended=progress.ended)
    study = whatif_study.read_study(read, folder)
    tables = [whatif_study.variants_table(study), whatif_study.overall_table(study)]
    tables += [whatif_study.class_table(study, kind) for kind in kinds]
    tables += [whatif_study.gains_table(study, one) for one in study.variants[:1]]
    verdict = list(whatif_study.verdict_lines(study))
    content = {
        "name": read.name,
        "scenario": read.scenario,
        "objective": study.objective,
        "verdict": verdict,
        "tables": {table.name: table.content() for table in tables},
    }
    write_text(folder.path / "whatif.json", f"{options.json_text(content)}\n")
    typer.echo(options.tables_text(tables, format_, lambda: content))
    if format_ == "text":
        typer.echo("\n" + "\n".join(verdict))
        typer.echo(f"runs and tables in {folder.path}; a page: hpcsched report {folder.path}")
    if failed:
        typer.echo(f"{failed} of {len(read.cells)} runs failed", err=True)
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

    def tell(trial: tuning_study.Trial) -> None:
        value = "failed" if trial.objective is None else f"{trial.objective:.6g}"
        kept = "" if trial.keeps_constraints else ", a constraint is exceeded"
        typer.echo(f"[{trial.number + 1}/{wanted}] {value}{kept}", err=True)

    with options.resumable(), locked_folder(folder):
        study = tuning_study.tune(tuned, folder, trials=trials, ended=tell)
    best = tuned.base if study.best is None else tuned.with_values(study.best.values)
    content = options.json_text(tuning_study.tuning_content(study))
    write_text(folder / "tuning.json", f"{content}\n")
    write_text(folder / "best.yaml", resolved_yaml(best))
    if format_ == "json":
        typer.echo(content)
        return
    tables = [tuning_study.trials_table(study), tuning_study.later_table(study)]
    parts = [table.as_text() for table in tables if table.rows]
    typer.echo("\n\n".join([*parts, "\n".join(tuning_study.verdict_lines(study))]))
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
    samples: options.Samples = 100,
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
        lambda: forecasting.forecast_table(found).as_text(),
        lambda: forecasting.forecast_content(found),
    )


@forecast.command("evaluate")
@options.with_option_groups
def evaluate_forecasts(
    scenario: options.ScenarioFile,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="The number of jobs that are forecast.")] = 100,
    samples: options.Samples = 50,
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
        lambda: forecast_evaluation.evaluation_table(found).as_text(),
        lambda: forecast_evaluation.evaluation_content(found),
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
    overrides: options.Overrides = None,
) -> None:
    """Compare predicted with actual run times on a trace.

    Nothing is dispatched. The scenario's own predictor and requested-time are always among them.
    """
    document = first_look.document_of(scenario, partial(typer.echo, err=True))
    chosen = predictor_evaluation.choose(scenario, overrides or (), further, document)
    predictions = predictor_evaluation.predict_trace(
        chosen.source.jobs(),
        chosen.predictors,
        kill_at_requested_time=chosen.scenario.simulation.kill_at_requested_time,
    )
    figures = predictor_evaluation.predictor_figures(predictions)

    def content() -> dict[str, Any]:
        name, account = chosen.scenario.name, chosen.source.account
        return predictor_evaluation.evaluation_content(name, account, figures)

    options.emit(
        options.tables_text([predictor_evaluation.evaluation_table(figures)], format_, content)
    )
