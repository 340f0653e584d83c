"""A first look at a log: its format, a machine for it, and scenarios that replay it."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import hpcsched
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.plugins import manager
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.fidelity import fidelity, fidelity_table, use_table
from hpcsched.report.studied_runs import open_study
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.files import write_json
from hpcsched.runs.run_result import RunResult
from hpcsched.scenario.document import Document, parse_document, read_document
from hpcsched.scenario.loading import EXAMPLES, LoadedScenario, check_document, read_scenario
from hpcsched.scenario.review import weights_without_tables
from hpcsched.scenario.scenario_schema import scenario_schema
from hpcsched.studies.cell import cell_name
from hpcsched.whole_files import check_target, make_folder, write_bytes, write_text
from hpcsched.workload import log_recognition as logs
from hpcsched.workload.job import TracedJob
from hpcsched.workload.presets.preset_catalogue import find_preset
from hpcsched.workload.readers.batsim import ids_are_numbers
from hpcsched.workload.readers.swf import header_machine, types_in_records
from hpcsched.workload.readers.table import REQUEST_PREFIX
from hpcsched.workload.readers.table_rows import open_rows
from hpcsched.workload.trace_source import (
    SiteBlocks,
    TraceAccount,
    described_site,
    recorded_waits,
)


class Machine(NamedTuple):
    """Nodes of equal size; some may have one core more than the others.

    Attributes
    ----------
    cores
        Cores of each node, of the smaller ones if there are two sizes.
    larger
        Number of nodes that have one core more.
    """

    nodes: int
    cores: int
    basis: str
    others: tuple[tuple[str, int], ...] = ()
    larger: int = 0
    # As those of a site.
    left_out: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def resources(self) -> dict[str, int]:
        """Amounts of each node by resource type, cores first."""
        return {"core": self.cores, **dict(self.others)}

    @property
    def groups(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        """Name, number of nodes, and amounts of each, of nodes of one size."""
        yield "node", self.nodes - self.larger, self.resources
        if self.larger:
            yield "larger", self.larger, {**self.resources, "core": self.cores + 1}

    @property
    def lines(self) -> list[str]:
        """The block `system` as lines of YAML."""
        groups = []
        for name, count, amounts in self.groups:
            each = ", ".join(f"{kind}: {amount}" for kind, amount in amounts.items())
            groups.append(f"    - {{name: {name}, count: {count}, resources: {{{each}}}}}")
        return ["system:", f"  # {self.basis}", "  groups:", *groups]

    @property
    def about(self) -> str:
        """The machine in words."""
        nodes = "node" if self.nodes == 1 else "nodes"
        cores = "core" if self.cores == 1 else "cores"
        more = "".join(f", {amount} {name}" for name, amount in self.others)
        each = f"{self.cores} {cores}{more} each"
        if self.larger:
            each += f" and one more on {self.larger} of them"
        return f"machine: {self.nodes} {nodes} with {each}, {self.basis}"


class Need(NamedTuple):
    """Requirements of the jobs of a log, of one resource type.

    Attributes
    ----------
    unit
        Amount of the largest unit, which must fit on a node.
    peak
        Largest amount used at a time according to the log's own starts; None if it does not tell
        them.
    """

    unit: int
    job: int
    peak: int | None


class Needs(NamedTuple):
    """Requirements of the jobs of a log.

    Attributes
    ----------
    nodes
        Nodes of the largest job that needs a node for each of its units; 1 if none does.
    """

    by_type: Mapping[str, Need]
    nodes: int = 1


def need_of(
    jobs: Iterable[TracedJob], waits: dict[int, int] | None, types: Sequence[str] = ("core",)
) -> Needs:
    """Return the requirements of jobs.

    Parameters
    ----------
    types
        Resource types, in the order of the amounts of a unit.
    """
    unit, largest = [0] * len(types), [0] * len(types)
    nodes = 1
    changes: list[tuple[int, int, int]] = []
    for traced in jobs:
        job = traced.job
        if job.request.one_unit_per_node:
            nodes = max(nodes, job.units)
        wait = None if waits is None else waits.get(job.job_id)
        for k, amount in enumerate(job.unit_request):
            total = job.units * amount
            unit[k], largest[k] = max(unit[k], amount), max(largest[k], total)
            if wait is not None and total:
                start = job.submit_time + wait
                changes += [(start, total, k), (start + traced.run_time, -total, k)]
    used, peak = [0] * len(types), [0] * len(types)
    # Ends before starts of the same second.
    for _, change, k in sorted(changes):
        used[k] += change
        peak[k] = max(peak[k], used[k])
    by_type = {
        name: Need(unit[k], largest[k], peak[k] if changes else None)
        for k, name in enumerate(types)
    }
    return Needs(by_type, nodes)


def machine_from_header(comments: Sequence[str]) -> Machine | None:
    """Return the machine that header comments of a log tell; None if they do not."""
    nodes, processors = header_machine(comments)
    if not (nodes or processors):
        return None
    told = (("MaxNodes", nodes), ("MaxProcs", processors))
    basis = f"from the log's header ({', '.join(f'{name}: {n}' for name, n in told if n)})"
    if nodes and processors >= nodes:
        cores, larger = divmod(processors, nodes)
        return Machine(nodes, cores, basis, larger=larger)
    # A header with fewer processors than nodes has one of them wrong.
    return Machine(processors or nodes, 1, basis)


def machine_for(needs: Needs) -> Machine:
    """Return a machine that is just large enough."""
    nodes, cores, others, words = needs.nodes, 1, [], []
    why = "the largest job"
    for name, need in needs.by_type.items():
        if not need.job:
            continue
        wanted = max(need.job, need.peak or 0)
        if wanted > need.job:
            why = "the most that the log's jobs used at a time"
        nodes = max(nodes, math.ceil(wanted / need.unit))
        words.append(f"{wanted} {'cores' if name == 'core' else name}")
        if name == "core":
            cores = need.unit
        else:
            others.append((name, need.unit))
    return Machine(nodes, cores, f"assumed: {why}, {', '.join(words)}", tuple(others))


_LENIENT: Mapping[str, tuple[str, str]] = {
    "missing_requested_time": ("run_time", "a job without a requested time asked for what it took"),
    "malformed": ("skip", "damaged lines are counted and left out"),
    "unsorted": ("sort", "lines may be in any order"),
    "fractional_seconds": ("outward", "jobs are submitted, and run, in whole seconds"),
}
"""Policies by key of a trace source: value, and what it means."""

_OF_ACCOUNTING = {
    "unknown_resource_type": ("ignore", "memory and devices are left out"),
    "duplicate": ("last", "a job that was requeued ended as its last record says"),
}
_MORE: Mapping[logs.LogFormat, Mapping[str, tuple[str, str]]] = {
    logs.SWF: {"unit": ("{core: 1}", "each requested processor is one core")},
    logs.SACCT: {"time_zone": ("UTC", "the zone of the log's clocks, for local times")}
    | _OF_ACCOUNTING,
    logs.PBS: _OF_ACCOUNTING,
}
_OF_TABLES: Mapping[str, tuple[str, str]] = {
    "missing_units": ("skip", "rows without a number of units are counted and left out"),
    "missing_request": ("zero", "an amount that is not given is 0"),
}


_OF_SITES: Mapping[str, tuple[str, str]] = {
    "unknown_resource_type": ("ignore", "what no node of the site has is left out"),
}
TODAY = "today"
"""Label of the configuration that a site runs."""


class TrialLog(NamedTuple):
    """A log as scenarios name it.

    Attributes
    ----------
    jobs
        Largest number of jobs; None is all.
    keys
        Further keys of the trace, each a value and its meaning.
    """

    path: Path
    format: logs.LogFormat
    jobs: int | None
    keys: Mapping[str, tuple[str, str]] = {}

    @property
    def policies(self) -> Mapping[str, tuple[str, str]]:
        """Policies that pass over the log's flaws by key, each a value and its meaning."""
        if self.format.preset is not None:
            preset = {"preset": (self.format.preset, self.format.called)}
            return {**preset, **_LENIENT, **_OF_TABLES, **self.keys}
        return {**_LENIENT, **_MORE.get(self.format, {}), **self.keys}


