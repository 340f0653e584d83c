"""`hpcsched predictors`: how good run-time predictors are."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.override_option import Overrides

app = typer.Typer(
    name="predictors", help="Find out how good run-time predictors are.", no_args_is_help=True
)


class Format(StrEnum):
    """How the figures are written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


@app.callback()
def _group() -> None:
    """Find out how good run-time predictors are."""


@app.command()
def evaluate(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="The scenario with the trace.", show_default=False),
    ],
    *,
    predictors: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="More predictors than the scenario's: names, or {name: NAME, KEY: VALUE}.",
            show_default=False,
        ),
    ] = "",
    format_: Annotated[
        Format,
        typer.Option(
            "--format", help="text for people, json and csv for programs, with exact values."
        ),
    ] = Format.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write plots and the numbers behind them into this folder.",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Ask predictors about the jobs of a scenario's trace, and compare with how long they ran.

    Nothing is dispatched. The scenario's own predictor and requested-time are always among them.
    """
    import shutil
    import sys

    from hpcsched.predictor_evaluation import rendering
    from hpcsched.predictor_evaluation.choosing import choose
    from hpcsched.predictor_evaluation.figures import predictor_figures, shares
    from hpcsched.predictor_evaluation.predicting import predict_trace
    from hpcsched.predictor_evaluation.writing import check_folder, write_evaluation

    chosen = choose(scenario, overrides or (), predictors)
    if out is not None:
        check_folder(out, force=force)
    predictions = predict_trace(
        chosen.source.jobs(),
        chosen.predictors,
        kill_at_requested_time=chosen.scenario.simulation.kill_at_requested_time,
    )
    figures = predictor_figures(predictions)
    written = []
    if out is not None:
        written = write_evaluation(figures, shares(predictions), out, force=force)
    match format_:
        case Format.TEXT:
            terminal = sys.stdout.isatty()
            width = shutil.get_terminal_size().columns
            typer.echo(rendering.as_text(figures, terminal=terminal, width=width))
            if written:
                typer.echo("\n" + "\n".join(f"written: {path}" for path in written))
        case Format.JSON:
            typer.echo(rendering.as_json(chosen.scenario.name, chosen.source.account, figures))
        case Format.CSV:
            typer.echo(rendering.as_csv(figures))
