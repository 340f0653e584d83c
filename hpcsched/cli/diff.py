"""`hpcsched diff`: what differs in meaning between two scenarios."""

from pathlib import Path
from typing import Annotated

import typer


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A scenario.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another.", show_default=False)],
) -> None:
    """Print what differs in meaning between two scenarios.

    Defaults are filled in and units are numbers; the order of keys does not count.
    """
    from hpcsched.errors import Finding, InputError
    from hpcsched.scenario.difference import differences
    from hpcsched.scenario.loading import load_scenario

    scenarios = []
    findings: list[Finding] = []
    for file in (first, second):
        try:
            scenarios.append(load_scenario(file))
        except InputError as error:
            findings.extend(error.findings)
    if findings:
        raise InputError(findings)
    changes = differences(*scenarios)
    for change in changes:
        typer.echo(str(change))
    if not changes:
        typer.echo("no difference in meaning")
