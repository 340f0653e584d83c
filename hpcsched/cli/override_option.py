"""The option `--set`, alike in every command that reads scenarios."""

from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help="Replace a value of the scenario, of each where there are several; can be repeated.",
        show_default=False,
    ),
]
