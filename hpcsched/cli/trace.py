"""`hpcsched trace`: statistics of traces, and traces as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.accounts_from import accounts_from
from hpcsched.cli.fetching import fetch
from hpcsched.cli.output import OutFile, TableFormat, TableFormatOption
from hpcsched.cli.presets import presets
from hpcsched.cli.shared_options import Env, Force, Overrides, ScenarioFile
from hpcsched.cli.system_from import system_from
from hpcsched.studies.first_look.log_files import LogSource, is_scenario
from hpcsched.version import __version__
from hpcsched.workload.job import WaitClass

if TYPE_CHECKING:
    from hpcsched.runs.assembly import Assembly
    from hpcsched.scenario.loading import LoadedScenario

app = typer.Typer(
    name="trace", help="Inspect, generate, convert and fetch traces.", no_args_is_help=True
)
app.command("system-from")(system_from)
app.command("accounts-from")(accounts_from)
app.command("fetch")(fetch)
app.command("presets")(presets)

MostJobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Write at most this many jobs.", show_default=False),
]


@app.command()
def info(
    scenarios: Annotated[
        list[Path],
        typer.Argument(metavar="TRACE", help="Scenarios, or logs.", show_default=False),
    ],
    *,
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
    force: Force = False,
    waits: Annotated[
        WaitClass | None,
        typer.Option(
            help="Show mean recorded wait times by this class instead.",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    _env: Env = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Known data set of the logs; by their columns by default.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show statistics of traces, and their differences.

    Nothing is simulated. With --waits it shows the mean recorded wait times by class, as the
    parameter `expected_wait` of `prb`, `hcp19` and `pcp19`.
    """
    from collections import Counter

    from hpcsched.cli.output import emit, tables_text
    from hpcsched.report.tables.trace_info import trace_content, trace_infos, trace_table
    from hpcsched.runs.assembly import assemble
    from hpcsched.runs.refused_records import all_refused_told
    from hpcsched.workload.statistics.trace_statistics import trace_statistics

    if waits is not None:
        if format_ not in (TableFormat.TEXT, TableFormat.JSON):
            raise typer.BadParameter("expected --format text or json with --waits")
        as_json = format_ is TableFormat.JSON
        shown = [
            _recorded_waits(path, assembled(path, overrides, preset), waits, json=as_json)
            for path in scenarios
        ]
        emit("\n".join(shown), out, force=force)
        return
    traces = []
    all_loaded = [_loaded(path, overrides, preset) for path in scenarios]
    # Scenarios of one name, as the same one with other overrides, are told apart by path.
    names = [
        loaded.scenario.name if is_scenario(path) else path.name
        for path, loaded in zip(scenarios, all_loaded, strict=True)
    ]
    counts = Counter(names)
    for path, loaded, name in zip(scenarios, all_loaded, names, strict=True):
        part = assemble(loaded.scenario)
        bounds = part.scenario.metrics.class_bounds
        with all_refused_told(loaded):
            statistics = trace_statistics(part.source, part.system, bounds)
        title = name if counts[name] == 1 else f"{name} ({path})"
        traces.append((title, part.source.account, statistics))
    infos = trace_infos(traces)

    def content() -> list[dict[str, Any]]:
        return list(map(trace_content, infos))

    emit(tables_text([trace_table(infos)], format_, content, out=out), out, force=force)


@app.command()
def generate(
    scenario: ScenarioFile,
    out: Annotated[
        Path,
        typer.Option(help="The SWF file to write; .gz compresses it.", show_default=False),
    ],
    jobs: MostJobs = None,
    force: Force = False,
    overrides: Overrides = None,
    _env: Env = None,
) -> None:
    """Write a scenario's trace in the Standard Workload Format."""
    from hpcsched.workload.trace_writing import BOUND, write_swf

    parts = assembled(scenario, overrides)
    note = (
        f"written by hpcsched {__version__} from the scenario {parts.scenario.name},"
        f" seed {parts.scenario.seed}"
    )
    written = write_swf(out, parts.source, parts.system, note=note, limit=jobs, force=force)
    typer.echo(f"wrote {written.path}: {written.jobs} jobs, {written.size} bytes")
    if bound := written.lost.get(BOUND):
        typer.echo(
            f"warning: {bound} jobs are bound to nodes, exclusive or with one unit per"
            " node, which SWF cannot say: written without",
            err=True,
        )


@app.command()
def convert(  # noqa: PLR0917 (typer makes options of parameters)
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="A log (.swf, .json, .csv, .parquet), or a scenario (.yaml).",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The file to write: .swf, .json (or .gz of these), .parquet.",
            show_default=False,
        ),
    ],
    source: Annotated[
        LogSource | None,
        typer.Option(
            "--from", help="The format of the log; by its name by default.", show_default=False
        ),
    ] = None,
    jobs: MostJobs = None,
    force: Force = False,
    overrides: Overrides = None,
    _env: Env = None,
) -> None:
    """Write a trace in another format.

    A log is read for a system that has room for everything; run times of 0 s, and those above the
    requested time, are kept. Job properties that the format cannot hold are listed as warnings.
    """
    from hpcsched.cli.conversion import convert_trace

    loaded = _loaded(trace, overrides) if source is None and is_scenario(trace) else None
    conversion = convert_trace(
        trace, out, loaded, source=source, overrides=overrides or (), jobs=jobs, force=force
    )
    for line in conversion.account:
        typer.echo(line)
    for line in conversion.warnings:
        typer.echo(f"warning: {line}", err=True)


def _recorded_waits(path: Path, parts: "Assembly", by: WaitClass, *, json: bool) -> str:
    """Return the mean recorded wait times of a trace; raise InputError if it has none."""
    from hpcsched.dispatching.wait_statistics import collect_wait_statistics
    from hpcsched.errors import Finding, InputError, Place
    from hpcsched.report.tables.wait_info import waits_as_json, waits_as_yaml
    from hpcsched.workload.trace_source import recorded_waits

    waits = recorded_waits(parts.source)
    if waits is None:
        source = parts.scenario.trace.plugin_name
        message = f"the trace source {source} does not record how long jobs waited"
        raise InputError(Finding("no-waits", message, Place(str(path)), key="trace.source"))
    tally = collect_wait_statistics(parts.source.jobs(), waits, by)
    if not tally.all.jobs:
        log = ", ".join(map(str, parts.source.files))
        message = f"no wait is recorded of any of its {tally.jobs} jobs"
        raise InputError(Finding("no-waits", message, Place(log)))
    return waits_as_json(tally) if json else waits_as_yaml(tally, parts.scenario.name)


def assembled(path: Path, overrides: list[str] | None, preset: str | None = None) -> "Assembly":
    """Return the parts of a scenario, or of one for a log; raise InputError without its files."""
    from hpcsched.runs.assembly import assemble

    return assemble(_loaded(path, overrides, preset).scenario)


def _loaded(path: Path, overrides: list[str] | None, preset: str | None = None) -> "LoadedScenario":
    """Return a scenario, or one for a log; raise InputError without its files."""
    from hpcsched.errors import InputError
    from hpcsched.scenario.loading import check_document
    from hpcsched.scenario.review import missing_inputs
    from hpcsched.studies.first_look.first_look import document_of

    document = document_of(path, lambda line: typer.echo(line, err=True), preset)
    loaded = check_document(document, path, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    return loaded