class Configuration(NamedTuple):
    """A dispatcher that is tried: its label, which names its scenario's file, and its block."""

    label: str
    block: str


def configurations(names: Sequence[str]) -> list[Configuration]:
    """Return dispatchers by their names; the name of a queue order means a list in that order."""
    registry = manager.registry()
    dispatchers = set(registry.all_names("dispatcher"))
    orders = set(registry.all_names("queue_order"))
    findings = []
    for name in dict.fromkeys(names):
        if name not in dispatchers | orders:
            near = get_close_matches(name.lower(), sorted(dispatchers | orders), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            message = f"no dispatcher or queue order is called {name!r}{hint}"
            findings.append(Finding("unknown-plugin", message, key="--dispatchers"))
        if names.count(name) > 1:
            findings.append(
                Finding("duplicate-name", f"{name!r} is given twice", key="--dispatchers")
            )
    if findings:
        raise InputError(findings)
    return [
        Configuration(
            name,
            f"dispatcher: {name if name in dispatchers else f'{{name: list, order: {name}}}'}",
        )
        for name in names
    ]


def scenario_text(
    configuration: Configuration,
    log: TrialLog,
    machine: Machine | SiteBlocks,
    objective: str | None = None,
) -> str:
    """Return the scenario of a dispatcher as commented YAML.

    Parameters
    ----------
    objective
        Name of the objective; None: the default.
    """
    stem = log.path.name.partition(".")[0]
    lines = [
        f"# {configuration.label} on {log.path.name}, as 'hpcsched try' replays it.",
        f"name: {cell_name([stem, configuration.label])}",
        *machine.lines,
        "trace:",
        f"  source: {log.format.source}",
        # JSON's quotes are YAML's, whatever a path has in it.
        f"  path: {json.dumps(str(log.path.absolute()), ensure_ascii=False)}",
        *([] if log.jobs is None else [f"  jobs: {log.jobs}"]),
        *(f"  {key}: {value}  # {meaning}" for key, (value, meaning) in log.policies.items()),
        "predictor: requested-time  # what users ask for",
        *configuration.block.splitlines(),
        *([] if objective is None else [f"objective: {objective}"]),
    ]
    return "\n".join(lines) + "\n"


class Look(NamedTuple):
    """A log, a machine for it, and dispatchers to be tried.

    Attributes
    ----------
    objective
        Name of the objective; None: the default.
    """

    log: TrialLog
    machine: Machine | SiteBlocks
    configurations: Sequence[Configuration]
    objective: str | None


def look_at(
    path: Path,
    dispatchers: Sequence[str] = ("easy",),
    *,
    objective: str | None = None,
    jobs: int | None = None,
    machine: tuple[int, int | None] | None = None,
    preset: str | None = None,
    zone: str | None = None,
    site: Sequence[Path] = (),
) -> Look:
    """Return the look at a log that is to be taken.

    Parameters
    ----------
    objective
        Name of the objective; None: the default.
    jobs
        Largest number of jobs; None is all.
    machine
        Number of nodes, and of cores of each, in place of those that are found; None as the number
        of cores keeps it.
    preset
        Name of the preset that reads the log; None: the content tells the format.
    zone
        Name of the time zone of the log's clocks; None: UTC, or that of the preset.
    site
        Files of the site in the place of a machine: the configuration, and tables of accounts. The
        first configuration is what the site runs.
    """
    _check_exists(path)
    chosen = configurations(dispatchers)
    if objective is not None:
        try:
            objective = manager.registry().get("objective", objective).plugin.name
        except KeyError as error:
            message = str(error.args[0])
            raise InputError(Finding("unknown-plugin", message, key="--objective")) from None
    log = TrialLog(path, logs.format_of_log(path, preset), jobs)
    log = log._replace(keys=_keys(log, zone))
    if site:
        blocks = _site(log, site)
        log = log._replace(keys={**log.keys, **_OF_SITES})
        chosen = [Configuration(TODAY, blocks.dispatcher), *chosen]
        return Look(log, blocks, chosen, objective)
    found = _machine(log)
    if machine is not None:
        nodes, cores = machine
        found = Machine(nodes, cores or found.cores, "as given", found.others)
    return Look(log, found, chosen, objective)


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise InputError(Finding("path-not-found", f"there is no file {path}", Place(str(path))))


def _keys(log: TrialLog, zone: str | None) -> dict[str, tuple[str, str]]:
    keys = {}
    try:
        source = manager.registry().get("trace_source", log.format.source).plugin
    except KeyError as error:
        raise InputError(
            Finding("unknown-plugin", str(error.args[0]), Place(str(log.path)))
        ) from None
    if zone is not None:
        if "time_zone" not in source.params.model_fields:
            message = f"the times of {log.format.called} are not local; it needs no time zone"
            raise InputError(Finding("not-local", message, key="--time-zone"))
        keys["time_zone"] = (zone, "the zone of the log's clocks")
    if log.format == logs.BATSIM and not ids_are_numbers(log.path):
        keys["job_ids"] = ("position", "ids are texts: the places in the file are the numbers")
    return keys


def document_of(
    path: Path, tell: Callable[[str], None] = lambda _: None, preset: str | None = None
) -> Document:
    """Return the document of a scenario; a log gets a generated one.

    Parameters
    ----------
    preset
        Name of the preset that reads a log; None: the content tells the format.
    """
    if path.suffix in logs.SCENARIOS or not path.exists():
        return read_document(path)
    if preset is None and logs.recognised(path) is None:
        # A scenario may have another ending.
        with suppress(InputError):
            document = read_document(path)
            if isinstance(document.value, dict) and not document.findings:
                return document
    return parse_document(text_of_log(path, tell, preset), str(path))


def text_of_log(
    path: Path, tell: Callable[[str], None] = lambda _: None, preset: str | None = None
) -> str:
    """Return the scenario of EASY backfilling on a log; `tell` is called with each finding."""
    look = look_at(path, preset=preset)
    for line in look_lines(look):
        tell(line)
    return scenario_text(look.configurations[0], look.log, look.machine)


def look_lines(look: Look) -> Iterator[str]:
    """Yield the findings about a log before its replay."""
    yield f"{look.log.path.name}: {look.log.format.called}"
    yield look.machine.about
    for key, (value, meaning) in look.log.keys.items():
        yield f"{key}: {value}, {meaning}"
    if look.log.jobs is not None:
        yield f"jobs: at most the first {look.log.jobs}"


def try_dispatchers(
    look: Look, folder: Path, *, begun: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, RunResult]]:
    """Write the scenario of each dispatcher into a folder, and run it in `runs` there."""
    make_folder(folder)
    for one in look.configurations:
        text = scenario_text(one, look.log, look.machine, look.objective)
        write_text(folder / f"{one.label}.yaml", text)
    for one in look.configurations:
        begun(one.label)
        scenario = hpcsched.load_scenario(folder / f"{one.label}.yaml")
        yield one.label, hpcsched.run(scenario, folder / "runs" / one.label, force=True)


