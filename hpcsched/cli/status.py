"""`hpcsched status`: whether a run goes on, and how far it has come."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How the status is written."""

    TEXT = "text"
    JSON = "json"


def status(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The run directory.", show_default=False)
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="text for people, json for programs.")
    ] = Format.TEXT,
) -> None:
    """Tell whether a run goes on, how far it has come, or how it ended.

    It can be asked from another terminal while the run goes on.
    """
    from hpcsched.monitoring.run_status import as_json, as_text, status_of

    found = status_of(directory)
    typer.echo(as_json(found) if format_ == Format.JSON else as_text(found))
