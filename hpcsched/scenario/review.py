"""Review: warnings about legal but suspicious settings of a scenario."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from hpcsched.dispatching.rules.multifactor_params import Weights
from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.parameters import InputFile
from hpcsched.paths import FileState, file_state, unreadable, unset_variables
from hpcsched.plugin_faults import FAULTS, raised
from hpcsched.registration import SEES_RUN_TIME
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.document import by_position
from hpcsched.scenario.key_path import (
    KeyPath,
    blocks,
    marked,
    marks_of,
    parse_key_path,
    show_key_path,
    texts,
)
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.scenario.models import Scenario
from hpcsched.workload.log_recognition import BATSIM, PBS, SACCT, SWF, LogFormat, recognised
from hpcsched.workload.site_policies import OTHERS

Check = Callable[[LoadedScenario], Iterable[Finding]]
"""Check of a scenario, for readers of files that make several of one."""


def review(loaded: LoadedScenario) -> list[Finding]:
    """Return all warnings about a scenario, by position.

    Raises PluginError if a plugin fails in its own review.
    """
    findings = [
        *_plugin_cautions(loaded),
        *(
            _finding(loaded, "not-reproducible", f"results will not be reproducible: {why}", key)
            for key, why in not_reproducible(loaded.scenario)
        ),
        *missing_inputs(loaded),
        *weights_without_tables(loaded),
    ]
    return by_position(findings, str(loaded.path))


def weights_without_tables(loaded: LoadedScenario) -> Iterator[Finding]:
    """Yield a finding for each weight of a factor for which the scenario has no figures.

    Weights that nobody wrote are left alone. Users in no account of a tree are told of, too.
    """
    scenario = loaded.scenario
    accounts = scenario.accounts
    tables = {
        "fair_share": (bool(accounts), "accounts", "shares of all users are equal"),
        "qos": (any(one.priority for one in scenario.qos.values()), "qos", "the factor is 0"),
        "partition": (any(p.priority for p in scenario.partitions), "partitions", "it is 0"),
    }
    for path, block in blocks(scenario.dispatcher, ("dispatcher",)):
        if not isinstance(block, Weights):
            continue
        for name, (has, table, else_) in tables.items():
            if not has and name in block.model_fields_set and getattr(block, name):
                message = f"expected {table} with what this weighs, found none: {else_}"
                yield _finding(loaded, "weight-without-table", message, (*path, name))
    if accounts and OTHERS not in accounts and not any(a.other_users for a in accounts.values()):
        message = (
            f"users that no account names have 1 share each in an account {OTHERS!r} with 1 share;"
            " give one account other_users: true"
        )
        yield _finding(loaded, "implicit-account", message, ("accounts",))


def missing_inputs(
    loaded: LoadedScenario, severity: Literal["error", "warning"] = "warning"
) -> list[Finding]:
    """Return a finding for each missing input file, folder in its place, or unset variable."""
    findings = []
    for path, block in blocks(loaded.scenario):
        for name, mark in marked(type(block), InputFile).items():
            for key, text in texts(getattr(block, name), (*path, name)):
                unset, rule, how = unset_variables(text), "path-not-found", severity
                message = (
                    f"the environment variable {unset[0]} is not set" if unset else unreadable(text)
                )
                if message is None and not mark.or_folder and Path(text).is_dir():
                    message = f"expected a file, found the folder {text}"
                    rule, how = "not-a-file", "error"
                if message is not None:
                    findings.append(_finding(loaded, rule, message, key, how))
    return findings


def trace_cautions(loaded: LoadedScenario, rule: str) -> list[Finding]:
    """Return the warnings of one rule about the trace, as in `review`.

    Raises PluginError if a plugin fails in its own review.
    """
    found = _plugin_cautions(loaded, ("trace",))
    return [finding for finding in found if finding.rule == rule]


def _plugin_cautions(loaded: LoadedScenario, within: KeyPath = ()) -> Iterator[Finding]:
    """Yield the findings of plugins' own reviews of their parameters, at and below a key path."""
    system = loaded.scenario.system.build()
    for path, block in blocks(loaded.scenario):
        if path[: len(within)] != within:
            continue
        if isinstance(block, Choice):
            installed = loaded.registry.get(block.plugin_kind, block.plugin_name)
        elif len(path) == 2 and path[0] == "metrics":
            installed = loaded.registry.get("metric", str(path[1]))
        else:
            continue
        plugin = installed.plugin
        if SEES_RUN_TIME in plugin.capabilities:
            message = f"{plugin.name} is shown real run times, which no real system can foresee"
            yield _finding(loaded, "sees-run-time", message, path)
        try:
            for caution in plugin.review(block, system) if plugin.review else ():
                key = path + (parse_key_path(caution.key) if caution.key else ())
                yield _finding(loaded, caution.rule, caution.message, key, caution.severity)
        except FAULTS as error:
            raise PluginError(f"{installed.origin}: its review {raised(error)}") from error


