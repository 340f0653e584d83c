"""Check of the answers of hooks: the fields of each `Plugin`, before any scenario selects it."""

import re
from typing import Any

from pydantic.errors import PydanticUserError

from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugin_faults import spoken
from hpcsched.registration import (
    FOLLOWS_RECORD,
    KEEPS_REQUESTS,
    KEEPS_WAITS,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
    Plugin,
)

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

    Raises
    ------
    PluginError
        If one of its fields is not what it has to be.
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
