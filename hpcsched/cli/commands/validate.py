"""`hpcsched validate`: checks of scenarios and experiments, without a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hpcsched.cli.options import Overrides, scenario_files, with_option_groups
from hpcsched.cli.output import DataOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hpcsched.errors import Finding
    from hpcsched.scenario.loading import LoadedScenario

PANEL = "Start"


@with_option_groups
def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Scenarios and experiments to check, or folders of them."
        ),
    ],
    overrides: Overrides = None,
    *,
    vary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also check variants for whatif.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also check ranges for tune.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    output: DataOutput,
) -> None:
    """Check scenarios and experiments for errors and warnings.

    Each finding has its file, line and column. Exits with 1 if there is an error, or with --strict
    a warning.
    """
    from hpcsched.errors import Finding, InputError

    found: list[Finding] = []
    checked = scenario_files(files)
    if (vary or space) and len(checked) > 1:
        raise typer.BadParameter("give one scenario with it", param_hint="--vary, --space")
    for file in checked:
        try:
            found.extend(_findings(file, overrides or (), vary, space))
        # All files are checked, whatever is wrong with one of them.
        except InputError as error:
            found.extend(error.findings)
    number = len(checked) + sum(one is not None for one in (vary, space))
    output.show(lambda: as_text(found, number), lambda: findings_content(found, number))
    if any(strict or finding.severity == "error" for finding in found):
        raise typer.Exit(1)


def _findings(
    file: Path, overrides: "Sequence[str]", vary: Path | None, space: Path | None
) -> "Sequence[Finding]":
    """Return the findings about a file; raises InputError where they are errors of reading it."""
    from hpcsched.scenario.loading import read_repaired
    from hpcsched.studies.experiment import is_experiment, read_experiment
    from hpcsched.studies.tuning import TunedScenario
    from hpcsched.studies.whatif import read_whatif
    from hpcsched.workload.log_recognition import refuse_log

    refuse_log(file)
    if vary or space:
        found: list[Finding] = []
        if vary:
            found.extend(read_whatif(file, vary, overrides, check=_of_scenario).warnings)
        if space:
            found.extend(TunedScenario(file, space, overrides, check=_of_scenario).warnings)
        return list(dict.fromkeys(found))
    alone = _without_scenario(file)
    if alone is not None:
        return alone
    if is_experiment(file):
        return read_experiment(file, overrides, check=_of_scenario).warnings
    read = read_repaired(file, overrides)
    # Also what is wrong in the rest of a scenario that has errors: the user mends it in one pass.
    return read.with_those_of([] if read.loaded is None else _of_scenario(read.loaded))


def _of_scenario(loaded: "LoadedScenario") -> "list[Finding]":
    """Return all findings about a scenario; its parts are built where nothing else is wrong."""
    from hpcsched.runs.assembly import build_faults
    from hpcsched.scenario.review import missing_inputs, other_format, review

    found = [*review(loaded), *other_format(loaded)]
    # Where the review has found an error, such as a solver that is not installed, or where an
    # input file is missing, there is nothing to build.
    if not missing_inputs(loaded) and all(finding.severity != "error" for finding in found):
        found.extend(build_faults(loaded))
    return found


def _without_scenario(file: Path) -> "Sequence[Finding] | None":
    """Return the findings about a file of variants or ranges; None if it seems to be no such file.

    Only its own keys can be checked: the values are those of a scenario, which it does not name.
    """
    from hpcsched.errors import Finding, Place
    from hpcsched.plugins import manager
    from hpcsched.scenario.document import parse_document, read_text
    from hpcsched.scenario.models import Scenario
    from hpcsched.scenario.positions import Positions
    from hpcsched.studies.declared_file import validated
    from hpcsched.studies.experiment import ExperimentDeclaration
    from hpcsched.studies.tuning import TuningSpace
    from hpcsched.studies.whatif import Variation

    document = parse_document(read_text(file))
    keys = set(document.value) if isinstance(document.value, dict) else set()
    others = {*ExperimentDeclaration.model_fields, *Scenario.model_fields}
    others -= {"name", "description", "matrix", "exclude"}
    model: type[Variation | TuningSpace]
    if "parameters" in keys:
        model, called, option = TuningSpace, "ranges for tune", "--space"
    elif keys & {"variants", "matrix"} and not keys & others:
        model, called, option = Variation, "variants for whatif", "--vary"
    else:
        return None
    places = Positions.of(str(file), document)
    validated(model, document, places, manager.registry())
    message = (
        f"a file with {called} is checked with its scenario: hpcsched validate SCENARIO {option}"
        f" {file}"
    )
    if "matrix" in keys:
        message += "; an experiment has the key 'scenario'"
    return [Finding("not-checked", message, Place(str(file), 1, 1), severity="warning")]


JSON_VERSION = 1
"""Version of the JSON content; it grows when a key changes or goes, not when one is added."""


def as_text(findings: "Sequence[Finding]", files: int) -> str:
    """Return one line a finding, and a line that counts them."""
    counts = _counts(findings, files)
    # "1 file", and "2 files".
    words = (f"{n} {name[:-1] if n == 1 else name}" for name, n in counts.items())
    return "\n".join([*map(str, findings), ", ".join(words)])


def findings_content(findings: "Sequence[Finding]", files: int) -> dict[str, Any]:
    """Return the counts and the list of findings for JSON.

    A finding has `file`, `line`, `column` (numbers from 1, or null), `severity` (error or warning),
    `rule`, `key` (a key path, or empty) and `message`.
    """
    items = [
        {name: getattr(finding.place, name, None) for name in ("file", "line", "column")}
        | {name: getattr(finding, name) for name in ("severity", "rule", "key", "message")}
        for finding in findings
    ]
    return {"version": JSON_VERSION, **_counts(findings, files), "findings": items}


def _counts(findings: "Sequence[Finding]", files: int) -> dict[str, int]:
    errors = sum(finding.severity == "error" for finding in findings)
    return {"files": files, "errors": errors, "warnings": len(findings) - errors}