_WEEK = 7 * 86_400


def fidelity_lines(look: Look, scenario: Path, weeks: int) -> Iterator[str]:
    """Replay the last weeks of a site's log, and yield how well that reproduces its waits.

    The week before them is replayed too and does not count, since a replay begins with an empty
    system.
    """
    submits = [one.job.submit_time for one in _with_room(look.log).source.jobs()]
    begin = max(submits) - min(submits) - (weeks + 1) * _WEEK
    window = [f"trace.transforms=[{{name: window, start: {begin}}}]"] if begin > 0 else []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        loaded = read_scenario(scenario, window)
        hpcsched.run(loaded.scenario, path)
        found = fidelity(ComparedStudy(open_study([path])), _WEEK if begin > 0 else 0)
    unweighed = [
        f"{one.key}: {one.message}"
        for one in weights_without_tables(loaded)
        if one.rule == "weight-without-table"
    ]
    found = found._replace(causes=(*found.causes, *unweighed, *look.machine.causes))
    yield from (fidelity_table(found).as_text(), "", use_table(found).as_text(), "")
    yield from found.lines()


def _machine(log: TrialLog) -> Machine:
    """Return the machine of the log's header, or one that is just large enough for its jobs."""
    needs, comments = _needs(log)
    stated = machine_from_header(comments)
    if stated is not None:
        return stated
    # The machine was large enough for all jobs, however few are replayed.
    return machine_for(needs if log.jobs is None else _needs(log._replace(jobs=None))[0])


