"""A first look at a log: its format, dispatchers tried on it, and starter scenarios."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.violations import AuditReport
from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.plugins import manager
from hpcsched.report.tables.report_table import duration_text
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import write_json
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.scenario.document import Document, parse_document, read_text
from hpcsched.scenario.loading import LoadedScenario, check_document
from hpcsched.scenario.scenario_schema import scenario_schema
from hpcsched.studies.log_files import LogSource
from hpcsched.studies.trial_scenarios import (
    BusyPart,
    Configuration,
    Machine,
    Needs,
    TrialLog,
    busiest_part,
    configurations,
    given_machine,
    machine_for,
    machine_from_header,
    need_of,
    scenario_text,
    trace_values,
)
from hpcsched.whole_files import check_target, make_folder, write_text
from hpcsched.workload.log_recognition import (
    ALEA,
    BATSIM,
    SCENARIOS,
    UTF_8,
    encoding_of,
    format_of_log,
    recognised,
)
from hpcsched.workload.presets.preset_catalogue import find_preset
from hpcsched.workload.readers.batsim import ids_are_numbers
from hpcsched.workload.readers.swf import types_in_records
from hpcsched.workload.readers.table import REQUEST_PREFIX
from hpcsched.workload.readers.table_rows import open_rows
from hpcsched.workload.trace_source import TraceAccount, recorded_waits


class Look(NamedTuple):
    """A log, a machine for it, and dispatchers to be tried.

    Attributes
    ----------
    objective
        Name of the objective; None: the default.
    busiest
        The busiest jobs of the log, if these are replayed; else None.
    """

    log: TrialLog
    machine: Machine
    configurations: Sequence[Configuration]
    objective: str | None
    busiest: BusyPart | None = None


class Tried(NamedTuple):
    """The run of a dispatcher, and its audit."""

    label: str
    directory: RunDirectory
    audit: AuditReport

    @property
    def objective(self) -> float | None:
        """Value of the scenario's objective; None if no job ran."""
        value: float | None = self.directory.summary["objective"]["value"]
        return value

    def metric(self, name: str) -> float | None:
        """Return a metric of the run; None where it has none."""
        value: float | None = self.directory.summary["metrics"].get(name)
        return value


