"""`hpcsched plugins`: the list of installed plugins."""

import typer

from hpcsched.cli.output import OutFile, TableFormat, TableFormatOption

app = typer.Typer(name="plugins", help="Show the installed plugins.", no_args_is_help=True)

_COLUMNS = ("kind", "name", "distribution", "version", "summary")


@app.callback()
def _plugins() -> None:
    """Show the installed plugins."""


@app.command("list")
def list_plugins(
    format_: TableFormatOption = TableFormat.TEXT,
    out: OutFile = None,
) -> None:
    """List plugins: kind, name, distribution and purpose."""
    from hpcsched.cli.output import emit, tables_text
    from hpcsched.plugins import manager
    from hpcsched.report.tables.report_table import Table

    rows = manager.registry().listed()
    table = Table.formatted(_COLUMNS, rows, words=len(_COLUMNS), name="plugins")

    def content() -> list[dict[str, str]]:
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    emit(tables_text([table], format_, content, out=out), out)
