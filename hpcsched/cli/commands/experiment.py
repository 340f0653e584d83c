"""`hpcsched experiment`: a matrix of scenarios; complete runs are kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.options import Overrides, Quiet

if TYPE_CHECKING:
    from hpcsched.studies.cell import Cell
    from hpcsched.studies.experiment import Experiment
    from hpcsched.studies.experiment_folder import ExperimentFolder

PANEL = "Run"

_MOST_NAMED = 10
"""Number of cells that warnings name; further ones are counted."""


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The experiment file.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the runs; runs/NAME by default.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of cells at a time, for any executor.")
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="YAML", help="Replace the executor: a name, or {name: dask, workers: 4}."
        ),
    ] = None,
    overrides: Overrides = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Run only the cells with this label; can be repeated."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run complete cells too, as after a change of code.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the cells and their states; run nothing.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run a matrix of scenarios; complete runs are kept.

    Labels of the same axis in --only are OR-ed, labels of different axes AND-ed. Exits with 1 if a
    cell fails; the others are run all the same.
    """
    from hpcsched.studies.experiment import choose_cells, read_experiment
    from hpcsched.studies.experiment_folder import ExperimentFolder

    read = read_experiment(file, overrides or (), executor)
    chosen = choose_cells(read, only or ())
    folder = ExperimentFolder(out or Path("runs") / read.declaration.name)
    if list_:
        _show(chosen, folder)
        return
    for warning in read.warnings:
        typer.echo(warning, err=True)
    failed = _run(read, chosen, folder, jobs, quiet=quiet, again=again)
    if not quiet:
        typer.echo(f"results in {folder.path}; compare them: hpcsched compare {folder.path}")
    for line in _solver_warnings(chosen, folder):
        typer.echo(f"warning: {line}", err=True)
    if failed:
        typer.echo(f"{failed} of {len(chosen)} cells failed", err=True)
        raise typer.Exit(1)


def _run(
    read: "Experiment",
    chosen: "Sequence[Cell]",
    folder: "ExperimentFolder",
    jobs: int | None,
    *,
    quiet: bool,
    again: bool,
) -> int:
    """Run the chosen cells; return the number of failures."""
    from hpcsched.studies.execution import run_in_folder
    from hpcsched.studies.progress import CellProgress

    try:
        with CellProgress(read.declaration.name, len(chosen), quiet=quiet) as progress:
            return run_in_folder(read, chosen, folder, jobs, again=again, ended=progress.ended)
    except KeyboardInterrupt:
        typer.echo("interrupted; started again, it goes on from here", err=True)
        raise typer.Exit(130) from None


def _solver_warnings(cells: "Sequence[Cell]", folder: "ExperimentFolder") -> "Iterator[str]":
    """Yield a line for each cell with too many rounds without a plan, then the advice."""
    from hpcsched.runs.solver_rounds import in_words, what_to_do

    runs = {cell.name: folder.run_of(cell) for cell in cells}
    counts = {name: run.solver_rounds for name, run in runs.items() if run is not None}
    bad = {name: rounds for name, rounds in counts.items() if rounds.too_many}
    for name, rounds in list(bad.items())[:_MOST_NAMED]:
        yield f"{name}: {in_words(rounds)}"
    if len(bad) > _MOST_NAMED:
        yield f"likewise {len(bad) - _MOST_NAMED} others"
    if bad:
        yield f"{len(bad)} of {len(cells)} cells: {what_to_do(bad.values())}"


def _show(cells: "Sequence[Cell]", folder: "ExperimentFolder") -> None:
    """Print a line for each cell: state, address, name and seed."""
    from hpcsched.runs.solver_rounds import in_words
    from hpcsched.studies.experiment_folder import read_index

    failed = {}
    if folder.index.is_file():
        indexed = read_index(folder.path).cells
        failed = {cell.address: cell.message for cell in indexed if cell.status == "failed"}
    complete = 0
    for cell in cells:
        run = folder.run_of(cell)
        there = run is not None
        complete += there
        status = "complete" if there else "failed" if cell.address in failed else "waiting"
        why = f": {failed[cell.address]}" if status == "failed" else ""
        if run is not None and run.solver_rounds.unsolved:
            why = f": {in_words(run.solver_rounds)}"
        seed = cell.scenario.seed
        typer.echo(f"{status:8}  {cell.address[:12]}  {cell.name} (seed {seed}){why}")
    typer.echo(f"{len(cells)} cells, {complete} complete")