def look_at(
    path: Path,
    dispatchers: Sequence[str],
    *,
    objective: str | None = None,
    jobs: int | None = None,
    machine: tuple[int, int | None] | None = None,
    preset: str | None = None,
    busiest: bool = False,
    zone: str | None = None,
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
    busiest
        Whether the jobs are the busiest ones, where the log has more than `jobs`; else the first.
    zone
        Name of the time zone of the log's clocks; None: UTC, or that of the preset.
    """
    if not path.exists():
        raise InputError(Finding("path-not-found", f"there is no file {path}", Place(str(path))))
    registry = manager.registry()
    chosen = configurations(dispatchers, registry)
    if objective is not None:
        try:
            objective = registry.get("objective", objective).plugin.name
        except KeyError as error:
            message = str(error.args[0])
            raise InputError(Finding("unknown-plugin", message, key="--objective")) from None
    log = TrialLog(path, format_of_log(path, preset), jobs, encoding_of(path))
    log = log._replace(keys=_keys(log, zone))
    found = _machine(log)
    if machine is not None:
        found = given_machine(*machine, found)
    look = Look(log, found, chosen, objective)
    part = busiest_jobs(look) if busiest else None
    if part is None:
        return look
    return look._replace(log=log._replace(skip=part.skip), busiest=part)


def busiest_jobs(look: Look) -> BusyPart | None:
    """Return the busiest jobs of a log, as many as are replayed; None if these are all."""
    if look.log.jobs is None:
        return None
    assembly = _with_room(look.log._replace(jobs=None, skip=0))
    totals = dict.fromkeys(assembly.system.resource_types, 0)
    for _, count, amounts in look.machine.groups:
        for name, amount in amounts.items():
            if name in totals:
                totals[name] += count * amount
    return busiest_part(assembly.source.jobs(), list(totals.values()), look.log.jobs)


def _keys(log: TrialLog, zone: str | None) -> dict[str, tuple[str, str]]:
    """Return further keys of the trace that a log needs, each a value and its meaning."""
    keys = {}
    if zone is not None:
        source = manager.registry().get("trace_source", log.format.source).plugin
        if "time_zone" not in source.params.model_fields:
            message = f"the times of {log.format.called} are not local; it needs no time zone"
            raise InputError(Finding("not-local", message, key="--time-zone"))
        keys["time_zone"] = (zone, "the zone of the log's clocks")
    if log.format == BATSIM and not ids_are_numbers(log.path, log.encoding):
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
    if path.suffix in SCENARIOS or not path.exists():
        return parse_document(read_text(path))
    if preset is None and recognised(path) is None:
        return _scenario_of_any_name(path)
    look = look_at(path, ("easy",), preset=preset)
    for line in look_lines(look):
        tell(line)
    return parse_document(scenario_text(look.configurations[0], look.log, look.machine, None))


def _scenario_of_any_name(path: Path) -> Document:
    """Return the document of a scenario, also of a file with another ending."""
    with suppress(InputError):
        document = parse_document(read_text(path))
        if isinstance(document.value, dict) and not document.problems:
            return document
    format_of_log(path)
    return parse_document(read_text(path))


def look_lines(look: Look) -> Iterator[str]:
    """Yield the findings about a log before its replay."""
    machine = look.machine
    nodes = "node" if machine.nodes == 1 else "nodes"
    cores = "core" if machine.cores == 1 else "cores"
    yield f"{look.log.path.name}: {look.log.format.called}"
    if look.log.encoding != UTF_8:
        yield f"encoding: {look.log.encoding}, as it is not UTF-8"
    more = "".join(f", {amount} {name}" for name, amount in machine.others)
    each = f"{machine.cores} {cores}{more} each"
    if machine.larger:
        each += f" and one more on {machine.larger} of them"
    yield f"machine: {machine.nodes} {nodes} with {each}, {machine.basis}"
    for key, (value, meaning) in look.log.keys.items():
        yield f"{key}: {value}, {meaning}"
    if look.busiest is not None:
        yield f"jobs: {busiest_text(look.busiest, look.log.jobs)}"
    elif look.log.jobs is not None:
        yield f"jobs: at most the first {look.log.jobs}"


def busiest_text(part: BusyPart, jobs: int | None) -> str:
    """Return the busiest jobs of a log in words."""
    return (
        f"the busiest {jobs} of the log, those after the first {part.skip}: submitted within"
        f" {duration_text(part.span)}, {100 * part.crowded:.0f} % of them would find the machine"
        f" full if none ever waited (of the first {jobs}: {100 * part.first_crowded:.0f} %)"
    )


def write_scenarios(look: Look, folder: Path) -> list[tuple[Configuration, Path]]:
    """Write the scenario of each dispatcher into a folder, and return their paths."""
    make_folder(folder)
    written = []
    for one in look.configurations:
        path = folder / f"{one.label}.yaml"
        text = scenario_text(one, look.log, look.machine, look.objective)
        write_text(path, text)
        written.append((one, path))
    return written


def try_scenarios(
    scenarios: Sequence[tuple[Configuration, Path]],
    folder: Path,
    *,
    begun: Callable[[str], None] = lambda _: None,
) -> Iterator[Tried]:
    """Run scenarios into folders of their own, audit each, and yield the outcomes."""
    for one, path in scenarios:
        begun(one.label)
        result = run(load_scenario(path), folder / one.label, force=True)
        yield Tried(one.label, result.directory, audit_directory(result.directory))


def _machine(log: TrialLog) -> Machine:
    """Return the machine of the log's header, or one that is just large enough for its jobs."""
    needs, comments = _needs(log)
    stated = machine_from_header(comments)
    if stated is not None:
        return stated
    # The machine was large enough for all jobs, however few are replayed.
    return machine_for(needs if log.jobs is None else _needs(log._replace(jobs=None))[0])


def _needs(log: TrialLog) -> tuple[Needs, Sequence[str]]:
    """Return the needs of the jobs of a log, and the comments of its header."""
    assembly = _with_room(log)
    source = assembly.source
    waits = recorded_waits(source)
    needs = need_of(source.jobs(), waits, assembly.system.resource_types)
    if not any(need.job for need in needs.by_type.values()):
        raise InputError(Finding("no-jobs", _no_jobs(source.account), Place(str(log.path))))
    return needs, source.comments


def _with_room(log: TrialLog) -> Assembly:
    """Return the parts of a scenario with a log as its trace and room for every job."""
    asked = [] if log.format.preset is None else find_preset(log.format.preset).resource_types
    resources = dict.fromkeys(["core", *asked], LARGEST)
    enough: dict[str, Any] = {"name": "node", "count": 1000, "resources": resources}
    values = {
        "name": "log",
        "system": {"groups": [enough]},
        "trace": trace_values(log),
        "dispatcher": "reject",
    }
    return assemble(check_document(Document(values), log.path).scenario)


def _no_jobs(account: TraceAccount) -> str:
    """Return that no record of a log is a job that ran, and why."""
    skipped = ", ".join(f"{count} {reason}" for reason, count in account.skipped.most_common())
    why = f", skipped: {skipped}" if skipped else ""
    return f"expected at least one job that ran; found {account.read} records{why}"


_NODES = 1000
"""Number of nodes, each with 2⁵³ of everything: the largest system possible."""


def scenario_of_log(trace: Path, source: LogSource, overrides: Sequence[str]) -> LoadedScenario:
    """Return a scenario with a log as its trace and a system that has room for every job."""
    if not trace.exists():
        raise InputError(Finding("path-not-found", f"there is no file {trace}", Place(str(trace))))
    known = recognised(trace)
    if source == LogSource.SWF and known == ALEA:
        # Its records would be called damaged: they have more fields. This error says how to go on.
        format_of_log(trace)
    preset = known.preset if known is not None and source == LogSource.TABLE else None
    # Jobs that do not fit would be skipped, and a conversion must lose none.
    resources = dict.fromkeys(_resource_types(trace, source, preset), LARGEST)
    values = {
        "name": "log",
        "system": {"groups": [{"name": "node", "count": _NODES, "resources": resources}]},
        "trace": {
            "source": str(source),
            "path": str(trace.absolute()),
            "zero_run_time": "keep",
            "over_requested_time": "keep",
            **({} if preset is None else {"preset": preset}),
        },
        "dispatcher": "reject",
    }
    return check_document(Document(values), trace, overrides)


def _resource_types(trace: Path, source: LogSource, preset: str | None) -> Sequence[str]:
    """Return the resource types in a log; cores if it names none."""
    if preset is not None:
        return find_preset(preset).resource_types
    found: Sequence[str] = ()
    # The run's own encoding decides on records; names of columns need a guess before there is one.
    encoding = encoding_of(trace)
    if source == LogSource.SWF:
        found = types_in_records(trace, encoding)
    elif source == LogSource.TABLE:
        names = open_rows(trace, ",", encoding).names
        found = [n.removeprefix(REQUEST_PREFIX) for n in names if n.startswith(REQUEST_PREFIX)]
    return found or ["core"]


KINDS = ("log", "site")
"""Kinds of starters: a log on one machine, a site with all its rules."""

SCHEMA = "scenario.schema.json"


def starter_text(kind: str) -> str:
    """Return a starter scenario as YAML."""
    return (files("hpcsched.studies") / "starters" / f"{kind}.yaml").read_text(encoding="utf-8")


def log_starter_text(log: Path, tell: Callable[[str], None] = lambda _: None) -> str:
    """Return a starter scenario for a log, on the machine that its header or its jobs tell.

    Parameters
    ----------
    log
        The log.
    tell
        Called with what is found in the log.
    """
    look = look_at(log, ("easy",))
    for line in look_lines(look):
        tell(line)
    text = scenario_text(look.configurations[0], look.log, look.machine, look.objective)
    return f"# yaml-language-server: $schema={SCHEMA}\n{text}"


def write_starter(text: str, out: Path, *, force: bool = False) -> list[Path]:
    """Write a starter scenario, and the schema beside it; return the paths that were written."""
    schema = out.with_name(SCHEMA)
    content = scenario_schema(manager.registry())
    # The schema of an earlier scenario in the folder is the same file.
    written = [out] if _holds(schema, content) else [out, schema]
    for path in written:
        check_target(path, force=force)
    write_text(out, text)
    if schema in written:
        write_json(schema, content)
    return written


def _holds(path: Path, content: Any) -> bool:
    """Return True if a file is there and holds this content as JSON."""
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == content)
    except (OSError, ValueError):
        return False
