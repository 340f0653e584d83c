"""Commands on files of scenarios: `validate`, `diff` and `schema`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hpcsched.cli import options
from hpcsched.errors import Finding, InputError, Place
from hpcsched.plugins import manager
from hpcsched.report.tables.report_table import Table
from hpcsched.runs import assembly
from hpcsched.scenario import loading, resolved, review
from hpcsched.scenario.document import read_document
from hpcsched.scenario.models import Scenario
from hpcsched.scenario.scenario_schema import scenario_schema
from hpcsched.studies import study_files
from hpcsched.studies.cell import read_declaration
from hpcsched.studies.forecast.forecast_file import forecast_schema
from hpcsched.studies.study_files import TuningSpace, Variation
from hpcsched.workload.log_recognition import refuse_log

COMMANDS = {
    "schema": ("Start", "Print the JSON Schema of scenarios or other files."),
    "validate": ("Start", "Check scenarios and experiments for errors and warnings."),
    "diff": ("Look", "Show the differences between two scenarios."),
}
"""Panel and summary of each command, see `hpcsched.cli.commands`."""


@options.with_option_groups
def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Scenarios and experiments to check, or folders of them."
        ),
    ],
    overrides: options.Overrides = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    output: options.DataOutput,
) -> None:
    """Check scenarios and experiments for errors and warnings.

    Each finding has its file, line and column. Exits with 1 if there is an error, or with --strict
    a warning.
    """
    found: list[Finding] = []
    checked = options.scenario_files(files)
    for file in checked:
        try:
            found.extend(_findings(file, overrides or ()))
        # All files are checked, whatever is wrong with one of them.
        except InputError as error:
            found.extend(error.findings)
    errors = sum(finding.severity == "error" for finding in found)
    counts = {"files": len(checked), "errors": errors, "warnings": len(found) - errors}
    output.show(lambda: _as_text(found, counts), lambda: _content(found, counts))
    if errors or (strict and found):
        raise typer.Exit(1)


def _findings(file: Path, overrides: Sequence[str]) -> Sequence[Finding]:
    """Return the findings about a file; raises InputError where they are errors of reading it."""
    refuse_log(file)
    alone = _without_scenario(file)
    if alone is not None:
        return alone
    if study_files.is_experiment(file):
        return study_files.read_experiment(file, overrides, check=scenario_findings).warnings
    return loading.read_and_check(file, overrides, scenario_findings)[1]


def scenario_findings(loaded: loading.LoadedScenario) -> list[Finding]:
    """Return all findings about a scenario; its parts are built where nothing else is wrong."""
    found = [*review.review(loaded), *review.other_format(loaded)]
    # Where the review has found an error, such as a solver that is not installed, or where an
    # input file is missing, there is nothing to build.
    if not review.missing_inputs(loaded) and all(one.severity != "error" for one in found):
        found.extend(assembly.build_faults(loaded))
    return found


def _without_scenario(file: Path) -> list[Finding] | None:
    """Return the findings about a file of variants or ranges; None if it seems to be no such file.

    Only its own keys can be checked: the values are those of a scenario, which it does not name.
    """
    document = read_document(file)
    keys = set(document.value) if isinstance(document.value, dict) else set()
    others = {*study_files.ExperimentDeclaration.model_fields, *Scenario.model_fields}
    model: type[Variation | TuningSpace]
    if "parameters" in keys:
        model, called = TuningSpace, "tune SCENARIO --space"
    elif keys & {"variants", "matrix"} and not keys & (others - {*Variation.model_fields}):
        model, called = Variation, "whatif SCENARIO --vary"
    else:
        return None
    read_declaration(model, file)
    message = f"its values are checked with a scenario: hpcsched {called} {file}"
    if "matrix" in keys:
        message += "; an experiment has the key 'scenario'"
    return [Finding("not-checked", message, Place(str(file), 1, 1), severity="warning")]


JSON_VERSION = 1
"""Version of the JSON content; it grows when a key changes or goes, not when one is added."""


def _as_text(findings: Sequence[Finding], counts: Mapping[str, int]) -> str:
    """Return one line a finding, and a line that counts them."""
    # "1 file", and "2 files".
    words = (f"{n} {name[:-1] if n == 1 else name}" for name, n in counts.items())
    return "\n".join([*map(str, findings), ", ".join(words)])


def _content(findings: Sequence[Finding], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the counts and the list of findings for JSON.

    A finding has `file`, `line`, `column` (numbers from 1, or null), `severity` (error or warning),
    `rule`, `key` (a key path, or empty) and `message`.
    """
    items = [
        {name: getattr(finding.place, name, None) for name in ("file", "line", "column")}
        | {name: getattr(finding, name) for name in ("severity", "rule", "key", "message")}
        for finding in findings
    ]
    return {"version": JSON_VERSION, **counts, "findings": items}


@options.with_option_groups
def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another scenario.")],
    overrides: options.Overrides = None,
    *,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there is a difference.")
    ] = False,
    output: options.TableOutput,
) -> None:
    """Show the differences between two scenarios.

    Defaults are filled in and units are numbers; the order of keys does not count. Exits with 0,
    or with --exit-code with 1 if there is a difference.
    """
    scenarios = []
    findings: list[Finding] = []
    for file in (first, second):
        try:
            scenarios.append(loading.load_scenario(file, overrides or ()))
        except InputError as error:
            findings.extend(error.findings)
    if findings:
        raise InputError(findings)
    changes = resolved.differences(*scenarios)
    none = "no difference in meaning"
    if output.format_ == "text":
        output.write("\n".join(map(str, changes)) or none)
    else:
        table = Table(
            ("key", *map(str, (first, second))),
            [change.cells for change in changes],
            words=3,
            name="differences",
            notes=() if changes else (none,),
        )
        output.show([table], lambda: [change.content() for change in changes])
    if exit_code and changes:
        raise typer.Exit(1)


_SCHEMAS = {
    "scenario": scenario_schema,
    "experiment": study_files.experiment_schema,
    "whatif": study_files.variation_schema,
    "tuning": study_files.tuning_schema,
    "forecast": forecast_schema,
}


@options.with_option_groups
def schema(
    *,
    output: options.TextOutput,
    of: Annotated[
        Literal["scenario", "experiment", "whatif", "tuning", "forecast"],
        typer.Option("--of", help="The kind of file."),
    ] = "scenario",
) -> None:
    """Print the JSON Schema of scenarios or other files.

    Editors complete and check files by it. It includes the installed plugins.
    """
    output.write(options.json_text(_SCHEMAS[of](manager.registry())))
