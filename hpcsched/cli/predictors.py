"""`hpcsched predictors`: how good run-time predictors are."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli.output import TableFormat, TableFormatOption
from hpcsched.cli.override_option import Overrides

app = typer.Typer(
    name="predictors", help="Find out how good run-time predictors are.", no_args_is_help=True
)


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
    format_: TableFormatOption = TableFormat.TEXT,
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
    from hpcsched.cli.output import emit, tables_text
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
    table = rendering.values_table if format_ is TableFormat.CSV else rendering.evaluation_table

    def content() -> dict[str, Any]:
        name, account = chosen.scenario.name, chosen.source.account
        return rendering.evaluation_content(name, account, figures)

    emit(tables_text([table(figures)], format_, content))
    if written and format_ is TableFormat.TEXT:
        typer.echo("\n" + "\n".join(f"written: {path}" for path in written))
