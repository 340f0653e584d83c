"""Scenarios for a first look at a log: one for each dispatcher, as commented YAML."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.errors import Finding, InputError
from hpcsched.plugins.registry import Registry
from hpcsched.studies.declared_file import cell_name
from hpcsched.studies.log_machine import Machine
from hpcsched.workload.log_recognition import BATSIM, PBS, SACCT, SWF, UTF_8, LogFormat

_LENIENT: Mapping[str, tuple[str, str]] = {
    "missing_requested_time": ("run_time", "a job without a requested time asked for what it took"),
    "malformed": ("skip", "damaged lines are counted and left out"),
    "unsorted": ("sort", "lines may be in any order"),
    "fractional_seconds": ("outward", "jobs are submitted, and run, in whole seconds"),
    "undecodable": ("replace", "bytes that are not of the encoding are replaced in names"),
}
"""Policies by key of a trace source: value, and what it means."""

_LAST = ("last", "a job that was requeued ended as its last record says")

_MORE: Mapping[LogFormat, Mapping[str, tuple[str, str]]] = {
    SWF: {"unit": ("{core: 1}", "each requested processor is one core")},
    BATSIM: {},
    SACCT: {
        "unknown_resource_type": ("ignore", "memory and devices are left out"),
        "time_zone": ("UTC", "the zone of the log's clocks, for local times"),
        "duplicate": _LAST,
    },
    PBS: {
        "unknown_resource_type": ("ignore", "memory and devices are left out"),
        "duplicate": _LAST,
    },
}

_OF_TABLES: Mapping[str, tuple[str, str]] = {
    "missing_units": ("skip", "rows without a number of units are counted and left out"),
    "missing_request": ("zero", "an amount that is not given is 0"),
}


class TrialLog(NamedTuple):
    """A log as scenarios name it.

    Attributes
    ----------
    jobs
        Largest number of jobs; None is all.
    skip
        Number of jobs before those that are replayed.
    """

    path: Path
    format: LogFormat
    jobs: int | None
    encoding: str = UTF_8
    skip: int = 0
    keys: Mapping[str, tuple[str, str]] = {}

    @property
    def part(self) -> dict[str, Any]:
        """Keys of a trace that select the jobs, with their values."""
        if self.jobs is None:
            return {}
        if self.skip:
            first = {"name": "first", "jobs": self.jobs, "skip": self.skip}
            return {"transforms": [first]}
        return {"jobs": self.jobs}


class Configuration(NamedTuple):
    """A dispatcher that is tried.

    Attributes
    ----------
    label
        Its name in tables, and of its scenario's file.
    """

    label: str
    declared: str


def configurations(names: Sequence[str], registry: Registry) -> list[Configuration]:
    """Return dispatchers by their names; the name of a queue order means a list in that order.

    Raises
    ------
    InputError
        A name is unknown, or given twice.
    """
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
        Configuration(name, name if name in dispatchers else f"{{name: list, order: {name}}}")
        for name in names
    ]


def trace_values(log: TrialLog) -> dict[str, Any]:
    """Return the trace of a log, with policies that pass over its flaws, as plain values."""
    values: dict[str, Any] = {"source": log.format.source, "path": str(log.path.absolute())}
    values |= log.part
    for key, (value, _) in _policies(log).items():
        values[key] = {"core": 1} if key == "unit" else value
    return values


def _policies(log: TrialLog) -> Mapping[str, tuple[str, str]]:
    """Return the policies for a log by key, each a value and its meaning."""
    encoding = (log.encoding, "the log is not UTF-8 text")
    other = {**({} if log.encoding == UTF_8 else {"encoding": encoding}), **log.keys}
    if log.format.preset is not None:
        preset = {"preset": (log.format.preset, log.format.called)}
        return {**preset, **_LENIENT, **_OF_TABLES, **other}
    return {**_LENIENT, **_MORE[log.format], **other}


def scenario_text(
    configuration: Configuration, log: TrialLog, machine: Machine, objective: str | None
) -> str:
    """Return the scenario of a dispatcher as commented YAML.

    Parameters
    ----------
    objective
        Name of the objective; None: the default.
    """
    stem = log.path.name.partition(".")[0]
    groups = [
        f"    - {{name: {name}, count: {count}, resources: {{{_flow(amounts)}}}}}"
        for name, count, amounts in machine.groups
    ]
    # YAML's flow style is JSON's; these plain words need no quotes.
    part = [f"  {key}: {json.dumps(value)}".replace('"', "") for key, value in log.part.items()]
    policies = [
        f"  {key}: {value}  # {meaning}" for key, (value, meaning) in _policies(log).items()
    ]
    lines = [
        f"# {configuration.label} on {log.path.name}, as 'hpcsched try' replays it.",
        f"name: {cell_name([stem, configuration.label])}",
        "system:",
        f"  # {machine.basis}",
        "  groups:",
        *groups,
        "trace:",
        f"  source: {log.format.source}",
        # JSON's quotes are YAML's, whatever a path has in it.
        f"  path: {json.dumps(str(log.path.absolute()), ensure_ascii=False)}",
        *part,
        *policies,
        "predictor: requested-time  # what users ask for",
        f"dispatcher: {configuration.declared}",
        *([] if objective is None else [f"objective: {objective}"]),
    ]
    return "\n".join(lines) + "\n"


def _flow(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {amount}" for name, amount in amounts.items())
