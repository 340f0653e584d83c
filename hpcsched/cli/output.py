"""Output of commands: the options `--format` and `--out`, and text on a terminal or in a file."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hpcsched.report.tables.report_table import Table


class TableFormat(StrEnum):
    """The formats of tables."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    JSON = "json"


class DataFormat(StrEnum):
    """The formats of sentences and lists."""

    TEXT = "text"
    JSON = "json"


TableFormatOption = Annotated[TableFormat, typer.Option("--format", help="The output format.")]
DataFormatOption = Annotated[DataFormat, typer.Option("--format", help="The output format.")]


def free(context: typer.Context, out: Path | None) -> Path | None:
    """Refuse a file that is there without --force, before work that may take minutes."""
    if out is not None:
        from hpcsched.whole_files import check_target

        check_target(out, force=bool(context.params.get("force")))
    return out


OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write to this file instead of printing.",
        show_default=False,
        callback=free,
    ),
]


def json_text(content: Any) -> str:
    """Return content as indented JSON, keys in the order given."""
    import json

    return json.dumps(content, indent=2, ensure_ascii=False)


def terminal_width() -> int | None:
    """Return the columns of the terminal; None where standard output is a file or a pipe."""
    import shutil
    import sys

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def emit(text: str, out: Path | None = None, *, force: bool = False) -> None:
    """Print text, or write it to a file and say so.

    Raises
    ------
    InputError
        The file is there already and is not to be replaced, or cannot be written.
    """
    if out is None:
        typer.echo(text)
        return
    from hpcsched.whole_files import check_target, write_text

    check_target(out, force=force)
    write_text(out, f"{text}\n")
    typer.echo(f"wrote {out}")


def tables_text(
    tables: "Sequence[Table]",
    format_: TableFormat,
    content: Callable[[], Any],
    *,
    out: Path | None = None,
) -> str:
    """Return tables in a format.

    Parameters
    ----------
    out
        The file that text is for; None if it is printed, which on a terminal draws the tables.
    """
    if format_ is TableFormat.JSON:
        return json_text(content())
    # A drawn table in a file would have escape sequences and the width of a terminal.
    width = None if out else terminal_width()
    # One function a format, so that a new format cannot be forgotten in a command.
    write: Mapping[TableFormat, Callable[[Table], str]] = {
        TableFormat.TEXT: lambda table: table.as_text(width),
        TableFormat.MARKDOWN: lambda table: table.as_markdown(),
        TableFormat.LATEX: lambda table: table.as_latex(),
        TableFormat.CSV: lambda table: table.as_csv(),
    }
    return "\n\n".join(map(write[format_], tables))
