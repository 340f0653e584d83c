"""`hpcsched schema`: the JSON Schema of scenarios or experiments, for editors."""

from enum import StrEnum
from typing import Annotated

import typer

from hpcsched.cli.output import OutFile, emit, json_text


class Of(StrEnum):
    """The kinds of files that have a schema."""

    SCENARIO = "scenario"
    EXPERIMENT = "experiment"


def schema(
    out: OutFile = None,
    of: Annotated[Of, typer.Option("--of", help="The kind of file.")] = Of.SCENARIO,
) -> None:
    """Print the JSON Schema of scenarios or experiments.

    Editors complete and check files by it. It includes the installed plugins.
    """
    from hpcsched.experiment.declaration import experiment_schema
    from hpcsched.plugins import manager
    from hpcsched.scenario.scenario_schema import scenario_schema

    make = scenario_schema if of is Of.SCENARIO else experiment_schema
    emit(json_text(make(manager.registry())), out)
