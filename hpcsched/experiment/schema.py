"""JSON Schema of experiments, for editors."""

from typing import Any

from hpcsched.experiment.declaration import ExperimentDeclaration
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.scenario_schema import model_schema

SCHEMA_ID = "urn:hpcsched:experiment"


def experiment_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of experiments that may use the executors of a registry.

    Values in a matrix are those of scenarios, by key path, and are not described there.
    """
    return model_schema(
        ExperimentDeclaration, registry, ("executor",), SCHEMA_ID, "hpcsched experiment"
    )
