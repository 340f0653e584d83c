"""`hpcsched status`: whether a run goes on, and how far it has come."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text


def status(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The run directory.", show_default=False)
    ],
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Tell whether a run goes on, how far it has come, or how it ended.

    It can be asked from another terminal while the run goes on.
    """
    from hpcsched.monitoring.run_status import status_content, status_of, status_text
    from hpcsched.report.run_choice import one_run_folder

    found = status_of(one_run_folder(directory))
    as_json = format_ is DataFormat.JSON
    emit(json_text(status_content(found)) if as_json else status_text(found), out)
