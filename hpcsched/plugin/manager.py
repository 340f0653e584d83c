"""Finds installed plugins and fills the registry."""

import importlib.metadata
import os
from functools import cache
from typing import Any

import pluggy
from pydantic import BaseModel

import hpcsched
from hpcsched.errors import PluginError
from hpcsched.plugin import spec
from hpcsched.plugin.registry import KINDS, Installed, Plugin, Registry

ENTRY_POINT_GROUP = "hpcsched"
OFF_SWITCH = "HPCSCHED_EXTERNAL_PLUGINS"
"""Set this environment variable to `0` to leave out plugins of other distributions."""


@cache
def registry() -> Registry:
    """Return the registry of everything installed; raises PluginError for a broken plugin."""
    return build_registry(external=os.environ.get(OFF_SWITCH) != "0")


def build_registry(*, external: bool) -> Registry:
    """Build a registry of the built-in plugins and, on request, those of other distributions."""
    from hpcsched.plugin import builtin  # noqa: PLC0415 (builtin imports all of the floors below)

    manager = pluggy.PluginManager(spec.PROJECT)
    manager.add_hookspecs(spec)
    origins: dict[object, tuple[str, str]] = {}

    def register(module: Any, distribution: str, version: str) -> None:
        try:
            manager.register(module)
            manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(
                f"plugin {distribution} {version} does not fit this hpcsched"
                f" {hpcsched.__version__}: {error}"
            ) from error
        origins[module] = (distribution, version)

    register(builtin, "hpcsched", hpcsched.__version__)
    if external:
        for distribution in importlib.metadata.distributions():
            for entry_point in distribution.entry_points:
                if entry_point.group == ENTRY_POINT_GROUP:
                    name, version = distribution.name, distribution.version
                    register(_load(entry_point, name, version), name, version)

    result = Registry()
    for kind in KINDS:
        for implementation in getattr(manager.hook, f"hpcsched_{kind}s").get_hookimpls():
            distribution_name, version = origins[implementation.plugin]
            for plugin in _call(implementation, kind, distribution_name, version):
                result.add(Installed(kind, plugin, distribution_name, version))
    return result


def _load(entry_point: importlib.metadata.EntryPoint, name: str, version: str) -> Any:
    try:
        return entry_point.load()
    except Exception as error:
        raise PluginError(
            f"plugin {name} {version} cannot be loaded:"
            f" {entry_point.value}: {type(error).__name__}: {error}"
        ) from error


def _call(implementation: Any, kind: str, name: str, version: str) -> list[Plugin]:
    hook = implementation.function.__name__
    try:
        plugins = list(implementation.function())
    except Exception as error:
        raise PluginError(
            f"plugin {name} {version} failed in {hook}: {type(error).__name__}: {error}"
        ) from error
    for plugin in plugins:
        if not isinstance(plugin, Plugin):
            raise PluginError(
                f"plugin {name} {version}: {hook} must return hpcsched.Plugin objects,"
                f" found {type(plugin).__name__}"
            )
        if not (isinstance(plugin.params, type) and issubclass(plugin.params, BaseModel)):
            raise PluginError(
                f"plugin {name} {version}: the parameters of the {kind} {plugin.name!r}"
                " must be a model derived from hpcsched.Params"
            )
    return plugins
