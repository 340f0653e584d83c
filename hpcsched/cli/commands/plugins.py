"""`hpcsched plugins`: the installed plugins."""

from typing import Annotated

import typer

from hpcsched.cli.options import offered_kinds, offered_plugins, with_option_groups
from hpcsched.cli.output import DataOutput, TableOutput

PANEL = "Extend"
app = typer.Typer(name="plugins", help="Show the installed plugins.", no_args_is_help=True)

_COLUMNS = ("kind", "name", "distribution", "version", "summary")


@app.command("list")
@with_option_groups
def list_plugins(*, output: TableOutput) -> None:
    """List plugins: kind, name, distribution and purpose."""
    from hpcsched.plugins import manager
    from hpcsched.report.tables.report_table import Table

    rows = manager.registry().listed()
    table = Table.formatted(_COLUMNS, rows, words=len(_COLUMNS), name="plugins")
    output.show([table], lambda: [dict(zip(_COLUMNS, row, strict=True)) for row in rows])


@app.command("show")
@with_option_groups
def show(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="Kind of plugin, such as dispatcher.", autocompletion=offered_kinds
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the plugin.", autocompletion=offered_plugins),
    ],
    *,
    output: DataOutput,
) -> None:
    """Show a plugin: its distribution, and its parameters."""
    from hpcsched.errors import Finding, InputError
    from hpcsched.plugins import manager
    from hpcsched.plugins.description import description, description_lines
    from hpcsched.plugins.registry import KINDS

    kind = kind.replace("-", "_")
    if kind not in KINDS:
        message = f"expected a kind of plugin, {', '.join(KINDS)}; found {kind!r}"
        raise InputError(Finding("unknown-kind", message))
    try:
        installed = manager.registry().get(kind, name)
    except KeyError as error:
        raise InputError(Finding("unknown-plugin", str(error.args[0]))) from None
    output.show(lambda: "\n".join(description_lines(installed)), lambda: description(installed))
