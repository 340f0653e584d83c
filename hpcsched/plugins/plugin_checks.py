"""Checks of plugins: values that hooks return, and members of objects that factories build.

A method that cannot be called as hpcsched calls it is found when it is built, and not in the middle
of a run, where Python would blame the caller.
"""

import inspect
import re
from collections.abc import Mapping
from contextlib import suppress

from pydantic.errors import PydanticUserError

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugin_faults import PluginOrigin, spoken
from hpcsched.registration import (
    FOLLOWS_RECORD,
    KEEPS_REQUESTS,
    KEEPS_WAITS,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
    Plugin,
)

_Members = dict[str, tuple[str, ...] | None]

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
    "allocator": _FOLLOWS,
    "solver": {"load": ("built",), "prepare": ("data",)},
    "objective": {
        "planned_cost": ("jobs", "now"),
        "planned_ratio": ("jobs", "now", "dinkelbach_parameter"),
    },
    "observer": {"additional_data": ("now",)},
}
"""Methods that it may have, with their arguments."""


def check_product(built: object, origin: PluginOrigin) -> None:
    """Raise PluginError if the product of a third party's factory lacks members of its kind."""
    fault = product_fault(built, origin.kind) if origin.is_third_party else None
    if fault is not None:
        raise PluginError(f"{origin}: {fault}")


def product_fault(built: object, kind: str) -> str | None:
    """Return why an object is no plugin of a kind; None if it may be one."""
    for name, arguments in (MEMBERS[kind] | OPTIONAL.get(kind, {})).items():
        # On the class as well: a property is not read before it is needed.
        if not hasattr(type(built), name) and not hasattr(built, name):
            if name in MEMBERS[kind]:
                return (
                    f"expected its factory to return an object with {name!r},"
                    f" found {type(built).__name__}, which has none"
                )
        elif arguments is not None:
            method = getattr(built, name)
            expected = f"expected a method {name}({', '.join(arguments)})"
            if not callable(method):
                return f"{expected}, found {method!r}"
            # Compiled code may have no signature.
            with suppress(TypeError, ValueError):
                signature = inspect.signature(method)
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


def check_registered(plugin: Plugin, kind: str, whose: str) -> None:
    """Raise PluginError if a field of a third party's plugin is wrong."""
    fault = _fault(plugin, CAPABILITIES.get(kind, set()))
    if fault is not None:
        raise PluginError(f"{whose}: the {spoken(kind)} {plugin.name!r}: {fault}")


def _fault(plugin: Plugin, capabilities: set[str]) -> str | None:
    for name in (plugin.name, *plugin.aliases):
        if not _NAME.fullmatch(str(name)):
            return f"expected names of letters, digits, '.', '_' and '-', found {name!r}"
    unknown = sorted(plugin.capabilities - capabilities)
    if unknown:
        there = f"among {', '.join(sorted(capabilities))}" if capabilities else "none of this kind"
        return f"expected capabilities {there}, found {unknown[0]!r}"
    params: object = plugin.params
    if not (isinstance(params, type) and issubclass(params, Params)):
        return f"expected params derived from hpcsched.Params, found {params!r}"
    try:
        # Editors and `hpcsched schema` need it, for all plugins at once.
        params.model_json_schema()
    except PydanticUserError as error:
        why = " ".join(error.message.split())  # without the address of pydantic's page
        return f"its parameters {params.__name__} have no JSON Schema: {why}"
    return None
