"""Faults of plugins: the plugin at fault, and the one form of messages about it.

A message names the kind and the name of the plugin, with its distribution in brackets unless that
is hpcsched itself: `allocator coolest (hpcsched-example 0.1): raised KeyError: 3`.
"""

import logging
import sys
import threading
import traceback
import weakref
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from types import ModuleType
from typing import NamedTuple, TextIO

from hpcsched.errors import HpcschedError, PluginError

_log = logging.getLogger(__name__)

HOME = "hpcsched"
"""The distribution of bundled plugins."""

FAULTS = (Exception, SystemExit)
"""What counts as a fault of a plugin: its `sys.exit` must not end a command without a word."""


class PluginOrigin(NamedTuple):
    """Kind, name and distribution of a plugin."""

    kind: str
    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        whose = f" ({self.distribution} {self.version})" if self.is_third_party else ""
        return f"{spoken(self.kind)} {self.name}{whose}"

    @property
    def is_third_party(self) -> bool:
        """True unless hpcsched itself brings the plugin."""
        return self.distribution != HOME


_of_objects: dict[int, tuple[weakref.ref[object], PluginOrigin]] = {}
_of_packages: dict[str, tuple[str, str]] = {}
"""Distributions of third parties and their versions, by the package of their plugins."""

_of_classes: "weakref.WeakKeyDictionary[type, PluginOrigin]" = weakref.WeakKeyDictionary()


def spoken(kind: str) -> str:
    """Return a kind of plugin as messages call it, such as `queue order`."""
    return kind.replace("_", " ")


def remember(built: object, origin: PluginOrigin) -> None:
    """Remember the plugin that an object comes from."""
    key = id(built)
    try:
        alive = weakref.ref(built, lambda _: _of_objects.pop(key, None))
    except TypeError:
        # Tuples and classes with slots cannot be referred to weakly: their class stands for them,
        # if no other plugin may use it.
        if type(built).__module__.partition(".")[0] not in (HOME, "builtins"):
            _of_classes[type(built)] = origin
    else:
        _of_objects[key] = alive, origin


def remember_package(module: ModuleType, distribution: str, version: str) -> None:
    """Remember the distribution of a module with hooks, for faults outside of its objects."""
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    _of_packages[package or module.__name__] = distribution, version


def origin_of(built: object) -> PluginOrigin | None:
    """Return the plugin that an object comes from; None if it was not built by its factory."""
    remembered = _of_objects.get(id(built))
    return _of_classes.get(type(built)) if remembered is None else remembered[1]


def is_third_party(built: object) -> bool:
    """Return True if an object comes from a plugin of a third party."""
    origin = origin_of(built)
    return origin is not None and origin.is_third_party


def named(kind: str, built: object, name: str | None = None) -> str:
    """Return a plugin as messages name it; `name` stands in for an unknown origin."""
    origin = origin_of(built)
    # A wrapper of one plugin in another is remembered as the outer one, whose kind may differ.
    if origin is not None and origin.kind == kind:
        return str(origin)
    return f"{spoken(kind)} {name or type(built).__name__}"


def one_line(error: BaseException) -> str:
    """Return the text of an exception, with spaces for its line breaks."""
    return " ".join(str(error).split())


def raised(error: BaseException) -> str:
    """Return the end of a message about an exception: `raised KeyError: 3`."""
    return f"raised {type(error).__name__}: {one_line(error)}"


def log_traceback(error: BaseException) -> None:
    """Log the traceback of a fault that ends nothing, for the author of the plugin."""
    _log.info("%s", "".join(traceback.format_exception(error)).rstrip())


class _PrintsToStderr(ContextDecorator):
    """Context in which standard output is standard error, for all threads."""

    def __init__(self) -> None:
        # Runs may overlap in several threads: the last one to end puts the stream back.
        self._lock, self._depth = threading.Lock(), 0
        self._before: TextIO = sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._before, sys.stdout = sys.stdout, sys.stderr
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                sys.stdout = self._before


prints_to_stderr = _PrintsToStderr()
"""Context, or decorator, of code that calls plugins: what they print goes to standard error.

The standard output of a command is for its results, which other programs read."""


def culprit(error: BaseException) -> PluginOrigin | None:
    """Return the plugin of a third party in which an exception was raised; None if in none.

    Of plugins that call each other, it is the innermost: the one nearest to the line that failed.
    """
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        # The names of locals are those of the plugin's code; methods call their object `self`.
        origin = origin_of(frame.f_locals.get("self"))
        found = origin if origin is not None and origin.is_third_party else found
    return found


def _culprit_distribution(error: BaseException) -> tuple[str, str] | None:
    """Return distribution and version of the innermost code of a third party, in no object."""
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        package = str(frame.f_globals.get("__name__", ""))
        while package and package not in _of_packages:
            package = package.rpartition(".")[0]
        found = _of_packages.get(package, found)
    return found


@contextmanager
def plugin_faults_named() -> Iterator[None]:
    """Turn an exception of a third party's plugin into a PluginError that names it."""
    try:
        yield
    except (HpcschedError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Those of hpcsched that are no `Exception` are to pass through everything.
        if not isinstance(error, FAULTS) and type(error).__module__.startswith(f"{HOME}."):
            raise
        origin: object = culprit(error)
        if origin is None:
            distribution = _culprit_distribution(error)
            if distribution is None:
                raise
            origin = f"plugin {' '.join(distribution)}"
        raise PluginError(f"{origin}: {raised(error)}") from error
