"""The resolved scenario: all defaults filled in, units as numbers, paths absolute."""

from typing import Any

import yaml

from hpcsched.scenario.models import Scenario
from hpcsched.scenario.yaml_core import StrictDumper


def resolved_values(scenario: Scenario) -> dict[str, Any]:
    """Return every key of a scenario with its value, in the order in which keys are declared."""
    return scenario.model_dump(mode="json")


def resolved_yaml(scenario: Scenario) -> str:
    """Return a scenario as YAML that loads again to an equal scenario."""
    return yaml.dump(
        resolved_values(scenario),
        Dumper=StrictDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )
