"""Check of what a factory returns: the methods and attributes of its kind of plugin.

A method that cannot be called as hpcsched calls it is found when it is built, and not in the middle
of a run, where Python would blame the caller.
"""

import inspect
from types import MappingProxyType
from typing import Any

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import FAULTS, PluginOrigin, raised

_Members = MappingProxyType[str, tuple[str, ...] | None]

_FOLLOWS = {"job_started": ("job",), "job_ended": ("job", "end_time")}

MEMBERS: MappingProxyType[str, _Members] = MappingProxyType(
    {
        "trace_source": MappingProxyType(
            {
                "jobs": (),
                "account": None,
                "comments": None,
                "files": None,
                "uniform_request": None,
                "fraction_read": None,
            }
        ),
        "transform": MappingProxyType({"apply": ("jobs", "account")}),
        "predictor": MappingProxyType({"observe": ("job", "run_time")}),
        "correction": MappingProxyType({"correct": ("job", "predicted_run_time", "elapsed")}),
        "dispatcher": MappingProxyType({"dispatch": ("problem",)}),
        "queue_order": MappingProxyType({"sort": ("problem",)}),
        "allocator": MappingProxyType({"allocate": ("units", "room")}),
        "solver": MappingProxyType(
            {
                "check_installed": (),
                "deterministic": None,
                "largest": None,
                "largest_objective": None,
            }
        ),
        "objective": MappingProxyType({"measure": ("jobs",)}),
        "metric": MappingProxyType({"measure": ("run",), "unit": None, "population": None}),
        "observer": MappingProxyType(
            {
                "round_ended": ("record",),
                "job_submitted": ("job",),
                "job_started": ("job",),
                "job_interrupted": ("interruption",),
                "job_ended": ("record",),
                "reasons_given": ("record", "reasons"),
                "close": (),
            }
        ),
        "workload_manager": MappingProxyType(
            {"read": (), "start": ("job", "nodes"), "hold": ("job",)}
        ),
        "executor": MappingProxyType({"run": ("tasks", "limit", "started")}),
    }
)
"""Members that the product of a factory must have, by kind of plugin: the arguments of a method;
None for an attribute."""

OPTIONAL: MappingProxyType[str, _Members] = MappingProxyType(
    {
        "trace_source": MappingProxyType(
            {"job_columns": ("numbers",), "keep_waits": (), "read_answers": ()}
        ),
        "predictor": MappingProxyType(
            {"predict": ("job",), "foresee": ("job", "run_time"), "predict_by": ("job",)}
        ),
        "dispatcher": MappingProxyType({**_FOLLOWS, "follow_record": ("waits", "log")}),
        "queue_order": MappingProxyType(_FOLLOWS),
        "allocator": MappingProxyType({**_FOLLOWS, "allocate_slots": ("units", "free")}),
        "solver": MappingProxyType({"load": ("built",), "prepare": ("data",)}),
        "objective": MappingProxyType(
            {
                "planned_cost": ("jobs", "now"),
                "planned_ratio": ("jobs", "now", "dinkelbach_parameter"),
            }
        ),
        "observer": MappingProxyType({"additional_data": ("now",)}),
    }
)
"""Methods that it may have, with their arguments."""

_NONE: _Members = MappingProxyType({})

ONE_OF = MappingProxyType({"predictor": ("predict", "foresee"), "solver": ("load", "prepare")})
"""Methods of which it must have one at least."""

TOGETHER = MappingProxyType(dict.fromkeys(("dispatcher", "queue_order", "allocator"), _FOLLOWS))
"""Methods of which it must have all or none."""

TEXTS = MappingProxyType({"metric": ("unit", "population")})
"""Attributes that are texts."""


def check_product(built: object, origin: PluginOrigin) -> None:
    """Check that the product of a factory has what its kind of plugin must have.

    Methods of third parties must take the arguments of the protocol as well.

    Parameters
    ----------
    built
        The product.
    origin
        Its plugin.

    Raises
    ------
    PluginError
        If it has not.
    """
    kind = origin.kind
    required, optional = MEMBERS[kind], OPTIONAL.get(kind, _NONE)
    for member in required:
        if not _has(built, member):
            _refuse(built, origin, repr(member))
    if not origin.is_third_party:
        return
    for name, arguments in (*required.items(), *optional.items()):
        if arguments is not None and _has(built, name):
            _check_method(built, origin, name, arguments)
    one_of = ONE_OF.get(kind, ())
    if one_of and not any(_has(built, name) for name in one_of):
        _refuse(built, origin, " or ".join(map(repr, one_of)))
    together = TOGETHER.get(kind, _NONE)
    if any(_has(built, name) for name in together):
        for name in together:
            if not _has(built, name):
                _refuse(built, origin, " and ".join(map(repr, together)), "lacks " + repr(name))
    for name in TEXTS.get(kind, ()):
        _check_text(built, origin, name)


def _has(built: object, member: str) -> bool:
    # On the class as well: a property is not read before it is needed.
    return hasattr(type(built), member) or hasattr(built, member)


def _refuse(built: object, origin: PluginOrigin, members: str, found: str = "has none") -> None:
    raise PluginError(
        f"{origin}: expected its factory to return an object with {members},"
        f" found {type(built).__name__}, which {found}"
    )


def _check_method(built: Any, origin: PluginOrigin, name: str, arguments: tuple[str, ...]) -> None:
    method = getattr(built, name)
    expected = f"{origin}: expected a method {name}({', '.join(arguments)})"
    if not callable(method):
        raise PluginError(f"{expected}, found {method!r}")
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):  # compiled code may have none
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        taken = ", ".join(map(str, signature.parameters.values()))
        raise PluginError(f"{expected}, found {name}({taken})") from None


def _check_text(built: object, origin: PluginOrigin, name: str) -> None:
    try:
        text = getattr(built, name)
    except FAULTS as error:
        raise PluginError(f"{origin}: {name} {raised(error)}") from error
    if not isinstance(text, str):
        raise PluginError(f"{origin}: expected a text as {name}, found {text!r}")
