"""`hpcsched diff`: the differences in meaning between two scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from hpcsched.cli.options import Overrides, with_option_groups
from hpcsched.cli.output import TableFormat, TableOutput

PANEL = "Look"


@with_option_groups
def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another scenario.")],
    overrides: Overrides = None,
    *,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if there is a difference.")
    ] = False,
    output: TableOutput,
) -> None:
    """Show the differences between two scenarios.

    Defaults are filled in and units are numbers; the order of keys does not count. Exits with 0,
    or with --exit-code with 1 if there is a difference.
    """
    from hpcsched.errors import Finding, InputError
    from hpcsched.report.tables.report_table import Table
    from hpcsched.scenario.loading import load_scenario
    from hpcsched.scenario.resolved import differences

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
    none = "no difference in meaning"
    if output.format_ is TableFormat.TEXT:
        output.write("\n".join(map(str, changes)) or none)
    else:
        table = Table.formatted(
            ("key", *map(str, (first, second))),
            [change.cells for change in changes],
            words=3,
            name="differences",
            notes=() if changes else (none,),
        )
        output.show([table], lambda: [change.content() for change in changes])
    if exit_code and changes:
        raise typer.Exit(1)