def not_reproducible(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Yield key path and reason of every choice that makes results depend on the machine."""
    for path, block in blocks(scenario):
        yield from ((path + key, why) for key, why in marks_of(block))


def _finding(
    loaded: LoadedScenario,
    rule: str,
    message: str,
    key: KeyPath,
    severity: Literal["error", "warning"] = "warning",
) -> Finding:
    return Finding(rule, message, loaded.place(key), show_key_path(key), severity)


_READ = {
    SWF.source: {"swf", "alea"},
    BATSIM.source: {"batsim"},
    SACCT.source: {"slurm-sacct"},
    PBS.source: {"pbs-accounting"},
}
"""Sources that read a format, by the source that is named after it."""

_SOURCES = frozenset().union(*_READ.values())


def other_format(loaded: LoadedScenario) -> list[Finding]:
    """Return an error if the log is of a format that its trace source does not read.

    Only the beginning of the log is read. Sources that read any columns, such as `table`, and logs
    of no known format are left alone.
    """
    trace = loaded.scenario.trace
    path = getattr(trace, "path", None)
    if trace.plugin_name not in _SOURCES or not isinstance(path, str):
        return []
    try:
        if not Path(path).is_file() or not Path(path).stat().st_size:
            return []
        found = _recognised_as_of(path, file_state(Path(path)))
    # The source says what is wrong with a file that cannot be read.
    except (InputError, OSError):
        return []
    if found is None or found.preset or trace.plugin_name in _READ.get(found.source, _SOURCES):
        return []
    message = (
        f"expected a log that {trace.plugin_name} reads, found {found.called} ({path});"
        f" 'source: {found.source}' reads it"
    )
    return [Finding("other-format", message, loaded.place("trace.source"), "trace.source")]


@cache
def _recognised_as_of(path: str, _state: FileState) -> LogFormat | None:
    """Return the format of a log, which is looked at once for all cells of an experiment."""
    return recognised(Path(path))


# The names are part of the interface: SARIF output and comments of users refer to them.
RULES = MappingProxyType(
    {
        "bad-override": "A `--set` is malformed, or its key path does not exist.",
        "bad-value": "The value is not one that the key accepts.",
        "cannot-write": "The file cannot be written.",
        "duplicate-key": "A mapping has the same key twice.",
        "duplicate-name": "Two things of one kind have the same name.",
        "equal-replicas": "Replicas of a cell will be equal runs, since nothing in them is random.",
        "implicit-account": "Users that no account names are in an account that nobody declares.",
        "larger-than-system": "More than a hundredth of the records ask for more than the system.",
        "merge-key": "A merge key (<<) is used, which YAML 1.2 does not have.",
        "missing-key": "A required key is missing.",
        "no-folder": "The folder for a file is not given.",
        "no-scenarios": "The folder holds no YAML file.",
        "no-waits": "The trace does not record wait times.",
        "not-a-file": "A path leads to a folder where a file is expected.",
        "not-checked": "A file of variants or ranges is checked without its scenario.",
        "not-installed": "The Python package of a solver or executor is not installed.",
        "not-live": "The option cannot be used in live mode, or contradicts the cluster.",
        "no-devices": "Something does not go with devices that are told apart.",
        "no-preemption": "The option does not go with preemption.",
        "not-offline": "The option cannot be used in off-line planning.",
        "not-recorded": "The option cannot be used with a dispatcher that follows recorded starts.",
        "not-reproducible": "The option makes results depend on the machine.",
        "other-format": "The log is of a format that the trace source does not read.",
        "other-machine": "The header of the log states another machine than the system.",
        "outages-beside-jobs": "All outages end before the first job, or begin after the last one.",
        "path-not-found": "An input file does not exist, or a variable in its path is not set.",
        "sees-run-time": "A plugin is shown real run times, which no real system knows in advance.",
        "solver-without-plan": "The solver had no plan in more than a tenth of its rounds.",
        "syntax": "The file is not valid YAML, or has several documents.",
        "unknown-format": "The file's name does not tell its format.",
        "unknown-group": "The system has no node group of this name.",
        "unknown-key": "The mapping cannot have this key.",
        "unknown-kind": "There is no such kind of plugin.",
        "unknown-node": "The system has no node of this name.",
        "unknown-plugin": "No installed plugin of this kind has the name.",
        "unknown-preset": "No known data set has the name.",
        "unknown-qos": "The scenario has no QOS of this name.",
        "unknown-resource-type": "No node group has this resource type.",
        "unknown-system": "No system of this name is found.",
        "unreadable-file": "The file cannot be opened, or is not UTF-8 text.",
        "weight-without-table": "A weight counts for nothing, as there is nothing to weigh.",
    }
)
"""One sentence a rule. Plugins add rules of their own in their cautions."""
