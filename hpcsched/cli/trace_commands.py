"""`hpcsched trace`: statistics of traces, traces as files, and saved dispatching problems."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hpcsched.cli import PlainGroup, options
from hpcsched.dispatching.wait_statistics import collect_wait_statistics
from hpcsched.errors import Finding, InputError, Place
from hpcsched.report.tables import trace_info
from hpcsched.report.tables.report_table import Table
from hpcsched.runs import solver_rounds
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario import read_scenario
from hpcsched.scenario.loading import LoadedScenario, check_document
from hpcsched.scenario.review import missing_inputs
from hpcsched.studies.first_look import document_of, scenario_of_log
from hpcsched.studies.problems import problem_files, solving
from hpcsched.terminal import can_draw, rewrite_line
from hpcsched.version import __version__
from hpcsched.workload import trace_writing
from hpcsched.workload.archive import download
from hpcsched.workload.job import WaitClass
from hpcsched.workload.log_recognition import SCENARIOS
from hpcsched.workload.presets import preset_catalogue
from hpcsched.workload.trace_source import recorded_waits
from hpcsched.workload.trace_statistics import trace_statistics

COMMANDS = {
    "trace": ("Study", "Inspect, convert and fetch traces."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""

trace = typer.Typer(cls=PlainGroup, help="Inspect, convert and fetch traces.", no_args_is_help=True)
instances = typer.Typer(
    help="Record dispatching problems; compare dispatchers on them.", no_args_is_help=True
)
trace.add_typer(instances, name="instances")

Limit = Annotated[int | None, typer.Option(min=1, help="At most this many problems.")]


@trace.command()
@options.with_option_groups
def info(
    scenarios: Annotated[list[Path], typer.Argument(metavar="TRACE", help="Scenarios, or logs.")],
    *,
    output: options.TableOutput,
    waits: Annotated[
        WaitClass | None, typer.Option(help="Show mean recorded wait times by this class instead.")
    ] = None,
    overrides: options.Overrides = None,
    preset: options.Preset = None,
) -> None:
    """Show statistics of traces, side by side.

    Nothing is simulated. With --waits it shows the mean recorded wait times by class, as the
    parameter `expected_wait` of `prb`, `hcp19` and `pcp19`.
    """
    if waits is not None:
        if output.format_ not in ("text", "json"):
            raise typer.BadParameter("expected --format text or json with --waits")
        as_json = output.format_ == "json"
        shown = [
            _recorded_waits(path, assembled(path, overrides, preset), waits, json=as_json)
            for path in scenarios
        ]
        output.write("\n".join(shown))
        return
    infos = []
    all_loaded = [_loaded(path, overrides, preset) for path in scenarios]
    # Scenarios of one name, as the same one with other overrides, are told apart by path.
    names = [
        loaded.scenario.name if path.suffix in SCENARIOS else path.name
        for path, loaded in zip(scenarios, all_loaded, strict=True)
    ]
    counts = Counter(names)
    for path, loaded, name in zip(scenarios, all_loaded, names, strict=True):
        part = assemble(loaded.scenario)
        bounds = part.scenario.metrics.class_bounds
        statistics = trace_statistics(part.source, part.system, bounds)
        title = name if counts[name] == 1 else f"{name} ({path})"
        infos.append(trace_info.TraceInfo(title, part.source.account, statistics))
    output.show([trace_info.trace_table(infos)], lambda: list(map(trace_info.trace_content, infos)))


@trace.command()
def convert(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE", help="A log, recognised by its content, or a scenario (.yaml)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file to write: .swf, .swf.gz or .parquet.")],
    *,
    jobs: Annotated[int | None, typer.Option(min=1, help="Write at most this many jobs.")] = None,
    force: options.Force = False,
    overrides: options.Overrides = None,
) -> None:
    """Write a trace in another format.

    A log is read for a system that has room for everything; run times of 0 s, and those above the
    requested time, are kept. Job properties that the format cannot hold are listed as warnings.
    """
    of_scenario = log.suffix in SCENARIOS
    write_log = partial(trace_writing.write_swf, keep_comments=not of_scenario)
    writers: dict[str, tuple[str, Callable[..., trace_writing.Written]]] = {
        ".swf": ("SWF", write_log),
        ".swf.gz": ("SWF", write_log),
        ".parquet": ("the table", trace_writing.write_table),
    }
    ending = next((one for one in writers if out.name.endswith(one)), None)
    if ending is None:
        message = f"expected a name that ends in {', '.join(writers)}"
        raise InputError(Finding("unknown-format", message, Place(str(out))))
    called, write = writers[ending]
    if of_scenario:
        loaded = _loaded(log, overrides)
        origin = f"the scenario {loaded.scenario.name}, seed {loaded.scenario.seed}"
    else:
        first = [] if jobs is None else [f"trace.jobs={jobs}"]
        loaded = scenario_of_log(log, [*(overrides or ()), *first])
        origin = log.name
    parts = assemble(loaded.scenario)
    note = f"written by hpcsched {__version__} from {origin}"
    written = write(out, parts.source, parts.system, note=note, limit=jobs, force=force)
    account = parts.source.account
    typer.echo(f"wrote {written.path}: {written.jobs} jobs, {written.size} bytes")
    typer.echo(f"{account.read} records read")
    for what, counts in (("skipped", account.skipped), ("clipped", account.clipped)):
        for reason, count in counts.items():
            typer.echo(f"  {count} {what}: {reason}")
    for fault in account.faults.values():
        typer.echo(f"  malformed: {fault}")
    for what, count in written.lost.items():
        are = "are" if what == trace_writing.BOUND else "have"
        options.warn(f"{count} jobs {are} {what}, which {called} cannot say: written without")


def _recorded_waits(path: Path, parts: Assembly, by: WaitClass, *, json: bool) -> str:
    """Return the mean recorded wait times of a trace; raise InputError if it has none."""
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
    if json:
        return trace_info.waits_as_json(tally)
    return trace_info.waits_as_yaml(tally, parts.scenario.name)


def assembled(path: Path, overrides: list[str] | None, preset: str | None = None) -> Assembly:
    """Return the parts of a scenario, or of one for a log; raise InputError without its files."""
    return assemble(_loaded(path, overrides, preset).scenario)


def _loaded(path: Path, overrides: list[str] | None, preset: str | None = None) -> LoadedScenario:
    """Return a scenario, or one for a log; raise InputError without its files."""
    document = document_of(path, partial(typer.echo, err=True), preset)
    loaded = check_document(document, path, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    return loaded


FOLDER = "HPCSCHED_TRACES"
"""Environment variable with the folder of traces."""


@trace.command()
def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The name of the log in --list.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"The folder to write to; ${FOLDER} by default."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the available logs.")] = False,
) -> None:
    """Download a log of the archive, or of a known data set.

    The archive is the Parallel Workloads Archive; data sets are those of `hpcsched trace presets`.
    Checks that it is complete, and shows the work to cite.
    """
    logs = download.read_catalogue()
    files = [
        (preset, file)
        for preset in preset_catalogue.read_presets().values()
        for file in preset.files
    ]
    if listed:
        about = [(log.name, log.about) for log in logs]
        about += [(file.name, f"preset {preset.name}: {preset.about}") for preset, file in files]
        width = max(len(name) for name, _ in about)
        for shown, text in about:
            typer.echo(f"{shown:{width}}  {text}")
        return
    if name is None:
        raise typer.BadParameter("expected the name of a log, or --list", param_hint="NAME")
    folder = out or Path(os.environ.get(FOLDER, ""))
    if out is None and not os.environ.get(FOLDER):
        message = f"expected --out DIR, or a folder in the environment variable {FOLDER}"
        raise InputError(Finding("no-folder", message))
    chosen = [(preset, file) for preset, file in files if name in (preset.name, file.name)]
    if len(chosen) > 1:
        names = ", ".join(file.name for _, file in chosen)
        raise typer.BadParameter(f"expected one of its files: {names}", param_hint="NAME")
    if chosen:
        ((preset, file),) = chosen
        _download(file.address, folder / file.name, file.sha256)
        typer.echo(f"\n{preset.title}, licence: {preset.licence}. Cite:\n  {preset.cite}")
        typer.echo(f"\nTo use it: {preset.get}\nA scenario uses it so:")
        typer.echo(f"  trace: {{source: table, preset: {preset.name}, path: FILE}}")
        return
    log = download.find_log(name, logs, [*dict.fromkeys(preset.name for preset, _ in files)])
    _download(log.address, folder / log.file_name, log.sha256)
    typer.echo(f"\nThe log is by courtesy of {log.acknowledge}. Acknowledge them, and cite:")
    typer.echo(f"  {log.cite}\n\nA scenario uses it so:")
    system = log.system if ":" not in log.system else f"{{{log.system}}}"
    typer.echo(f"  system: {system}")
    typer.echo(f"  trace: {{source: swf, path: '${{{FOLDER}}}/{log.file_name}'}}")


def _download(address: str, path: Path, sha256: str | None) -> None:
    """Download a file, and print its size and hash."""

    def show(size: int, whole: int | None) -> None:
        of = f" of {whole / 1e6:.1f}" if whole else ""
        rewrite_line(f"{size / 1e6:.1f}{of} MB")

    # A progress line in a log file would be thousands of carriage returns.
    shown = show if can_draw(sys.stderr) else None
    fetched = download.fetch(address, path, sha256, progress=shown)
    if shown and fetched.received:
        typer.echo(err=True)
    what = "fetched" if fetched.received else "is there already, and is whole"
    typer.echo(f"{path}: {what}; {fetched.size} bytes, SHA-256 {fetched.sha256}")
    if sha256 is None:
        typer.echo("The catalogue does not know its hash, so only its length could be checked.")


_PRESET_COLUMNS = ("preset", "about", "fetched", "licence")


@trace.command()
@options.with_option_groups
def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The preset to show; all by default.")
    ] = None,
    *,
    output: options.TableOutput,
) -> None:
    """List known data sets, or show how to get and read one.

    With a name it shows the columns that the preset reads, whom to cite, the licence, and what a
    scenario says.
    """
    if name is not None:
        if output.format_ not in ("text", "json"):
            raise typer.BadParameter("expected --format text or json with a name")
        try:
            preset = preset_catalogue.find_preset(name)
        except ValueError as error:
            raise InputError(Finding("unknown-preset", str(error))) from None
        as_json = output.format_ == "json"
        output.write(options.json_text(_content(preset)) if as_json else "\n".join(_lines(preset)))
        return
    found = list(preset_catalogue.read_presets().values())
    rows = [(one.name, one.about, "yes" if one.files else "no", one.licence) for one in found]
    table = Table(_PRESET_COLUMNS, rows, words=len(_PRESET_COLUMNS), name="presets")
    output.show([table], lambda: [_content(one) for one in found])


def _content(preset: preset_catalogue.Preset) -> dict[str, Any]:
    return {**asdict(preset), "trace": dict(preset.trace), "columns": preset.columns}


def _lines(preset: preset_catalogue.Preset) -> Iterator[str]:
    """Yield the description of a preset, and the keys of a scenario."""
    yield f"{preset.title}: {preset.about}"
    yield f"page: {preset.home}"
    yield f"get: {preset.get}"
    for file in preset.files:
        yield f"  hpcsched trace fetch {file.name}"
    for name in ("licence", "cite", "unit", "notes"):
        yield f"{name}: {getattr(preset, name)}"
    yield f"columns: {', '.join(preset.columns)}"
    yield f"a scenario: trace: {{source: table, preset: {preset.name}, path: FILE}}"


@instances.command()
def record(
    scenario: options.ScenarioFile,
    *,
    out: Annotated[Path, typer.Option(help="The file to write, as x.jsonl.gz.")],
    every: Annotated[int, typer.Option(min=1, help="Save one of this many matching problems.")] = 1,
    min_queued: Annotated[int, typer.Option(min=0, help="Least number of queued jobs.")] = 0,
    max_queued: Annotated[
        int | None, typer.Option(min=0, help="Largest number of queued jobs.")
    ] = None,
    limit: Limit = None,
    overrides: options.Overrides = None,
    force: options.Force = False,
) -> None:
    """Replay a scenario and save its dispatching problems."""
    if max_queued is not None and max_queued < min_queued:
        raise typer.BadParameter(f"--max-queued {max_queued} is below --min-queued {min_queued}")
    loaded = read_scenario(scenario, overrides or ())
    missing = missing_inputs(loaded, "error")
    if missing:
        raise InputError(missing)
    selection = problem_files.Selection(
        every=every, min_queued=min_queued, max_queued=max_queued, limit=limit
    )
    done = problem_files.record(loaded.scenario, out, selection, force=force)
    typer.echo(
        f"wrote {done.path}: {done.saved} of {done.matching} matching dispatching problems saved,"
        f" {done.rounds} rounds seen, {done.size} bytes"
    )


@instances.command()
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
    limit: Limit = None,
    overrides: options.Overrides = None,
    force: options.Force = False,
) -> None:
    """Solve saved problems with the dispatchers of scenarios.

    Of a scenario the dispatcher, the objective and the seed are used.
    """
    problems = problem_files.InstancesFile(file)
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
    for done in solving.solve(problems, chosen, out, limit=limit, force=force):
        typer.echo(f"wrote {done.path}: {done.problems} dispatching problems solved by {done.name}")
        if done.solver.asked:
            typer.echo(f"  {solver_rounds.in_words(done.solver, 'problems')}")
        warned = solver_rounds.warning(done.solver, "problems")
        if warned is not None:
            options.warn(f"{done.name}: {warned}")


@instances.command()
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
    format_: options.TableFormatOption = "text",
) -> None:
    """Compare two dispatchers problem by problem.

    Shows ratios of model sizes, decision times and objectives.
    """
    pairing = solving.Pairing(solving.SolvedTable.open(first), solving.SolvedTable.open(second))
    tables = solving.comparison_tables(pairing, same_time)
    warnings = list(pairing.warnings())
    # LaTeX, CSV and JSON are read by programs: no line beside the tables.
    if format_ in ("text", "markdown"):
        options.emit(solving.head(pairing) + "\n")

    def content() -> dict[str, Any]:
        return {
            "a": pairing.a.about.model_dump(mode="json"),
            "b": pairing.b.about.model_dump(mode="json"),
            "problems": len(pairing),
            "solver": [asdict(one) for one in pairing.solver],
            "tables": {table.name: table.content() for table in tables},
            "warnings": warnings,
        }

    options.emit(options.tables_text(tables[:1] if format_ == "csv" else tables, format_, content))
    options.warn(*warnings)


def _missing_for_dispatching(loaded: LoadedScenario) -> Iterator[Finding]:
    """Yield an error for each missing input file of the dispatcher or the objective."""
    for finding in missing_inputs(loaded, "error"):
        if finding.key.startswith(("dispatcher", "objective")):
            yield finding
