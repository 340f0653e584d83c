"""`hpcsched schema`: the JSON Schemas of scenarios, experiments and variations, for editors."""

from enum import StrEnum
from typing import Annotated

import typer

from hpcsched.cli.options import with_option_groups
from hpcsched.cli.output import TextOutput, json_text

PANEL = "Start"


class Of(StrEnum):
    """The kinds of files that have a schema."""

    SCENARIO = "scenario"
    EXPERIMENT = "experiment"
    WHATIF = "whatif"
    TUNING = "tuning"


@with_option_groups
def schema(
    *,
    output: TextOutput,
    of: Annotated[Of, typer.Option("--of", help="The kind of file.")] = Of.SCENARIO,
) -> None:
    """Print the JSON Schema of scenarios or other files.

    Editors complete and check files by it. It includes the installed plugins.
    """
    from hpcsched.plugins import manager
    from hpcsched.scenario.scenario_schema import scenario_schema
    from hpcsched.studies.experiment import experiment_schema
    from hpcsched.studies.tuning import tuning_schema
    from hpcsched.studies.whatif import variation_schema

    make = {
        Of.SCENARIO: scenario_schema,
        Of.EXPERIMENT: experiment_schema,
        Of.WHATIF: variation_schema,
        Of.TUNING: tuning_schema,
    }[of]
    output.write(json_text(make(manager.registry())))
