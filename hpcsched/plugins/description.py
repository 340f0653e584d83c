"""Description of a plugin: its names, its distribution, and its parameters with their defaults."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from hpcsched.plugin_faults import spoken
from hpcsched.plugins.registry import Installed


def description(installed: Installed) -> dict[str, Any]:
    """Return the description of a plugin, as plain values.

    Returns
    -------
    dict
        `parameters` is the JSON Schema of the parameters.
    """
    plugin = installed.plugin
    return {
        "kind": installed.kind,
        "name": plugin.name,
        "aliases": list(plugin.aliases),
        "distribution": installed.distribution,
        "version": installed.version,
        "summary": plugin.summary,
        "capabilities": sorted(plugin.capabilities),
        "parameters": plugin.params.model_json_schema(),
    }


def description_lines(installed: Installed) -> Iterator[str]:
    """Yield the lines of a description for people."""
    plugin = installed.plugin
    yield f"{spoken(installed.kind)} {plugin.name}: {plugin.summary}"
    yield f"  from {installed.distribution} {installed.version}"
    if plugin.aliases:
        yield f"  also called {', '.join(plugin.aliases)}"
    if plugin.capabilities:
        yield f"  capabilities: {', '.join(sorted(plugin.capabilities))}"
    fields = plugin.params.model_fields
    yield "  parameters, with their defaults:" if fields else "  no parameters"
    for key, field in fields.items():
        # A key may have another spelling in scenarios.
        yield f"    {field.alias or key}: {_default(field)}"
        if field.description:
            yield f"        {field.description}"


def _default(field: Any) -> str:
    if field.is_required():
        return "(required)"
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json")
    return "none" if default is None else _plain(default)


def _plain(value: object) -> str:
    """Return a value as a scenario may give it."""
    return value if isinstance(value, str) else json.dumps(value, default=str)
