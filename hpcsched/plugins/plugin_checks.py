"""Checks of plugins: what hooks return, and the members of what factories build.

A method that cannot be called as hpcsched calls it is found when it is built, and not in the middle
of a run, where Python would blame the caller.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from pydantic.errors import PydanticUserError

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugin_faults import FAULTS, PluginOrigin, raised, spoken
from hpcsched.registration import (
    FOLLOWS_RECORD,
    KEEPS_REQUESTS,
    KEEPS_WAITS,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
    Plugin,
)

_Members = Mapping[str, tuple[str, ...] | None]

_FOLLOWS: _Members = {"job_started": ("job",), "job_ended": ("job", "end_time")}
_SOURCE = ("account", "comments", "files", "uniform_request", "fraction_read")

MEMBERS: Mapping[str, _Members] = {
    "trace_source": {"jobs": (), **dict.fromkeys(_SOURCE)},
    "transform": {"apply": ("jobs", "account")},
    "predictor": {"observe": ("job", "run_time")},
    "correction": {"correct": ("job", "predicted_run_time", "elapsed")},
    "dispatcher": {"dispatch": ("problem",)},
    "queue_order": {"sort": ("problem",)},
    "allocator": {"allocate": ("units", "room")},
    "solver": {
        "check_installed": (),
        **dict.fromkeys(("deterministic", "largest", "largest_objective")),
    },
    "objective": {"measure": ("jobs",)},
    "metric": {"measure": ("run",), "unit": None, "population": None},
    "observer": {
        "round_ended": ("record",),
        "job_submitted": ("job",),
        "job_started": ("job",),
        "job_interrupted": ("interruption",),
        "job_ended": ("record",),
        "reasons_given": ("record", "reasons"),
        "close": (),
    },
    "workload_manager": {"read": (), "start": ("job", "nodes"), "hold": ("job",)},
    "executor": {"run": ("tasks", "limit", "started")},
}
"""Members that the product of a factory must have, by kind of plugin: the arguments of a method;
None for an attribute."""

OPTIONAL: Mapping[str, _Members] = {
    "trace_source": {"job_columns": ("numbers",), "keep_waits": (), "read_answers": ()},
    "predictor": {"predict": ("job",), "foresee": ("job", "run_time"), "predict_by": ("job",)},
    "dispatcher": {**_FOLLOWS, "follow_record": ("waits", "log")},
    "queue_order": _FOLLOWS,
    "allocator": {**_FOLLOWS, "allocate_slots": ("units", "free")},
    "solver": {"load": ("built",), "prepare": ("data",)},
    "objective": {
        "planned_cost": ("jobs", "now"),
        "planned_ratio": ("jobs", "now", "dinkelbach_parameter"),
    },
    "observer": {"additional_data": ("now",)},
}
"""Methods that it may have, with their arguments."""

ONE_OF = {"predictor": ("predict", "foresee"), "solver": ("load", "prepare")}
"""Methods of which it must have one at least."""

TOGETHER = dict.fromkeys(("dispatcher", "queue_order", "allocator"), _FOLLOWS)
"""Methods of which it must have all or none."""

_TEXT, _NUMBER = (str, "a text"), (int, "a whole number")
TYPES: Mapping[str, Mapping[str, tuple[type, str]]] = {
    "metric": {"unit": _TEXT, "population": _TEXT},
    "solver": {
        "deterministic": (bool, "True or False"),
        "largest": _NUMBER,
        "largest_objective": _NUMBER,
    },
}
"""Types of attributes, which are read when the plugin is built, and their names in words."""


def check_product(built: object, origin: PluginOrigin) -> None:
    """Check that the product of a factory has the members of its kind of plugin.

    Parameters
    ----------
    origin
        Its plugin; only products of third parties are checked for more than their members' names.

    Raises PluginError if it has not.
    """
    fault = product_fault(built, origin.kind, arguments=origin.is_third_party)
    if fault is not None:
        raise PluginError(f"{origin}: {fault}")


def product_fault(built: object, kind: str, *, arguments: bool = True) -> str | None:
    """Return why an object is no plugin of a kind; None if it may be one.

    Parameters
    ----------
    arguments
        Whether methods must take the arguments of the protocol, and attributes have its types.
    """
    members = (_lacking(built, repr(name)) for name in MEMBERS[kind] if not _has(built, name))
    if not arguments:
        return next(members, None)
    return next(chain(members, _choice_faults(built, kind), _use_faults(built, kind)), None)


def _choice_faults(built: object, kind: str) -> Iterator[str]:
    """Yield the faults among methods that are needed in part."""
    one_of = ONE_OF.get(kind, ())
    if one_of and not any(_has(built, name) for name in one_of):
        yield _lacking(built, " or ".join(map(repr, one_of)))
    together = TOGETHER.get(kind, {})
    missing = [name for name in together if not _has(built, name)]
    if missing and len(missing) < len(together):
        yield _lacking(built, " and ".join(map(repr, together)), f"lacks {missing[0]!r}")


def _use_faults(built: object, kind: str) -> Iterator[str]:
    """Yield methods that cannot be called as they will be, and attributes of other types."""
    for name, arguments in (*MEMBERS[kind].items(), *OPTIONAL.get(kind, {}).items()):
        if arguments is not None and _has(built, name):
            fault = _method_fault(built, name, arguments)
            if fault is not None:
                yield fault
    for name, (of, words) in TYPES.get(kind, {}).items():
        try:
            value = getattr(built, name)
        except FAULTS as error:
            yield f"{name} {raised(error)}"
        else:
            # Not isinstance: True is a whole number of Python, too.
            if type(value) is not of:
                yield f"expected {words} as {name}, found {value!r}"


def _has(built: object, member: str) -> bool:
    # On the class as well: a property is not read before it is needed.
    return hasattr(type(built), member) or hasattr(built, member)


def _lacking(built: object, members: str, found: str = "has none") -> str:
    return (
        f"expected its factory to return an object with {members},"
        f" found {type(built).__name__}, which {found}"
    )


def _method_fault(built: Any, name: str, arguments: tuple[str, ...]) -> str | None:
    """Return why a method cannot be called with its arguments; None if it can."""
    method = getattr(built, name)
    expected = f"expected a method {name}({', '.join(arguments)})"
    if not callable(method):
        return f"{expected}, found {method!r}"
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):  # compiled code may have none
        return None
    try:
        signature.bind(*arguments)
    except TypeError:
        taken = ", ".join(map(str, signature.parameters.values()))
        return f"{expected}, found {name}({taken})"
    return None


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The names of a scenario."""

CAPABILITIES = {
    "trace_source": {RECORDS_WAITS},
    "transform": {KEEPS_REQUESTS, KEEPS_WAITS},
    "predictor": {SEES_RUN_TIME},
    "dispatcher": {FOLLOWS_RECORD, PLANS_OFFLINE},
}
"""Capabilities by kind of plugin."""


def check_registered(plugin: object, hook: str, kind: str, whose: str) -> Plugin:
    """Return a plugin of a third party, checked.

    Raises PluginError if one of its fields is not what it has to be.
    """
    if not isinstance(plugin, Plugin):
        raise PluginError(
            f"{whose}: {hook} must return hpcsched.Plugin objects, found {type(plugin).__name__}"
        )
    fault = _name_fault(plugin) or _field_fault(plugin, kind) or params_fault(plugin.params)
    if fault is not None:
        raise PluginError(f"{whose}: the {spoken(kind)} {plugin.name!r}: {fault}")
    return plugin


def _name_fault(plugin: Plugin) -> str | None:
    names: list[object] = [plugin.name]
    if not isinstance(plugin.aliases, tuple):
        return f"expected a tuple of names as aliases, found {plugin.aliases!r}"
    names += plugin.aliases
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return f"expected names of letters, digits, '.', '_' and '-', found {name!r}"
    return None


def _field_fault(plugin: Plugin, kind: str) -> str | None:
    summary, capabilities, known = plugin.summary, plugin.capabilities, CAPABILITIES.get(kind, ())
    if not isinstance(summary, str) or not summary or "\n" in summary:
        return f"expected a text of one line as summary, found {summary!r}"
    for field in ("factory", "review", "failures"):
        function: Any = getattr(plugin, field)
        if not callable(function) and not (field != "factory" and function is None):
            return f"expected a function as {field}, found {function!r}"
    if not isinstance(capabilities, frozenset):
        return f"expected a frozenset as capabilities, found {capabilities!r}"
    for capability in sorted(map(str, capabilities)):
        if capability not in known:
            there = f"among {', '.join(sorted(known))}" if known else "none of this kind"
            return f"expected capabilities {there}, found {capability!r}"
    return None


def params_fault(params: object) -> str | None:
    """Return why something is no model of parameters; None if it is one."""
    if not (isinstance(params, type) and issubclass(params, Params)):
        return f"expected params derived from hpcsched.Params, found {params!r}"
    try:
        # Editors and `hpcsched schema` need it, for all plugins at once.
        params.model_json_schema()
    except PydanticUserError as error:
        why = " ".join(error.message.split())  # without the address of pydantic's page
        return f"its parameters {params.__name__} have no JSON Schema: {why}"
    return None
