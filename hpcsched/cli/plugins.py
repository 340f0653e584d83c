"""`hpcsched plugins`: the installed plugins, and packages for new ones."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.completion import offered_kinds, offered_new_kinds, offered_plugins
from hpcsched.cli.output import (
    DataFormat,
    DataFormatOption,
    OutFile,
    TableFormat,
    TableFormatOption,
)
from hpcsched.cli.shared_options import Force

app = typer.Typer(
    name="plugins", help="Show the installed plugins, and begin new ones.", no_args_is_help=True
)

_COLUMNS = ("kind", "name", "distribution", "version", "summary")


@app.callback()
def _plugins() -> None:
    """Show the installed plugins, and begin new ones."""


@app.command("list")
def list_plugins(
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
    force: Force = False,
) -> None:
    """List plugins: kind, name, distribution and purpose."""
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.plugins import manager
    from hpcsched.report.tables.report_table import Table

    rows = manager.registry().listed()
    table = Table.formatted(_COLUMNS, rows, words=len(_COLUMNS), name="plugins")

    def content() -> list[dict[str, str]]:
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    emit(tables_text([table], format_, content, out=out), out, force=force)


@app.command("show")
def show(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="Kind of plugin, such as dispatcher.",
            show_default=False,
            autocompletion=offered_kinds,
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of the plugin.",
            show_default=False,
            autocompletion=offered_plugins,
        ),
    ],
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
    force: Force = False,
) -> None:
    """Show a plugin: its distribution, and its parameters."""
    from hpcsched.cli.output import emit, json_text
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
    if format_ is DataFormat.JSON:
        emit(json_text(description(installed)), out, force=force)
    else:
        emit("\n".join(description_lines(installed)), out, force=force)


@app.command("new")
def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="Kind of plugin, such as dispatcher.",
            show_default=False,
            autocompletion=offered_new_kinds,
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the plugin.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder; by default hpcsched-NAME.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a package with a new plugin and its tests.

    Kinds are those of `hpcsched plugins list`, with hyphens or underscores, and formulation: a
    dispatcher with a CPMpy model of its own.
    """
    from hpcsched.plugins.new_package import write_package

    folder = Path(f"hpcsched-{name}") if out is None else out
    for path in write_package(kind, name, folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"Next: pip install -e '{folder}[testing]', then pytest in {folder}.")
