"""`hpcsched status`: the progress or the outcome of a run."""

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text
from hpcsched.cli.shared_options import OneRun


def status(
    directory: OneRun,
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Show the progress or the outcome of a run.

    It works from another terminal while the run is in progress.
    """
    from hpcsched.monitoring.run_status import status_content, status_of, status_text
    from hpcsched.report.run_choice import one_run_folder

    found = status_of(one_run_folder(directory))
    as_json = format_ is DataFormat.JSON
    emit(json_text(status_content(found)) if as_json else status_text(found), out)
