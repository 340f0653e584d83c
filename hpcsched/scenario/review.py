"""Review: warnings about legal but suspicious settings of a scenario."""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from hpcsched.errors import Finding, PluginError
from hpcsched.parameters import InputFile
from hpcsched.path_variables import unset_variables
from hpcsched.paths import unreadable
from hpcsched.plugin_faults import FAULTS, raised
from hpcsched.plugins.registry import SEES_RUN_TIME, Installed
from hpcsched.registration import caution_fault
from hpcsched.scenario.choices import Choice
from hpcsched.scenario.key_path import KeyPath, parse_key_path, show_key_path
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.positions import by_position
from hpcsched.scenario.walk import blocks, mark_of, marks_of, texts
from hpcsched.system.system import System

Check = Callable[[LoadedScenario], Iterable[Finding]]
"""Check of a scenario, for readers of files that make several of one."""

_ALIKE = 0.8
"""Similarity of two names, from 0 to 1, above which one is taken for a slip of the pen."""


def review(loaded: LoadedScenario) -> list[Finding]:
    """Return all warnings about a scenario, by position.

    Raises
    ------
    PluginError
        If a plugin fails in its own review.
    """
    findings = [
        *loaded.former,
        *_plugin_cautions(loaded),
        *(
            _finding(loaded, "not-reproducible", f"results will not be reproducible: {why}", key)
            for key, why in not_reproducible(loaded.scenario)
        ),
        *_similar_resource_types(loaded),
        *_nothing_to_kill(loaded),
        *_plans_all_partitions(loaded),
        *missing_inputs(loaded),
    ]
    return by_position(findings, str(loaded.path))


def missing_inputs(
    loaded: LoadedScenario, severity: Literal["error", "warning"] = "warning"
) -> list[Finding]:
    """Return a finding for each missing input file, folder in its place, or unset variable."""
    findings = []
    for path, block in blocks(loaded.scenario):
        for name, field in type(block).model_fields.items():
            mark = mark_of(field, InputFile)
            if mark is None:
                continue
            for key, text in texts(getattr(block, name), (*path, name)):
                unset = unset_variables(text)
                message = (
                    f"the environment variable {unset[0]} is not set" if unset else unreadable(text)
                )
                if message is None and not mark.or_folder and Path(text).is_dir():
                    message = f"expected a file, found the folder {text}"
                    findings.append(_finding(loaded, "not-a-file", message, key, "error"))
                    continue
                if message is None:
                    continue
                findings.append(_finding(loaded, "path-not-found", message, key, severity))
    return findings


def trace_cautions(loaded: LoadedScenario, rule: str) -> list[Finding]:
    """Return the warnings of one rule about the trace, as in `review`.

    Raises
    ------
    PluginError
        If the trace source fails in its own review.
    """
    system, trace = loaded.scenario.system.build(), loaded.scenario.trace
    installed = loaded.registry.get(trace.plugin_kind, trace.plugin_name)
    found = _cautions(loaded, installed, ("trace",), trace, system)
    return [finding for finding in found if finding.rule == rule]


def _plugin_cautions(loaded: LoadedScenario) -> Iterator[Finding]:
    system = loaded.scenario.system.build()
    for path, block in blocks(loaded.scenario):
        installed = _plugin_of(loaded, path, block)
        if installed is None:
            continue
        plugin = installed.plugin
        if SEES_RUN_TIME in plugin.capabilities:
            message = f"{plugin.name} is shown real run times, which no real system can foresee"
            yield _finding(loaded, "sees-run-time", message, path)
        yield from _cautions(loaded, installed, path, block, system)


def _cautions(
    loaded: LoadedScenario, installed: Installed, path: KeyPath, block: BaseModel, system: System
) -> Iterator[Finding]:
    """Yield the findings of a plugin's own review of its parameters."""
    plugin = installed.plugin
    try:
        cautions = list(plugin.review(block, system)) if plugin.review else []
    except FAULTS as error:
        raise PluginError(f"{installed.origin}: its review {raised(error)}") from error
    for caution in cautions:
        fault = caution_fault(caution)
        if fault is not None:
            raise PluginError(f"{installed.origin}: its review: {fault}")
        key = path + (parse_key_path(caution.key) if caution.key else ())
        yield _finding(loaded, caution.rule, caution.message, key, caution.severity)


def _plugin_of(loaded: LoadedScenario, path: KeyPath, block: BaseModel) -> Installed | None:
    if isinstance(block, Choice):
        return loaded.registry.get(block.plugin_kind, block.plugin_name)
    if len(path) == 2 and path[0] == "metrics":
        return loaded.registry.get("metric", str(path[1]))
    return None


def not_reproducible(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    """Yield key path and reason of every choice that makes results depend on the machine."""
    for path, block in blocks(scenario):
        yield from ((path + key, why) for key, why in marks_of(block))


def _similar_resource_types(loaded: LoadedScenario) -> Iterator[Finding]:
    """Warn of resource types such as `core` and `cores` that never occur in one group."""
    groups = loaded.scenario.system.groups
    names = list(dict.fromkeys(name for group in groups for name in group.resources))
    for first, second in combinations(names, 2):
        apart = not any({first, second} <= set(group.resources) for group in groups)
        # Two types in one group, such as gpu and gpu2, were told apart on purpose.
        if apart and get_close_matches(second, [first], cutoff=_ALIKE):
            where = next(n for n, group in enumerate(groups) if second in group.resources)
            message = f"{first} and {second} are two resource types; is one of them misspelt?"
            key: KeyPath = ("system", "groups", where, "resources", second)
            yield _finding(loaded, "similar-names", message, key)


def _nothing_to_kill(loaded: LoadedScenario) -> Iterator[Finding]:
    """Warn of killing at the requested time if the trace clips run times to it."""
    scenario = loaded.scenario
    # A third party's trace source need not have this parameter.
    cut = getattr(scenario.trace, "over_requested_time", None) == "clip"
    if scenario.simulation.kill_at_requested_time and cut:
        message = "no job is left to kill: the trace clips run times over the requested time"
        key: KeyPath = ("simulation", "kill_at_requested_time")
        yield _finding(loaded, "nothing-to-kill", message, key)


def _plans_all_partitions(loaded: LoadedScenario) -> Iterator[Finding]:
    """Yield a warning where a CP dispatcher plans all jobs by default, on several partitions."""
    groups = {partition.groups for partition in loaded.scenario.partitions}
    if len(groups) < 2:
        return
    for path, block in blocks(loaded.scenario):
        if getattr(block, "jobs", None) == "all" and "jobs" not in block.model_fields_set:
            message = (
                "jobs of all partitions are planned together. On a busy site with limits of users"
                " that had a mean bounded slowdown of 79, EASY 69 and `jobs: fitting`, which plans"
                " the jobs that could start now, 49; on a site without such limits it was ahead of"
                " both. Set `jobs: fitting` and compare; `jobs: all` is the default without this"
                " warning"
            )
            yield _finding(loaded, "plans-all-partitions", message, path)


def _finding(
    loaded: LoadedScenario,
    rule: str,
    message: str,
    key: KeyPath,
    severity: Literal["error", "warning"] = "warning",
) -> Finding:
    return Finding(rule, message, loaded.place(key), show_key_path(key), severity)
