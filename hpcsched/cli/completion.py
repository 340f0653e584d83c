"""Completion in a shell: runs, key paths of scenarios, and names of plugins."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

_SCENARIO = ("scenario", "scenarios", "first")
"""Parameters of commands that hold a scenario's file."""


def offered_runs(incomplete: str) -> list[str]:
    """Return the runs and experiments that a beginning may mean, by name or path."""
    from hpcsched.report.run_choice import INDEX, RUNS
    from hpcsched.runs.files import MANIFEST

    marks = (MANIFEST, INDEX)
    there = RUNS.iterdir() if RUNS.is_dir() else ()
    named = [path.name for path in there if any((path / mark).is_file() for mark in marks)]
    typed = Path(incomplete)
    parent = typed if incomplete.endswith("/") else typed.parent
    inside = parent.iterdir() if parent.is_dir() else ()
    folders = [str(path) for path in inside if path.is_dir() and not path.name.startswith(".")]
    return sorted(text for text in {*named, *folders} if text.startswith(incomplete))


def offered_settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the settings `KEY.PATH=VALUE` that a beginning may mean.

    Keys are those of the scenario that the command line names, defaults included; without one they
    are the keys at the top. The values that are offered are names of plugins.
    """
    key, given, value = incomplete.partition("=")
    if given:
        return [f"{key}={name}" for name in _plugin_names(key) if name.startswith(value)]
    return [f"{path}=" for path in _key_paths(ctx.params) if path.startswith(key)]


def _plugin_names(key: str) -> list[str]:
    """Return the names that a key may have as its value; none if it names no plugin."""
    from hpcsched.plugins import manager
    from hpcsched.plugins.registry import KINDS
    from hpcsched.scenario.choices import tag_of

    registry = manager.registry()
    for kind in KINDS:
        # A scenario calls the source of its trace `trace`, and a queue order `order`.
        blocks = {kind, kind.removeprefix("queue_"), kind.removesuffix("_source")}
        steps = key.split(".")
        last = steps[-2:] if steps[-1] == tag_of(kind) else steps[-1:]
        if last[0] in blocks:
            return registry.names(kind)
    return []


def _key_paths(params: dict[str, Any]) -> list[str]:
    from hpcsched.errors import HpcschedError
    from hpcsched.scenario.loading import load_scenario
    from hpcsched.scenario.models import Scenario
    from hpcsched.scenario.resolved import resolved_values

    given = next((params[name] for name in _SCENARIO if params.get(name)), None)
    file = given[0] if isinstance(given, list | tuple) else given
    if file is not None:
        # A scenario that is not valid yet is just what --set may mend.
        try:
            return list(_paths(resolved_values(load_scenario(file)), ""))
        except HpcschedError:
            pass
    return sorted(Scenario.model_fields)


def _paths(value: Any, path: str) -> Iterator[str]:
    """Yield the key paths of all values within a value, in their order."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _paths(inside, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _paths(inside, f"{path}[{number}]")


def offered_kinds(incomplete: str) -> list[str]:
    """Return the kinds of plugin that a beginning may mean."""
    from hpcsched.plugins.registry import KINDS

    return _hyphened(KINDS, incomplete)


def offered_new_kinds(incomplete: str) -> list[str]:
    """Return the kinds for which a new package can be written that a beginning may mean."""
    from hpcsched.plugins.new_package import kinds

    return _hyphened(kinds(), incomplete)


def offered_plugins(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the plugins that a beginning may mean, of the kind that the command line names."""
    from hpcsched.plugins import manager

    kind = str(ctx.params.get("kind") or "").replace("-", "_")
    return [name for name in manager.registry().names(kind) if name.startswith(incomplete)]


def _hyphened(kinds: Iterable[str], incomplete: str) -> list[str]:
    names = [kind.replace("_", "-") for kind in kinds]
    return [name for name in names if name.startswith(incomplete)]
