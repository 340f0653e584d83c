"""`hpcsched validate`: checks of scenarios and experiments, without a run."""

from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.output import OutFile, emit, json_text
from hpcsched.cli.shared_options import Overrides, scenario_files


class Format(StrEnum):
    """The formats of findings."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Scenarios and experiments to check, or folders of them.",
            show_default=False,
        ),
    ],
    overrides: Overrides = None,
    *,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="The output format; github and sarif are for code review.",
        ),
    ] = Format.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    out: OutFile = None,
) -> None:
    """Check scenarios and experiments for errors and warnings.

    Each finding has its file, line and column. Exits with 1 if there is an error, or with --strict
    a warning.
    """
    from hpcsched.cli import findings as render
    from hpcsched.cli.sarif import sarif_content
    from hpcsched.errors import Finding, InputError
    from hpcsched.experiment.reading import is_experiment, read_experiment
    from hpcsched.first_look.log_recognition import refuse_log
    from hpcsched.runs.assembly import build_faults
    from hpcsched.scenario.loading import read_scenario
    from hpcsched.scenario.review import missing_inputs, review

    found: list[Finding] = []
    given = overrides or ()
    checked = scenario_files(files)
    for file in checked:
        try:
            refuse_log(file)
            if is_experiment(file):
                experiment = read_experiment(file, given, warn=True)
                reviewed = list(experiment.warnings)
                scenarios = [cell.scenario for cell in experiment.cells]
            else:
                loaded = read_scenario(file, given)
                reviewed = review(loaded)
                scenarios = [] if missing_inputs(loaded) else [loaded.scenario]
            found.extend(reviewed)
            # Where the review has found an error, such as a solver that is not installed, or where
            # an input file is missing, there is nothing to build.
            if not any(finding.severity == "error" for finding in reviewed):
                # Cells share faults, each of which is told once.
                faults = chain.from_iterable(map(build_faults, scenarios))
                found.extend(dict.fromkeys(faults))
        # All files are checked, whatever is wrong with one of them.
        except InputError as error:
            found.extend(error.findings)
    match format_:
        case Format.TEXT:
            text = render.as_text(found, len(checked))
        case Format.JSON:
            text = json_text(render.findings_content(found, len(checked)))
        case Format.GITHUB:
            text = render.as_github(found)
        case Format.SARIF:
            text = json_text(sarif_content(found))
    if text or out is not None:
        emit(text, out)
    if any(strict or finding.severity == "error" for finding in found):
        raise typer.Exit(1)