def _site(log: TrialLog, files: Sequence[Path]) -> SiteBlocks:
    """Return the site of a log, as files of it describe it."""
    for file in files:
        _check_exists(file)
    source = _with_room(log).source
    if not sum(1 for _ in source.jobs()):
        raise InputError(Finding("no-jobs", _no_jobs(source.account), Place(str(log.path))))
    found = described_site(source, files[0], files[1:])
    if found is None:
        message = f"no configuration of a site is read beside {log.format.called}"
        raise InputError(Finding("no-site", message, Place(str(files[0]))))
    return found


def _needs(log: TrialLog) -> tuple[Needs, Sequence[str]]:
    """Return the needs of the jobs of a log, and the comments of its header."""
    assembly = _with_room(log)
    source = assembly.source
    waits = recorded_waits(source)
    needs = need_of(source.jobs(), waits, assembly.system.resource_types)
    if not any(need.job for need in needs.by_type.values()):
        raise InputError(Finding("no-jobs", _no_jobs(source.account), Place(str(log.path))))
    return needs, source.comments


_NODES = 1000
"""Number of nodes, each with 2⁵³ of everything: the largest system possible."""


def _with_room(log: TrialLog) -> Assembly:
    """Return the parts of a scenario with a log as its trace and room for every job."""
    types = () if log.format.preset is None else find_preset(log.format.preset).resource_types
    others = tuple((name, LARGEST) for name in types if name != "core")
    text = scenario_text(
        Configuration("log", "dispatcher: reject"), log, Machine(_NODES, LARGEST, "", others)
    )
    return assemble(check_document(parse_document(text, str(log.path)), log.path).scenario)


