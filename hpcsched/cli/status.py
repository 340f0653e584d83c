"""`hpcsched status`: the progress or the outcome of a run or an experiment."""

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text
from hpcsched.cli.shared_options import Force, OneRun


def status(
    directory: OneRun,
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
    force: Force = False,
) -> None:
    """Show the progress or the outcome of a run or an experiment.

    It works from another terminal while the run is in progress.
    """
    from hpcsched.report.run_choice import INDEX, one_run_folder, run_folder
    from hpcsched.runs.run_status import status_content, status_of, status_text

    as_json = format_ is DataFormat.JSON
    folder = run_folder(directory)
    if (folder / INDEX).is_file():
        from hpcsched.studies.experiment.experiment_status import (
            experiment_status,
            experiment_status_content,
            experiment_status_text,
        )

        of_all = experiment_status(folder)
        text = experiment_status_text(of_all)
        emit(json_text(experiment_status_content(of_all)) if as_json else text, out, force=force)
        return
    found = status_of(one_run_folder(folder))
    emit(json_text(status_content(found)) if as_json else status_text(found), out, force=force)
