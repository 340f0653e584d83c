"""`hpcsched instances`: dispatching problems saved, solved again, and compared."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.old_spellings import JsonFlag, table_format
from hpcsched.cli.output import TableFormat, TableFormatOption
from hpcsched.cli.override_option import Overrides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hpcsched.errors import Finding
    from hpcsched.scenario import LoadedScenario

app = typer.Typer(
    name="instances",
    help="Save the dispatching problems of a replay, and compare dispatchers on them.",
    no_args_is_help=True,
)

_Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


@app.command()
def record(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="The scenario file.", show_default=False)
    ],
    *,
    out: Annotated[
        Path, typer.Option(help="The file to write, such as x.jsonl.gz.", show_default=False)
    ],
    every: Annotated[
        int,
        typer.Option(min=1, help="Of those that match, the first and every so many after it."),
    ] = 1,
    min_queued: Annotated[
        int, typer.Option(min=0, help="Only those with at least so many queued jobs.")
    ] = 0,
    max_queued: Annotated[
        int | None,
        typer.Option(
            min=0, help="Only those with at most so many queued jobs.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many; all if not given.", show_default=False),
    ] = None,
    overrides: Overrides = None,
    force: _Force = False,
) -> None:
    """Replay a scenario under its own dispatcher and save the dispatching problems it meets."""
    from hpcsched.errors import InputError
    from hpcsched.problems.header import Selection
    from hpcsched.problems.recording import record as record_problems
    from hpcsched.scenario import read_scenario
    from hpcsched.scenario.review import missing_inputs

    if max_queued is not None and max_queued < min_queued:
        raise typer.BadParameter(f"--max-queued {max_queued} is below --min-queued {min_queued}")
    loaded = read_scenario(scenario, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    selection = Selection(every=every, min_queued=min_queued, max_queued=max_queued, limit=limit)
    done = record_problems(loaded.scenario, out, selection, force=force, progress=True)
    typer.echo(
        f"{done.path}: {done.saved} of {done.matching} matching dispatching problems saved,"
        f" {done.rounds} rounds seen, {done.size} bytes"
    )


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The saved dispatching problems.", show_default=False),
    ],
    scenarios: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO...",
            help="Scenarios whose dispatcher, objective and seed are used; no trace is needed.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The folder for a table NAME.parquet each.", show_default=False
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only the first so many; all if not given.", show_default=False),
    ] = None,
    overrides: Overrides = None,
    force: _Force = False,
) -> None:
    """Ask the dispatchers of scenarios the saved problems, and write how each was answered."""
    from hpcsched.errors import Finding, InputError
    from hpcsched.problems.files import InstancesFile
    from hpcsched.problems.progress import SolvingProgress
    from hpcsched.problems.solving import solve as solve_problems
    from hpcsched.results.solver_rounds import in_words, warning
    from hpcsched.scenario import read_scenario

    instances = InstancesFile(file)
    findings: list[Finding] = []
    loaded = []
    for path in scenarios:
        try:
            loaded.append(read_scenario(path, overrides or ()))
        except InputError as error:
            findings.extend(error.findings)
    findings.extend(finding for one in loaded for finding in _missing_for_dispatching(one))
    if findings:
        raise InputError(findings)
    for done in solve_problems(
        instances,
        [one.scenario for one in loaded],
        out,
        limit=limit,
        force=force,
        follow=SolvingProgress(instances),
    ):
        typer.echo(f"{done.path}: {done.problems} dispatching problems solved by {done.name}")
        if done.solver.asked:
            typer.echo(f"  {in_words(done.solver, 'problems')}")
        warned = warning(done.solver, "problems")
        if warned is not None:
            typer.echo(f"warning: {done.name}: {warned}", err=True)


@app.command()
def compare(
    first: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="A table, or a folder with one: the baseline.", show_default=False
        ),
    ],
    second: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="Another, of the same saved problems.", show_default=False
        ),
    ],
    *,
    same_time: Annotated[
        float,
        typer.Option(
            min=0, help="By which share the longer of two times that count as the same is longer."
        ),
    ] = 0.1,
    format_: TableFormatOption = TableFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Draw figures into this folder, as PDF and SVG.",
            show_default=False,
        ),
    ] = None,
    force: _Force = False,
    json: JsonFlag = False,
) -> None:
    """Compare two dispatchers problem by problem: model size, decision time and objective."""
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.problems import rendering
    from hpcsched.problems.comparison import compare as compare_tables
    from hpcsched.problems.pairing import Pairing
    from hpcsched.problems.plots import draw
    from hpcsched.problems.table import SolvedTable

    format_ = table_format(format_, json=json)
    pairing = Pairing(SolvedTable.open(first), SolvedTable.open(second))
    comparison = compare_tables(pairing, same_time)
    drawn, missing = ([], []) if out is None else draw(pairing, out, force=force)
    if format_ is TableFormat.CSV:
        tables = [rendering.ratios_table(comparison)]
    else:
        tables = rendering.comparison_tables(comparison)
    if format_ in (TableFormat.TEXT, TableFormat.MARKDOWN):
        emit(rendering.head(comparison) + "\n")
    emit(tables_text(tables, format_, lambda: rendering.comparison_content(comparison)))
    if drawn and format_ is TableFormat.TEXT:
        typer.echo("\n" + "\n".join(f"drawn: {path}" for path in drawn))
    for warning in (*comparison.warnings, *(f"not drawn: {what}" for what in missing)):
        typer.echo(f"warning: {warning}", err=True)


def _missing_for_dispatching(loaded: "LoadedScenario") -> "Iterator[Finding]":
    """Yield what the dispatcher or the objective of a scenario should read and is not there."""
    from hpcsched.scenario.review import missing_inputs

    for finding in missing_inputs(loaded, "error"):
        if finding.key.startswith(("dispatcher", "objective")):
            yield finding
