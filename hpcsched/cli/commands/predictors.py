"""`hpcsched predictors`: the accuracy of run-time predictors on a trace."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli.options import Force, Overrides
from hpcsched.cli.output import TableFormat, TableFormatOption

PANEL = "Study"

app = typer.Typer(name="predictors", help="Evaluate run-time predictors.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Evaluate run-time predictors."""


@app.command()
def evaluate(
    scenario: Annotated[Path, typer.Argument(metavar="TRACE", help="A scenario, or a log.")],
    *,
    predictors: Annotated[
        str,
        typer.Option(
            metavar="A,B,...", help="Further predictors: names, or {name: NAME, KEY: VALUE}."
        ),
    ] = "",
    format_: TableFormatOption = TableFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw the distributions into this folder."),
    ] = None,
    overrides: Overrides = None,
    force: Force = False,
) -> None:
    """Compare predicted with actual run times on a trace.

    Nothing is dispatched. The scenario's own predictor and requested-time are always among them.
    """
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.studies import predictor_evaluation as rendering
    from hpcsched.studies.first_look import document_of
    from hpcsched.studies.predictor_evaluation import choose, predict_trace, predictor_figures
    from hpcsched.whole_files import check_target

    document = document_of(scenario, lambda line: typer.echo(line, err=True))
    chosen = choose(scenario, overrides or (), predictors, document)
    # Before predictors are called, which may take minutes.
    if out is not None:
        for name in rendering.FIGURES:
            check_target(out / name, force=force)
    predictions = predict_trace(
        chosen.source.jobs(),
        chosen.predictors,
        kill_at_requested_time=chosen.scenario.simulation.kill_at_requested_time,
    )
    figures = predictor_figures(predictions)
    written = [] if out is None else rendering.draw(predictions, out, force=force)
    table = rendering.values_table if format_ is TableFormat.CSV else rendering.evaluation_table

    def content() -> dict[str, Any]:
        name, account = chosen.scenario.name, chosen.source.account
        return rendering.evaluation_content(name, account, figures)

    emit(tables_text([table(figures)], format_, content))
    if written and format_ is TableFormat.TEXT:
        typer.echo("\n" + "\n".join(f"wrote {path}" for path in written))
