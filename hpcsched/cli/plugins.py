"""`hpcsched plugins`: what is installed."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(name="plugins", help="Show the plugins that are installed.", no_args_is_help=True)

_COLUMNS = ("kind", "name", "distribution", "version", "summary")


class Format(StrEnum):
    """How the list is written."""

    TEXT = "text"
    JSON = "json"


@app.callback()
def _plugins() -> None:
    """Show the plugins that are installed."""


@app.command("list")
def list_plugins(
    format_: Annotated[
        Format, typer.Option("--format", help="text for people, json for programs.")
    ] = Format.TEXT,
) -> None:
    """List all plugins, with where each comes from and what it is for."""
    import json
    import sys

    from hpcsched.plugins import manager

    rows = [
        (i.kind, i.plugin.name, i.distribution, i.version, i.plugin.summary)
        for i in manager.registry()
    ]
    if format_ is Format.JSON:
        items = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        typer.echo(json.dumps(items, indent=2, ensure_ascii=False))
    elif sys.stdout.isatty():
        _print_table(rows)
    else:
        typer.echo(_aligned([_COLUMNS, *rows]))


def _print_table(rows: "Sequence[tuple[str, ...]]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _aligned(rows: "Sequence[tuple[str, ...]]") -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
