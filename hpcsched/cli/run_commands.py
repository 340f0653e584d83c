"""`hpcsched run` and `hpcsched experiment`: replays into run directories."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli import options, show_logs
from hpcsched.cli.result_commands import compare
from hpcsched.errors import Finding, InputError, Place
from hpcsched.report.tables.run_account import account_lines
from hpcsched.runs import runner, solver_rounds
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.resource_records import recorded_outages
from hpcsched.runs.tables import first_unsolved
from hpcsched.scenario import review
from hpcsched.scenario.document import Override, Setting
from hpcsched.scenario.loading import LoadedScenario, read_and_check
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.resolved import resolved_values
from hpcsched.studies.cell import Cell
from hpcsched.studies.execution import choose_shard, run_in_folder
from hpcsched.studies.experiment_folder import ExperimentFolder, read_index
from hpcsched.studies.progress import CellProgress
from hpcsched.studies.study_files import choose_cells, read_experiment
from hpcsched.workload.readers.swf import OTHER_MACHINE

COMMANDS = {
    "experiment": ("Run", "Run a matrix of scenarios; complete runs are kept."),
    "run": ("Run", "Replay scenarios and report the outcome."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""

REASONS = "reasons"
"""Observer that `--explain` adds."""

_LARGER = "larger_than_system"
_MANY_LARGER = 0.01
"""Share of the records above which those that fit on no node are warned of."""
MOST_NAMED = 10
"""Number of cells that warnings name; all are counted."""


def run(
    scenarios: options.ScenarioFiles,
    out: Annotated[
        Path | None,
        typer.Option(help="The run directory, or the folder of several; runs/NAME by default."),
    ] = None,
    overrides: options.Overrides = None,
    *,
    force: options.Force = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Record reasons for `hpcsched explain`.")
    ] = False,
    quiet: options.Quiet = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log.")] = False,
) -> None:
    """Replay scenarios and report the outcome.

    Writes the run directories, and prints the metrics. Of several scenarios, the runs are compared
    at the end; --out is then the folder that gets a run directory for each.
    """
    if verbose:
        show_logs(verbose=True)
    all_loaded = _read_all(options.scenario_files(scenarios), overrides or (), explain=explain)
    folders = _folders(all_loaded, out)
    for loaded, folder in zip(all_loaded, folders, strict=True):
        for finding in review.trace_cautions(loaded, OTHER_MACHINE):
            typer.echo(finding, err=True)
        if len(folders) > 1 and not quiet:
            typer.echo(f"{loaded.scenario.name}:")
        _replay(loaded, folder, force=force, quiet=quiet)
    if len(folders) > 1 and not quiet:
        compare(folders)


def _read_all(
    files: Sequence[Path], overrides: Sequence[Override], *, explain: bool
) -> list[LoadedScenario]:
    """Return the scenarios of all files; raises InputError with the findings of all of them."""
    found: list[Finding] = []
    all_loaded = []
    for file in files:
        try:
            loaded, wrong = read_and_check(file, overrides, _faults_of_inputs)
            if explain and loaded is not None and not wrong:
                with_reasons = [*overrides, _with_reasons(loaded.scenario)]
                loaded, wrong = read_and_check(file, with_reasons, _faults_of_inputs)
            found.extend(wrong)
            if loaded is not None:
                all_loaded.append(loaded)
        except InputError as error:
            found.extend(error.findings)
    if found:
        raise InputError(found)
    return all_loaded


def _faults_of_inputs(loaded: LoadedScenario) -> list[Finding]:
    return [*review.missing_inputs(loaded, "error"), *review.other_format(loaded)]


def _with_reasons(scenario: Scenario) -> Setting:
    """Return the setting of a scenario's observers with the one that records reasons."""
    observers = resolved_values(scenario)["observers"]
    if all(one["name"] != REASONS for one in observers):
        observers.append(REASONS)
    return Setting(("observers",), observers, Place("--explain"))


def _folders(all_loaded: Sequence[LoadedScenario], out: Path | None) -> list[Path]:
    """Return the run directory of each scenario; raises InputError where two would be one."""
    if len(all_loaded) == 1:
        return [out or Path("runs") / all_loaded[0].scenario.name]
    first: dict[str, LoadedScenario] = {}
    twice = []
    for loaded in all_loaded:
        name = loaded.scenario.name
        if name in first:
            message = f"{first[name].path} has the name {name!r} too: their runs need two folders"
            twice.append(Finding("duplicate-name", message, loaded.place("name"), "name"))
        first.setdefault(name, loaded)
    if twice:
        raise InputError(twice)
    return [(out or Path("runs")) / name for name in first]


