"""`hpcsched plugins`: the installed plugins."""

import json
from collections.abc import Iterator
from typing import Any

import typer
from pydantic import BaseModel

from hpcsched.cli import options
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import field_descriptions
from hpcsched.plugin_faults import spoken
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Installed
from hpcsched.registration import KINDS
from hpcsched.report.tables.report_table import Table

COMMANDS = {
    "plugins": ("Extend", "Show the installed plugins."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""

plugins = typer.Typer(help="Show the installed plugins.", no_args_is_help=True)

_COLUMNS = ("kind", "name", "distribution", "version", "summary")


@plugins.command("list")
@options.with_option_groups
def list_plugins(*, output: options.TableOutput) -> None:
    """List plugins: kind, name, distribution and purpose."""
    rows = manager.registry().listed()
    table = Table(_COLUMNS, rows, words=len(_COLUMNS), name="plugins")
    output.show([table], lambda: [dict(zip(_COLUMNS, row, strict=True)) for row in rows])


@plugins.command()
@options.with_option_groups
def show(kind: options.PluginKind, name: options.PluginName, *, output: options.DataOutput) -> None:
    """Show a plugin: its distribution, and its parameters."""
    kind = kind.replace("-", "_")
    if kind not in KINDS:
        message = f"expected a kind of plugin, {', '.join(KINDS)}; found {kind!r}"
        raise InputError(Finding("unknown-kind", message))
    try:
        installed = manager.registry().get(kind, name)
    except KeyError as error:
        raise InputError(Finding("unknown-plugin", str(error.args[0]))) from None
    output.show(lambda: "\n".join(description_lines(installed)), lambda: description(installed))


def description(installed: Installed) -> dict[str, Any]:
    """Return the description of a plugin, as plain values."""
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
    fields, texts = plugin.params.model_fields, field_descriptions(plugin.params)
    yield "  parameters, with their defaults:" if fields else "  no parameters"
    for key, field in fields.items():
        # A key may have another spelling in scenarios.
        yield f"    {field.alias or key}: {_default(field)}"
        if key in texts:
            yield f"        {texts[key]}"


def _default(field: Any) -> str:
    if field.is_required():
        return "(required)"
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json")
    if default is None or isinstance(default, str):
        return "none" if default is None else default
    return json.dumps(default, default=str)
