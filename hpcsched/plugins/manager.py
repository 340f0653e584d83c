"""Discovery of installed plugins."""

import difflib
import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import pluggy

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, one_line, prints_to_stderr, remember_package
from hpcsched.plugins import spec
from hpcsched.plugins.index import built_in
from hpcsched.plugins.registered_check import check_registered
from hpcsched.plugins.registry import KINDS, Installed, Plugin, Registry
from hpcsched.version import __version__

ENTRY_POINT_GROUP = "hpcsched"
OFF_SWITCH = "HPCSCHED_EXTERNAL_PLUGINS"
"""Set this environment variable to `0` to leave out plugins of other distributions."""


# A stack: a fixture within a fixture gives back the outer registry, not the installed one.
_stand_ins: list[Registry] = []


def registry() -> Registry:
    """Return the registry of everything installed.

    Raises
    ------
    PluginError
        If a plugin is broken.
    """
    return _stand_ins[-1] if _stand_ins else installed()


@contextmanager
def stand_in(other: Registry) -> Iterator[None]:
    """Replace the result of `registry`, so that tests can use plugins that are not installed."""
    _stand_ins.append(other)
    try:
        yield
    finally:
        _stand_ins.pop()


@cache
def installed() -> Registry:
    """Return the registry of the installed plugins, built once."""
    return build_registry(external=os.environ.get(OFF_SWITCH) != "0")


def build_registry(*, external: bool, modules: Iterable[ModuleType] = ()) -> Registry:
    """Build a registry of built-in plugins and, on request, those of other distributions.

    Parameters
    ----------
    modules
        Modules with hooks that take part as if installed, under the name of their package.

    Raises
    ------
    PluginError
        If a plugin is broken.
    """
    manager = pluggy.PluginManager(spec.PROJECT)
    manager.add_hookspecs(spec)
    origins: dict[object, tuple[str, str]] = {}

    def register(module: Any, distribution: str, version: str) -> None:
        misfit = f"plugin {distribution} {version} does not fit this hpcsched {__version__}"
        unknown = _unknown_hook(manager, module)
        if unknown is not None:
            raise PluginError(f"{misfit}: {unknown}")
        try:
            manager.register(module)
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(f"{misfit}: {one_line(error)}") from error
        if not manager.get_hookcallers(module):
            raise PluginError(
                f"plugin {distribution} {version} registers nothing: no function in"
                f" {getattr(module, '__name__', module)} is marked with hpcsched.hookimpl"
            )
        origins[module] = (distribution, version)

    if external:
        for distribution, entry_point in _entry_points():
            name, version = distribution.name, distribution.version
            with prints_to_stderr:
                loaded = _load(entry_point, name, version)
            register(loaded, name, version)
            remember_package(loaded, name, version)
    for module in modules:
        register(module, module.__name__.partition(".")[0], getattr(module, "__version__", "0"))

    result = Registry()
    # Before the others: a plugin that takes a built-in name is told about the clash with hpcsched.
    result.add_built_in(built_in())
    for kind in KINDS:
        for implementation in getattr(manager.hook, f"hpcsched_{kind}s").get_hookimpls():
            distribution_name, version = origins[implementation.plugin]
            with prints_to_stderr:
                plugins = _call(implementation, kind, distribution_name, version)
            for plugin in plugins:
                result.add(Installed(kind, plugin, distribution_name, version))
    return result


def _entry_points() -> Iterator[
    tuple[importlib.metadata.Distribution, importlib.metadata.EntryPoint]
]:
    """Yield entry points; of two distributions of one name, the first on the path is the one."""
    seen = set()
    for distribution in importlib.metadata.distributions():
        entry_points = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
        name = re.sub(r"[-_.]+", "-", distribution.name).lower() if entry_points else ""
        if entry_points and name not in seen:
            seen.add(name)
            for entry_point in entry_points:
                yield distribution, entry_point


def _load(entry_point: importlib.metadata.EntryPoint, name: str, version: str) -> Any:
    try:
        return entry_point.load()
    except FAULTS as error:
        missing = error.name or "" if isinstance(error, ImportError) else ""
        what = f"plugin {name} {version} cannot be loaded"
        hint = ""
        if missing.partition(".")[0] == "hpcsched":
            what = f"plugin {name} {version} does not fit this hpcsched {__version__}"
        elif isinstance(error, ModuleNotFoundError):
            hint = f"; install what it needs, or uninstall {name}"
        raise PluginError(
            f"{what}: {entry_point.value}: {type(error).__name__}: {one_line(error)}{hint}"
        ) from error


def _unknown_hook(manager: pluggy.PluginManager, module: Any) -> str | None:
    """Return a marked function of a module that is no hook, in words; None if all are hooks."""
    hooks = [name for name in vars(spec) if name.startswith("hpcsched_")]
    for name in dir(module):
        if name not in hooks and manager.parse_hookimpl_opts(module, name) is not None:
            close = difflib.get_close_matches(name, hooks, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(hooks)}"
            return f"unknown hook {name!r}; {hint}"
    return None


def _call(implementation: Any, kind: str, name: str, version: str) -> tuple[Plugin, ...]:
    hook = implementation.function.__name__
    try:
        returned = implementation.function()
        # A hook may be a generator, so its errors come as it is listed and not as it is called.
        plugins = tuple(returned) if isinstance(returned, Iterable) else returned
    except FAULTS as error:
        raise PluginError(
            f"plugin {name} {version} failed in {hook}: {type(error).__name__}: {one_line(error)}"
        ) from error
    if not isinstance(plugins, tuple):
        raise PluginError(
            f"plugin {name} {version}: {hook} must return or yield several hpcsched.Plugin objects,"
            f" found one {type(plugins).__name__}"
        )
    whose = f"plugin {name} {version}"
    return tuple(check_registered(plugin, hook, kind, whose) for plugin in plugins)
