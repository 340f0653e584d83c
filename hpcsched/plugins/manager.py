"""Discovery of installed plugins."""

import importlib.metadata
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import pluggy

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, one_line, prints_to_stderr, remember_package
from hpcsched.plugins import spec
from hpcsched.plugins.index import built_in
from hpcsched.plugins.plugin_checks import check_registered
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import KINDS, Command, Plugin
from hpcsched.version import __version__

ENTRY_POINT_GROUP = "hpcsched"
OFF_SWITCH = "HPCSCHED_EXTERNAL_PLUGINS"
"""Set this environment variable to `0` to leave out what other distributions bring, or to names of
distributions, with commas between them, to leave out all others."""

_COMMAND_NAME = re.compile(r"[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?")

_T = TypeVar("_T")

# A stack: a fixture within a fixture gives back the outer registry, not the installed one.
_stand_ins: list[Registry] = []


def registry() -> Registry:
    """Return the registry of everything installed; raises PluginError if a plugin is broken."""
    return _stand_ins[-1] if _stand_ins else installed()


@contextmanager
def stand_in(other: Registry) -> Iterator[Registry]:
    """Replace the result of `registry`, so that tests can use plugins that are not installed."""
    _stand_ins.append(other)
    try:
        yield other
    finally:
        _stand_ins.pop()


def register(*modules: ModuleType) -> None:
    """Use the plugins of modules in this process as if they were installed.

    For notebooks and scripts, whose own module lies beside them: `import my_rule`, then
    `hpcsched.register(my_rule)`. A later call replaces the modules of an earlier one. Cells of
    experiments run in other processes, which have installed plugins alone.

    Raises
    ------
    PluginError
        If a module registers nothing, or its plugin is broken or has the name of another.
    """
    with_modules = build_registry(external=_chosen(), modules=modules)
    _stand_ins[:] = [with_modules]


class AddedCommand(NamedTuple):
    """A command of another distribution, which messages name with its version."""

    command: Command
    distribution: str

    def load(self) -> Any:
        """Return the function or group; raises PluginError if it cannot be imported."""
        name, made_by = self.command.name, self.command.made_by
        what = f"the command {name!r} cannot be loaded: {made_by}"
        with _blamed(f"plugin {self.distribution}: {what}"):
            module, _, attribute = made_by.partition(":")
            return getattr(import_module(module), attribute)


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """Turn an exception of a plugin into a PluginError that begins with the subject."""
    try:
        with prints_to_stderr:
            yield
    except FAULTS as error:
        raise PluginError(f"{what}: {type(error).__name__}: {one_line(error)}") from error


@cache
def installed() -> Registry:
    """Return the registry of the installed plugins, built once."""
    return build_registry(external=_chosen())


@cache
def added_commands() -> dict[str, AddedCommand]:
    """Return the commands of other distributions, by name; none is imported."""
    found: dict[str, AddedCommand] = {}
    for command, name, version in _Hooks(_chosen(), ()).returned("commands", Command):
        whose = f"{name} {version}"
        if not _COMMAND_NAME.fullmatch(command.name):
            message = f"expected one or two words as name, found {command.name!r}"
            raise PluginError(f"plugin {whose}: a command: {message}")
        other = found.get(command.name)
        if other is not None:
            raise PluginError(
                f"plugin clash: {other.distribution} and {whose} both add the command"
                f" {command.name!r}; uninstall one of them"
            )
        found[command.name] = AddedCommand(command, whose)
    return found


def _chosen() -> bool | Collection[str]:
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
    hooks = _Hooks(external, modules)
    result = Registry()
    # Before the others: a plugin that takes a built-in name is told about the clash with hpcsched.
    result.add_built_in(built_in())
    for kind in KINDS:
        for plugin, name, version in hooks.returned(f"{kind}s", Plugin):
            check_registered(plugin, kind, f"plugin {name} {version}")
            result.add(Installed(kind, plugin, name, version))
    return result


class _Hooks:
    """The hooks of all that takes part, with distribution and version of each module."""

    def __init__(self, external: bool | Collection[str], modules: Iterable[ModuleType]) -> None:
        self._manager = pluggy.PluginManager(spec.PROJECT)
        self._manager.add_hookspecs(spec)
        self._origins: dict[object, tuple[str, str]] = {}
        for distribution, entry_point in _entry_points():
            name, version = distribution.name, distribution.version
            if external is False or (external is not True and name not in external):
                continue
            what = f"plugin {name} {version} cannot be loaded by hpcsched {__version__}"
            with _blamed(f"{what}: {entry_point.value}"):
                loaded = entry_point.load()
            self._register(loaded, name, version)
            remember_package(loaded, name, version)
        for module in modules:
            name = module.__name__.partition(".")[0]
            self._register(module, name, getattr(module, "__version__", "0"))

    def _register(self, module: Any, name: str, version: str) -> None:
        try:
            self._manager.register(module)
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(
                f"plugin {name} {version} does not fit this hpcsched {__version__}:"
                f" {one_line(error)}"
            ) from error
        if not self._manager.get_hookcallers(module):
            raise PluginError(
                f"plugin {name} {version} registers nothing: no function in"
                f" {getattr(module, '__name__', module)} is marked with hpcsched.hookimpl"
            )
        self._origins[module] = (name, version)

    def returned(self, what: str, of: type[_T]) -> Iterator[tuple[_T, str, str]]:
        """Yield all that the hooks of one name return, with distribution and version."""
        hook = f"hpcsched_{what}"
        wanted = f"hpcsched.{of.__name__} objects, found"
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            name, version = self._origins[implementation.plugin]
            with _blamed(f"plugin {name} {version} failed in {hook}"):
                given = implementation.function()
                # A generator's errors come as it is listed and not as it is called.
                several = tuple(given) if isinstance(given, Iterable) else given
            # A plugin itself is a kind of tuple where it is a command.
            if not isinstance(several, tuple) or isinstance(given, of):
                raise PluginError(
                    f"plugin {name} {version}: {hook} must return or yield several {wanted} one"
                    f" {type(given).__name__}"
                )
            for one in several:
                if not isinstance(one, of):
                    found = type(one).__name__
                    message = f"plugin {name} {version}: {hook} must return {wanted} {found}"
                    raise PluginError(message)
                yield one, name, version


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
