"""`hpcsched validate`: check scenarios without running them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...", help="Scenarios and experiments to check.", show_default=False
        ),
    ],
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="text for people, json for programs, github for annotations in GitHub Actions,"
            " sarif for code scanning.",
        ),
    ] = Format.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings count too.")] = False,
) -> None:
    """Check scenarios and experiments: every error and warning, each with its place.

    Exits with 1 if there is an error, or with --strict a warning.
    """
    from hpcsched.cli import findings as render
    from hpcsched.cli.sarif import as_sarif
    from hpcsched.errors import Finding, InputError
    from hpcsched.experiment.reading import is_experiment, read_experiment
    from hpcsched.scenario.loading import read_scenario
    from hpcsched.scenario.review import review

    found: list[Finding] = []
    for file in files:
        try:
            if is_experiment(file):
                found.extend(read_experiment(file, warn=True).warnings)
            else:
                found.extend(review(read_scenario(file)))
        except InputError as error:
            found.extend(error.findings)
    match format_:
        case Format.TEXT:
            text = render.as_text(found, len(files))
        case Format.JSON:
            text = render.as_json(found, len(files))
        case Format.GITHUB:
            text = render.as_github(found)
        case Format.SARIF:
            text = as_sarif(found)
    if text:
        typer.echo(text)
    if any(strict or finding.severity == "error" for finding in found):
        raise typer.Exit(1)