def _no_jobs(account: TraceAccount) -> str:
    """Return that no record of a log is a job that ran, and why."""
    skipped = ", ".join(f"{count} {reason}" for reason, count in account.skipped.most_common())
    why = f", skipped: {skipped}" if skipped else ""
    return f"expected at least one job that ran; found {account.read} records{why}"


def scenario_of_log(trace: Path, overrides: Sequence[str]) -> LoadedScenario:
    """Return a scenario with a log as its trace and a system that has room for every job."""
    _check_exists(trace)
    found = logs.recognised(trace)
    if found != logs.TABLE:
        found = logs.format_of_log(trace)
    # Jobs that do not fit would be skipped, and a conversion must lose none.
    resources = dict.fromkeys(_resource_types(trace, found), LARGEST)
    values = {
        "name": "log",
        "system": {"groups": [{"name": "node", "count": _NODES, "resources": resources}]},
        "trace": {
            "source": found.source,
            "path": str(trace.absolute()),
            "zero_run_time": "keep",
            "over_requested_time": "keep",
            **({} if found.preset is None else {"preset": found.preset}),
        },
        "dispatcher": "reject",
    }
    return check_document(Document(values, str(trace)), trace, overrides)


def _resource_types(trace: Path, of: logs.LogFormat) -> Sequence[str]:
    """Return the resource types in a log; cores if it names none."""
    if of.preset is not None:
        return find_preset(of.preset).resource_types
    found: Sequence[str] = ()
    if of == logs.SWF:
        found = types_in_records(trace)
    elif of == logs.TABLE:
        names = open_rows(trace, ",").names
        found = [n.removeprefix(REQUEST_PREFIX) for n in names if n.startswith(REQUEST_PREFIX)]
    return found or ["core"]


def example_log() -> Path:
    """Return the path of the log that comes with hpcsched."""
    for folder in EXAMPLES:
        if (folder / "traces" / "small-cluster.swf.gz").is_file():
            return folder / "traces" / "small-cluster.swf.gz"
    raise InputError(Finding("missing-file", "the example small-cluster.swf.gz was not installed"))


def write_examples(out: Path, *, force: bool = False) -> int:
    """Write scenarios, systems and logs that come with hpcsched; return the number of files."""
    came = example_log().parents[1]
    found = [path for part in ("*.yaml", "systems/*.yaml", "traces/*") for path in came.glob(part)]
    targets = {path: out / path.relative_to(came) for path in found}
    for target in targets.values():
        check_target(target, force=force)
    for path, target in targets.items():
        make_folder(target.parent)
        write_bytes(target, path.read_bytes())
    return len(targets)


KINDS = ("log", "site")
"""Kinds of starters: a log on one machine, a site with all its rules."""

SCHEMA = "scenario.schema.json"
HEADER = f"# yaml-language-server: $schema={SCHEMA}\n"


def starter_text(kind: str) -> str:
    """Return a starter scenario as YAML."""
    return (files("hpcsched.studies") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")


def write_starter(text: str, out: Path, *, force: bool = False) -> list[Path]:
    """Write a starter scenario, and the schema beside it; return the paths that were written."""
    schema = out.with_name(SCHEMA)
    content = scenario_schema(manager.registry())
    written = [out, schema]
    # The schema of an earlier scenario in the folder is the same file.
    with suppress(OSError, ValueError):
        if json.loads(schema.read_text(encoding="utf-8")) == content:
            written = [out]
    for path in written:
        check_target(path, force=force)
    write_text(out, text)
    if schema in written:
        write_json(schema, content)
    return written
