"""`hpcsched trace`: what is in a trace, and traces as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hpcsched.cli.override_option import Overrides

if TYPE_CHECKING:
    from hpcsched.assembly import Assembly

app = typer.Typer(
    name="trace", help="Look into traces, and write them to files.", no_args_is_help=True
)


@app.command()
def info(
    scenarios: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO...", help="Scenarios with the traces.", show_default=False
        ),
    ],
    json: Annotated[bool, typer.Option("--json", help="Write JSON, with exact values.")] = False,
    overrides: Overrides = None,
) -> None:
    """Show what the jobs of a trace are like, and how far others are from the first.

    Nothing is simulated.
    """
    import shutil
    import sys
    from collections import Counter

    from hpcsched.report.trace_info import as_json, as_text, trace_infos
    from hpcsched.workload.census import take_census

    traces = []
    parts = [_assembled(path, overrides) for path in scenarios]
    counts = Counter(part.scenario.name for part in parts)
    for path, part in zip(scenarios, parts, strict=True):
        name = part.scenario.name
        bounds = part.scenario.metrics.class_bounds
        census = take_census(part.source, part.system, bounds)
        title = name if counts[name] == 1 else f"{name} ({path})"
        traces.append((title, part.source.account, census))
    infos = trace_infos(traces)
    if json:
        typer.echo(as_json(infos))
    else:
        width = shutil.get_terminal_size().columns
        typer.echo(as_text(infos, terminal=sys.stdout.isatty(), width=width))


@app.command()
def generate(
    scenario: Annotated[
        Path,
        typer.Argument(metavar="SCENARIO", help="The scenario with the trace.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(help="The file to write; packed if it ends in .gz.", show_default=False),
    ],
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many jobs; all if not given.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    overrides: Overrides = None,
) -> None:
    """Write a scenario's trace, such as a synthetic one, in the Standard Workload Format."""
    import hpcsched
    from hpcsched.workload.swf_writing import write_swf

    parts = _assembled(scenario, overrides)
    note = (
        f"written by hpcsched {hpcsched.__version__} from the scenario {parts.scenario.name},"
        f" seed {parts.scenario.seed}"
    )
    written = write_swf(out, parts.source, parts.system, note=note, limit=jobs, force=force)
    typer.echo(f"{written.path}: {written.jobs} jobs, {written.size} bytes")
    if written.bound:
        typer.echo(
            f"warning: {written.bound} jobs are bound to nodes or exclusive, which SWF cannot say:"
            " written without",
            err=True,
        )


def _assembled(path: Path, overrides: list[str] | None) -> "Assembly":
    """Return the parts of a scenario; raises InputError where an input file is not there."""
    from hpcsched.assembly import assemble
    from hpcsched.errors import InputError
    from hpcsched.scenario import read_scenario
    from hpcsched.scenario.review import missing_inputs

    loaded = read_scenario(path, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    return assemble(loaded.scenario)
