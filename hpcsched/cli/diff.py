"""`hpcsched diff`: the differences in meaning between two scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.output import DataFormat, DataFormatOption, OutFile, emit, json_text
from hpcsched.cli.shared_options import Env, Overrides


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario.", show_default=False)],
    second: Annotated[
        Path, typer.Argument(metavar="B", help="Another scenario.", show_default=False)
    ],
    overrides: Overrides = None,
    _env: Env = None,
    *,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there is a difference.")
    ] = False,
    format_: DataFormatOption = DataFormat.TEXT,
    out: OutFile = None,
) -> None:
    """Show the differences between two scenarios.

    Defaults are filled in and units are numbers; the order of keys does not count.
    """
    from hpcsched.errors import Finding, InputError
    from hpcsched.scenario.difference import differences
    from hpcsched.scenario.loading import load_scenario

    scenarios = []
    findings: list[Finding] = []
    for file in (first, second):
        try:
            scenarios.append(load_scenario(file, overrides or ()))
        except InputError as error:
            findings.extend(error.findings)
    if findings:
        raise InputError(findings)
    changes = differences(*scenarios)
    if format_ is DataFormat.JSON:
        emit(json_text([change.content() for change in changes]), out)
    else:
        emit("\n".join(map(str, changes)) or "no difference in meaning", out)
    if exit_code and changes:
        raise typer.Exit(1)
