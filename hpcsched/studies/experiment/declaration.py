"""Model of an experiment's file: a base scenario, and axes along which it is varied."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.parameters import InputPath, Listed, Params, Selects
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.choices import NamedChoice
from hpcsched.scenario.faults import refuse
from hpcsched.scenario.key_path import KeyPath
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.experiment.axes import Axis, axis_of
from hpcsched.studies.experiment.matrix import MOST_CELLS, Declared, matrix_refusals

_LOCAL: Any = "local"


class ExperimentDeclaration(Params):
    """A base scenario, settings of all cells, and the axes of a matrix.

    Every combination of one position on each axis is a cell, but for the excluded ones.
    """

    name: Name = Field(description="Name of the experiment and of its folder.")
    description: str | None = Field(default=None, description="Purpose of the experiment.")
    scenario: InputPath = Field(
        description="The scenario that all cells start from; relative to this file."
    )
    set: dict[str, Any] = Field(
        default_factory=dict,
        description="Values for all cells, by key path, as with `--set`: trace.jobs: 1000.",
    )
    matrix: Annotated[tuple[Declared, ...], Listed, Field(min_length=1)] = Field(
        description=(
            "The axes, crossed with each other. An axis has a list of values under a key path of"
            " the scenario; lists under several key paths go together. `names` are its labels."
        )
    )
    exclude: Annotated[tuple[dict[str, Any], ...], Listed] = Field(
        default=(),
        description=(
            "Cells to leave out: labels by axis, one or a list of them; an axis is called by one of"
            " its key paths. Cells that have one of the labels on each of the axes are not run."
        ),
    )
    replicas: int = Field(
        default=1,
        ge=1,
        le=MOST_CELLS,
        description=(
            "Number of runs of each cell: the first with the scenario's seed, the others with"
            " seeds spawned from it."
        ),
    )
    executor: Annotated[NamedChoice, Selects("executor")] = Field(
        default=_LOCAL,
        description="Executor of the cells: processes of this machine, or a cluster.",
    )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes with their labels."""
        return tuple(axis_of(declared) for declared in self.matrix)

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        """Refuse axes that cannot be expanded, all at once, each at its place."""
        places: list[tuple[KeyPath, str]] = [(("set", text), text) for text in self.set]
        refusals = matrix_refusals(self.matrix, self.exclude, places, self.replicas)
        if refusals:
            raise refuse(*refusals)
        return self


SCHEMA_ID = "urn:hpcsched:experiment"


def experiment_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of experiments that may use the executors of a registry.

    Values in a matrix are those of scenarios, by key path, and are not described there.
    """
    return model_schema(
        ExperimentDeclaration, registry, ("executor",), SCHEMA_ID, "hpcsched experiment"
    )
