"""`hpcsched run`: replays of scenarios into run directories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.options import (
    Force,
    Overrides,
    Quiet,
    ScenarioFiles,
    Verbose,
    scenario_files,
)
from hpcsched.cli.output import solver_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hpcsched.errors import Finding
    from hpcsched.runs.directory import RunDirectory
    from hpcsched.scenario.loading import LoadedScenario
    from hpcsched.scenario.positions import Override

PANEL = "Run"
REASONS = "reasons"
"""Observer that `--explain` adds."""

_LARGER = "larger_than_system"
_MANY_LARGER = 0.01
"""Share of the records above which those that fit on no node are warned of."""


def run(
    scenarios: ScenarioFiles,
    out: Annotated[
        Path | None,
        typer.Option(help="The run directory, or the folder of several; runs/NAME by default."),
    ] = None,
    overrides: Overrides = None,
    *,
    force: Force = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Record reasons for `hpcsched explain`.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Replay scenarios and report the outcome.

    Writes the run directories, and prints the metrics. Of several scenarios, the runs are compared
    at the end; --out is then the folder that gets a run directory for each.
    """
    from hpcsched.cli import show_logs
    from hpcsched.errors import Place
    from hpcsched.scenario.positions import Addition
    from hpcsched.scenario.review import trace_cautions
    from hpcsched.workload.readers.swf import OTHER_MACHINE

    if verbose:
        show_logs(verbose=True)
    # Last, so that it adds to the list of observers that an override may give.
    added = [Addition(("observers",), REASONS, Place("--explain"))] if explain else []
    all_loaded = _read_all(scenario_files(scenarios), [*(overrides or ()), *added])
    folders = _folders(all_loaded, out)
    for loaded, folder in zip(all_loaded, folders, strict=True):
        for finding in trace_cautions(loaded, OTHER_MACHINE):
            typer.echo(finding, err=True)
        if len(folders) > 1 and not quiet:
            typer.echo(f"{loaded.scenario.name}:")
        _replay(loaded, folder, force=force, quiet=quiet)
    if len(folders) > 1 and not quiet:
        from hpcsched.cli.commands.compare import compare

        compare(folders)


def _read_all(files: "Sequence[Path]", overrides: "Sequence[Override]") -> "list[LoadedScenario]":
    """Return the scenarios of all files; raises InputError with the findings of all of them."""
    from hpcsched.errors import Finding, InputError
    from hpcsched.scenario.loading import read_repaired
    from hpcsched.scenario.review import missing_inputs, other_format

    found: list[Finding] = []
    all_loaded = []
    for file in files:
        try:
            read = read_repaired(file, overrides)
            further: list[Finding] = []
            if read.loaded is not None:
                further = [*missing_inputs(read.loaded, "error"), *other_format(read.loaded)]
                all_loaded.append(read.loaded)
            found.extend(read.with_those_of(further))
        except InputError as error:
            found.extend(error.findings)
    if found:
        raise InputError(found)
    return all_loaded


def _folders(all_loaded: "Sequence[LoadedScenario]", out: Path | None) -> list[Path]:
    """Return the run directory of each scenario; raises InputError where two would be one."""
    from hpcsched.errors import Finding, InputError

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


def _replay(loaded: "LoadedScenario", folder: Path, *, force: bool, quiet: bool) -> None:
    """Replay a scenario, and print the account of its run and the warnings about it."""
    from hpcsched.report.tables.run_account import account_lines
    from hpcsched.runs.runner import run as run_scenario
    from hpcsched.runs.solver_rounds import LOST

    try:
        with loaded.locating():
            result = run_scenario(
                loaded.scenario,
                folder,
                force=force,
                progress=not quiet,
            )
    # The run directory is complete up to the interrupt, and says so.
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what was done until then is in {folder}", err=True)
        raise typer.Exit(130) from None
    if not quiet:
        for why in result.directory.manifest.not_reproducible_because:
            if why.endswith(LOST):
                typer.echo(f"not reproducible: {why}")
        for line in account_lines(result.summary):
            typer.echo(line)
        typer.echo(f"results in {result.directory.path}")
    # After the results, where they are seen, not above a screen of metrics.
    for warn in (_other_machine, _outages_beside_jobs, solver_warning):
        warning = warn(loaded, result.directory)
        if warning is not None:
            typer.echo(warning, err=True)


def _other_machine(loaded: "LoadedScenario", directory: "RunDirectory") -> "Finding | None":
    """Return a warning if the system seems not to be the trace's: many jobs do not fit on it."""
    from hpcsched.errors import Finding

    jobs = directory.summary["jobs"]
    larger = jobs["skipped"].get(_LARGER, 0)
    if larger <= _MANY_LARGER * jobs["read"]:
        return None
    message = (
        f"{larger:,} of {jobs['read']:,} records ask for more than the whole system and were left"
        " out; is it the system of this trace?"
    )
    return Finding("larger-than-system", message, loaded.place("system"), "system", "warning")


def _outages_beside_jobs(loaded: "LoadedScenario", directory: "RunDirectory") -> "Finding | None":
    """Return a warning if all outages are before or after the jobs of the run, else None.

    A typical cause is that one of them is in Unix times, the other in seconds from 0.
    """
    from hpcsched.errors import Finding
    from hpcsched.runs.outage_records import recorded_outages

    outages = recorded_outages(directory)
    first, last = directory.first_submit_time, directory.last_end_time
    if not outages or any(one.start <= last and one.end > first for one in outages):
        return None
    start, end = min(one.start for one in outages), max(one.end for one in outages)
    message = (
        f"no outage touches the trace: there are {len(outages)}, between seconds {start} and"
        f" {end}, and jobs between seconds {first} and {last}; all count from the trace's origin"
    )
    return Finding("outages-beside-jobs", message, loaded.place("outages"), "outages", "warning")