def _replay(loaded: LoadedScenario, folder: Path, *, force: bool, quiet: bool) -> None:
    """Replay a scenario, and print the account of its run and the warnings about it."""
    try:
        with loaded.locating():
            result = runner.run(loaded.scenario, folder, force=force, progress=not quiet)
    # The run directory is complete up to the interrupt, and says so.
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what was done until then is in {folder}", err=True)
        raise typer.Exit(130) from None
    if not quiet:
        for why in result.directory.manifest.not_reproducible_because:
            if why.endswith(solver_rounds.LOST):
                typer.echo(f"not reproducible: {why}")
        for line in account_lines(result.summary):
            typer.echo(line)
        typer.echo(f"results in {result.directory.path}")
    # After the results, where they are seen, not above a screen of metrics.
    for finding in run_warnings(loaded, result.directory):
        typer.echo(finding, err=True)


def run_warnings(loaded: LoadedScenario, run: RunDirectory) -> Iterator[Finding]:
    """Yield warnings about the outcome of a run, at the keys of its scenario."""

    def warning(rule: str, key: str, message: str) -> Finding:
        return Finding(rule, message, loaded.place(key), key, "warning")

    jobs = run.summary["jobs"]
    larger = jobs["skipped"].get(_LARGER, 0)
    if larger > _MANY_LARGER * jobs["read"]:
        yield warning(
            "larger-than-system",
            "system",
            f"{larger:,} of {jobs['read']:,} records ask for more than the whole system and were"
            " left out; is it the system of this trace?",
        )
    outages = recorded_outages(run)
    first, last = (run.first_submit_time, run.last_end_time) if outages else (0, 0)
    # Typically one of them is in Unix times, the other in seconds from 0.
    if outages and not any(one.start <= last and one.end > first for one in outages):
        start, end = min(one.start for one in outages), max(one.end for one in outages)
        yield warning(
            "outages-beside-jobs",
            "outages",
            f"no outage touches the trace: there are {len(outages)}, between seconds {start} and"
            f" {end}, and jobs between seconds {first} and {last}; all count from the trace's"
            " origin",
        )
    message = solver_rounds.warning(run.solver_rounds)
    if message is not None:
        unsolved = first_unsolved(run.path)
        if unsolved is not None:
            number, why = unsolved
            message += f"; it said first, in round {number:,}: {' '.join(why.split())}"
        yield warning("solver-without-plan", "dispatcher", message)


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The experiment file.")],
    *,
    out: options.StudyFolder = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of cells at a time, for any executor.")
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="YAML", help="Replace the executor: a name, or {name: dask, workers: 4}."
        ),
    ] = None,
    overrides: options.Overrides = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Run only the cells with this label; can be repeated."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N", help="Run the K-th of N parts, beside others; see the documentation."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run complete cells too, as after a change of code.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the cells and their states; run nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a matrix of scenarios; complete runs are kept.

    Labels of the same axis in --only are OR-ed, labels of different axes AND-ed. Exits with 1 if a
    cell fails; the others are run all the same.
    """
    read = read_experiment(file, overrides or (), executor)
    chosen = choose_cells(read, only or ())
    folder = ExperimentFolder(out or Path("runs") / read.name)
    if shard is not None:
        chosen, folder = choose_shard(chosen, folder, shard)
    if list_:
        _list(chosen, folder)
        return
    for warning in read.warnings:
        typer.echo(warning, err=True)
    with options.resumable(), CellProgress(read.name, len(chosen), quiet=quiet) as progress:
        failed = run_in_folder(read, chosen, folder, jobs, again=again, ended=progress.ended)
    if not quiet:
        typer.echo(f"results in {folder.path}; compare them: hpcsched compare {folder.path}")
    # One by one: the summaries of 100,000 cells take 2 GB.
    runs = ((cell.name, folder.run_of(cell)) for cell in chosen)
    counts = ((name, run.solver_rounds) for name, run in runs if run is not None)
    bad = {name: rounds for name, rounds in counts if rounds.too_many}
    for name, rounds in list(bad.items())[:MOST_NAMED]:
        options.warn(f"{name}: {solver_rounds.in_words(rounds)}")
    if bad:
        options.warn(f"{len(bad)} of {len(chosen)} cells: {solver_rounds.what_to_do(bad.values())}")
    if failed:
        typer.echo(f"{failed} of {len(chosen)} cells failed", err=True)
        raise typer.Exit(1)


def _list(cells: Sequence[Cell], folder: ExperimentFolder) -> None:
    """Print a line for each cell: state, address, name and seed."""
    indexed = read_index(folder.path).cells if folder.index.is_file() else []
    states = {cell.address: "failed" for cell in indexed if cell.status == "failed"}
    states |= {cell.address: "complete" for cell in cells if folder.run_of(cell) is not None}
    for cell in cells:
        state = states.get(cell.address, "waiting")
        typer.echo(f"{state:8}  {cell.address[:12]}  {cell.name} (seed {cell.seed})")
    complete = sum(states.get(cell.address) == "complete" for cell in cells)
    typer.echo(f"{len(cells)} cells, {complete} complete")
