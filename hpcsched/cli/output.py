"""Output of commands: the options `--format` and `--out`, and text on a terminal or in a file."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.options import Force

if TYPE_CHECKING:
    from hpcsched.errors import Finding
    from hpcsched.report.tables.report_table import Table
    from hpcsched.runs.directory import RunDirectory
    from hpcsched.scenario.loading import LoadedScenario


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
    typer.Option("--out", help="Write to this file instead of printing.", callback=free),
]


def json_text(content: Any) -> str:
    """Return content as indented JSON, keys in the order given."""
    return json.dumps(content, indent=2, ensure_ascii=False)


def emit(text: str, out: Path | None = None, *, force: bool = False) -> None:
    """Print text, or write it to a file and say so.

    Raises InputError if the file is there already and is not to be replaced, or cannot be written.
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
    if format_ is not TableFormat.TEXT:
        return "\n\n".join(getattr(table, f"as_{format_}")() for table in tables)
    # A drawn table in a file would have escape sequences and the width of a terminal.
    drawn = out is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if drawn else None
    return "\n\n".join(table.as_text(width) for table in tables)


@dataclass(frozen=True)
class TextOutput:
    """Options on where text goes."""

    out: OutFile = None
    force: Force = False

    def write(self, text: str) -> None:
        """Print text, or write it to the file of `--out` and say so."""
        emit(text, self.out, force=self.force)


@dataclass(frozen=True)
class DataOutput(TextOutput):
    """Options on the output of sentences and lists."""

    format_: DataFormatOption = DataFormat.TEXT

    def show(self, text: Callable[[], str], content: Callable[[], Any]) -> None:
        """Print text, or content as JSON, or write it to the file of `--out`."""
        as_json = self.format_ is DataFormat.JSON
        self.write(json_text(content()) if as_json else text())


@dataclass(frozen=True)
class TableOutput(TextOutput):
    """Options on the output of tables."""

    format_: TableFormatOption = TableFormat.TEXT

    def show(self, tables: "Sequence[Table]", content: Callable[[], Any]) -> None:
        """Print tables in the format, or write them to the file of `--out`."""
        self.write(tables_text(tables, self.format_, content, out=self.out))


def solver_warning(loaded: "LoadedScenario", run: "RunDirectory") -> "Finding | None":
    """Return a warning, at the scenario's dispatcher, if too many rounds had no plan, else None."""
    from hpcsched.errors import Finding
    from hpcsched.runs.solver_rounds import warning
    from hpcsched.runs.tables import first_unsolved

    message = warning(run.solver_rounds)
    if message is None:
        return None
    first = first_unsolved(run.path)
    if first is not None:
        number, why = first
        message += f"; it said first, in round {number:,}: {' '.join(why.split())}"
    place = loaded.place(("dispatcher",))
    return Finding("solver-without-plan", message, place, "dispatcher", "warning")
