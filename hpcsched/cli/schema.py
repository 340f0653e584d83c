"""`hpcsched schema`: the JSON Schema of scenarios or experiments, for editors."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Of(StrEnum):
    """What the schema is of."""

    SCENARIO = "scenario"
    EXPERIMENT = "experiment"


def schema(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write to this file instead of printing.", show_default=False),
    ] = None,
    of: Annotated[Of, typer.Option("--of", help="The files that the schema is for.")] = Of.SCENARIO,
) -> None:
    """Print the JSON Schema of scenarios or experiments, for editors.

    It knows the plugins that are installed.
    """
    import json

    from hpcsched.errors import Finding, InputError, Place
    from hpcsched.experiment.schema import experiment_schema
    from hpcsched.plugins import manager
    from hpcsched.scenario.schema import scenario_schema

    make = scenario_schema if of is Of.SCENARIO else experiment_schema
    text = json.dumps(make(manager.registry()), indent=2, ensure_ascii=False)
    if out is None:
        typer.echo(text)
        return
    try:
        out.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        message = f"the file cannot be written: {(error.strerror or str(error)).lower()}"
        raise InputError(Finding("unwritable-file", message, Place(str(out)))) from error
