"""`hpcsched compare`: figures of several runs side by side."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How the comparison is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


def compare(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Run directories.", show_default=False),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(
            help="The run that the others are a percentage of: its name or directory."
            " The first, if not given.",
            show_default=False,
        ),
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text and markdown for people, csv and json for programs, with exact values.",
        ),
    ] = Format.TEXT,
) -> None:
    """Compare runs: every metric, and its percentage of the baseline's."""
    import shutil
    import sys

    from hpcsched.report import rendering
    from hpcsched.report.comparison import compare_runs
    from hpcsched.results.directory import RunDirectory

    comparison = compare_runs([RunDirectory.open(path) for path in directories], baseline)
    match format_:
        case Format.TEXT:
            terminal = sys.stdout.isatty()
            width = shutil.get_terminal_size().columns
            text = rendering.as_text(comparison, terminal=terminal, width=width)
        case Format.MARKDOWN:
            text = rendering.as_markdown(comparison)
        case Format.CSV:
            text = rendering.as_csv(comparison)
        case Format.JSON:
            text = rendering.as_json(comparison)
    typer.echo(text)
    for warning in comparison.warnings:
        typer.echo(f"warning: {warning}", err=True)
