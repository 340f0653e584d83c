"""Discovery of installed plugins."""

import importlib.metadata
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import pluggy

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, one_line, prints_to_stderr, remember_package
from hpcsched.plugins import spec
from hpcsched.plugins.index import built_in
from hpcsched.plugins.plugin_checks import check_registered
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import KINDS, Command
from hpcsched.version import __version__

ENTRY_POINT_GROUP = "hpcsched"
OFF_SWITCH = "HPCSCHED_EXTERNAL_PLUGINS"
"""Set this environment variable to `0` to leave out what other distributions bring, or to names of
distributions, with commas between them, to leave out all others."""

_COMMAND_NAME = re.compile(r"[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?")

# A stack: a fixture within a fixture gives back the outer registry, not the installed one.
_stand_ins: list[Registry] = []


def registry() -> Registry:
    """Return the registry of everything installed.

    Raises PluginError if a plugin is broken.
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


class AddedCommand(NamedTuple):
    """A command of another distribution.

    Attributes
    ----------
    distribution
        The distribution and its version, as messages name it.
    """

    command: Command
    distribution: str

    def load(self) -> Any:
        """Return the function or the group.

        Raises PluginError if it cannot be imported.
        """
        module, _, name = self.command.made_by.partition(":")
        try:
            with prints_to_stderr:
                return getattr(import_module(module), name)
        except FAULTS as error:
            raise PluginError(
                f"plugin {self.distribution}: the command {self.command.name!r} cannot be loaded:"
                f" {self.command.made_by}: {type(error).__name__}: {one_line(error)}"
            ) from error


@cache
def installed() -> Registry:
    """Return the registry of the installed plugins, built once."""
    return build_registry(external=_chosen())


@cache
def added_commands() -> dict[str, AddedCommand]:
    """Return the commands of other distributions, by name; none is imported.

    Raises PluginError if a plugin is broken, or two distributions add a command of one name.
    """
    hooks, origins = _hooks(_chosen(), ())
    found: dict[str, AddedCommand] = {}
    for implementation in hooks.hook.hpcsched_commands.get_hookimpls():
        name, version = origins[implementation.plugin]
        with prints_to_stderr:
            given = _call(implementation, "Command", name, version)
        for command in given:
            _check_command(command, f"plugin {name} {version}")
            other = found.get(command.name)
            if other is not None:
                raise PluginError(
                    f"plugin clash: {other.distribution} and {name} {version} both add the command"
                    f" {command.name!r}; uninstall one of them"
                )
            found[command.name] = AddedCommand(command, f"{name} {version}")
    return found


def _check_command(command: object, whose: str) -> None:
    if not isinstance(command, Command):
        raise PluginError(
            f"{whose}: hpcsched_commands must return hpcsched.Command objects,"
            f" found {type(command).__name__}"
        )
    if not _COMMAND_NAME.fullmatch(command.name):
        raise PluginError(
            f"{whose}: a command: expected one or two words as name, found {command.name!r}"
        )


def _chosen() -> bool | Collection[str]:
    """Return the distributions whose plugins take part: all, none, or those with these names."""
    given = os.environ.get(OFF_SWITCH) or "1"
    return given != "0" if given in ("0", "1") else given.replace(" ", "").split(",")


def build_registry(
    *, external: bool | Collection[str], modules: Iterable[ModuleType] = ()
) -> Registry:
    """Build a registry of built-in plugins and, on request, those of other distributions.

    Parameters
    ----------
    external
        True: include plugins of other distributions; names: those of these distributions alone.
    modules
        Modules with hooks that take part as if installed, under the name of their package.

    Raises PluginError if a plugin is broken.
    """
    manager, origins = _hooks(external, modules)
    result = Registry()
    # Before the others: a plugin that takes a built-in name is told about the clash with hpcsched.
    result.add_built_in(built_in())
    for kind in KINDS:
        for implementation in getattr(manager.hook, f"hpcsched_{kind}s").get_hookimpls():
            name, version = origins[implementation.plugin]
            with prints_to_stderr:
                given = _call(implementation, "Plugin", name, version)
            for one in given:
                hook = implementation.function.__name__
                plugin = check_registered(one, hook, kind, f"plugin {name} {version}")
                result.add(Installed(kind, plugin, name, version))
    return result


def _hooks(
    external: bool | Collection[str], modules: Iterable[ModuleType]
) -> tuple[pluggy.PluginManager, dict[object, tuple[str, str]]]:
    """Return the hooks of all that takes part, and the distribution and version of each module."""
    manager = pluggy.PluginManager(spec.PROJECT)
    manager.add_hookspecs(spec)
    origins: dict[object, tuple[str, str]] = {}

    def register(module: Any, distribution: str, version: str) -> None:
        try:
            manager.register(module)
            manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(
                f"plugin {distribution} {version} does not fit this hpcsched {__version__}:"
                f" {one_line(error)}"
            ) from error
        if not manager.get_hookcallers(module):
            raise PluginError(
                f"plugin {distribution} {version} registers nothing: no function in"
                f" {getattr(module, '__name__', module)} is marked with hpcsched.hookimpl"
            )
        origins[module] = (distribution, version)

    if external:
        for distribution, entry_point in _entry_points():
            name, version = distribution.name, distribution.version
            if external is not True and name not in external:
                continue
            with prints_to_stderr:
                loaded = _load(entry_point, name, version)
            register(loaded, name, version)
            remember_package(loaded, name, version)
    for module in modules:
        register(module, module.__name__.partition(".")[0], getattr(module, "__version__", "0"))
    return manager, origins


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


def _call(implementation: Any, of: str, name: str, version: str) -> tuple[Any, ...]:
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
            f"plugin {name} {version}: {hook} must return or yield several hpcsched.{of} objects,"
            f" found one {type(plugins).__name__}"
        )
    return plugins
