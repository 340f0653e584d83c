"""`hpcsched trace instances`: saved dispatching problems, their solutions and comparisons."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.options import Force, Overrides, ScenarioFile
from hpcsched.cli.output import TableFormat, TableFormatOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hpcsched.errors import Finding
    from hpcsched.scenario import LoadedScenario

app = typer.Typer(
    name="instances",
    help="Record dispatching problems; compare dispatchers on them.",
    no_args_is_help=True,
)


@app.command()
def record(
    scenario: ScenarioFile,
    *,
    out: Annotated[Path, typer.Option(help="The file to write, as x.jsonl.gz.")],
    every: Annotated[int, typer.Option(min=1, help="Save one of this many matching problems.")] = 1,
    min_queued: Annotated[int, typer.Option(min=0, help="Least number of queued jobs.")] = 0,
    max_queued: Annotated[
        int | None, typer.Option(min=0, help="Largest number of queued jobs.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Save at most this many problems.")
    ] = None,
    overrides: Overrides = None,
    force: Force = False,
) -> None:
    """Replay a scenario and save its dispatching problems."""
    from hpcsched.errors import InputError
    from hpcsched.scenario import read_scenario
    from hpcsched.scenario.review import missing_inputs
    from hpcsched.studies.problems.problem_files import Selection
    from hpcsched.studies.problems.recording import record as record_problems

    if max_queued is not None and max_queued < min_queued:
        raise typer.BadParameter(f"--max-queued {max_queued} is below --min-queued {min_queued}")
    loaded = read_scenario(scenario, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    selection = Selection(every=every, min_queued=min_queued, max_queued=max_queued, limit=limit)
    done = record_problems(loaded.scenario, out, selection, force=force)
    typer.echo(
        f"wrote {done.path}: {done.saved} of {done.matching} matching dispatching problems saved,"
        f" {done.rounds} rounds seen, {done.size} bytes"
    )


@app.command()
def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The saved dispatching problems.")],
    scenarios: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO", help="Scenarios with the dispatchers; their traces are not read."
        ),
    ],
    *,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for the tables NAME.parquet.")
    ],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Solve at most this many problems.")
    ] = None,
    overrides: Overrides = None,
    force: Force = False,
) -> None:
    """Solve saved problems with the dispatchers of scenarios.

    Of a scenario the dispatcher, the objective and the seed are used.
    """
    from hpcsched.errors import Finding, InputError
    from hpcsched.runs.solver_rounds import in_words, warning
    from hpcsched.scenario import read_scenario
    from hpcsched.studies.problems.problem_files import InstancesFile
    from hpcsched.studies.problems.solving import solve as solve_problems

    instances = InstancesFile(file)
    findings: list[Finding] = []
    # All scenarios are read first: one with a mistake must not cost the solving of others.
    loaded = []
    for path in scenarios:
        try:
            loaded.append(read_scenario(path, overrides or ()))
        except InputError as error:
            findings.extend(error.findings)
    findings.extend(finding for one in loaded for finding in _missing_for_dispatching(one))
    if findings:
        raise InputError(findings)
    chosen = [one.scenario for one in loaded]
    for done in solve_problems(instances, chosen, out, limit=limit, force=force):
        typer.echo(f"wrote {done.path}: {done.problems} dispatching problems solved by {done.name}")
        if done.solver.asked:
            typer.echo(f"  {in_words(done.solver, 'problems')}")
        warned = warning(done.solver, "problems")
        if warned is not None:
            typer.echo(f"warning: {done.name}: {warned}", err=True)


@app.command()
def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="The baseline: a table of solved problems.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="B", help="Another table of the same problems.")
    ],
    *,
    same_time: Annotated[
        float, typer.Option(min=0, help="Relative tolerance below which two times count as equal.")
    ] = 0.1,
    format_: TableFormatOption = TableFormat.TEXT,
) -> None:
    """Compare two dispatchers problem by problem.

    Shows ratios of model sizes, decision times and objectives.
    """
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.studies.problems import comparison as rendering
    from hpcsched.studies.problems.comparison import Pairing
    from hpcsched.studies.problems.comparison import compare as compare_tables
    from hpcsched.studies.problems.solving import SolvedTable

    pairing = Pairing(SolvedTable.open(first), SolvedTable.open(second))
    comparison = compare_tables(pairing, same_time)
    if format_ is TableFormat.CSV:
        tables = [rendering.ratios_table(comparison)]
    else:
        tables = rendering.comparison_tables(comparison)
    # LaTeX, CSV and JSON are read by programs: no line beside the tables.
    if format_ in (TableFormat.TEXT, TableFormat.MARKDOWN):
        emit(rendering.head(comparison) + "\n")
    emit(tables_text(tables, format_, lambda: asdict(comparison)))
    for warning in comparison.warnings:
        typer.echo(f"warning: {warning}", err=True)


def _missing_for_dispatching(loaded: "LoadedScenario") -> "Iterator[Finding]":
    """Yield an error for each missing input file of the dispatcher or the objective."""
    from hpcsched.scenario.review import missing_inputs

    for finding in missing_inputs(loaded, "error"):
        if finding.key.startswith(("dispatcher", "objective")):
            yield finding
