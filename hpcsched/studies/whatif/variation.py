"""Model of a variation file: variants of a scenario, one by one or as a matrix."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hpcsched.parameters import Listed, Params
from hpcsched.plugins.registry import Registry
from hpcsched.scenario.faults import refusal, refuse
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.experiment.axes import Axis, axis_of
from hpcsched.studies.experiment.matrix import Declared, matrix_refusals, path_refusals


class DeclaredVariant(Params):
    """A variant: the base scenario with other values."""

    name: Name = Field(description="The variant's name.")
    set: dict[str, Any] = Field(
        min_length=1,
        description="Values by key path, as with `--set`: dispatcher.order: sjf.",
    )


class Variation(Params):
    """Variants of a base scenario."""

    name: Name | None = Field(
        default=None, description="The study's name; that of the file by default."
    )
    description: str | None = Field(default=None, description="Purpose of the study.")
    variants: Annotated[tuple[DeclaredVariant, ...], Listed] = Field(
        default=(), description="Variants, each with its own values."
    )
    matrix: Annotated[tuple[Declared, ...], Listed] = Field(
        default=(),
        description=(
            "Axes as in an experiment, crossed with each other: lists of values by key path."
            " Each combination is a variant. `names` are labels."
        ),
    )
    exclude: Annotated[tuple[dict[str, Any], ...], Listed] = Field(
        default=(), description="Combinations of the matrix to leave out: labels by axis."
    )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes of the matrix with their labels."""
        return tuple(axis_of(declared) for declared in self.matrix)

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        """Refuse all values that cannot be expanded, each at its place."""
        refusals = matrix_refusals(self.matrix, self.exclude)
        for n, variant in enumerate(self.variants):
            refusals += path_refusals(
                (("variants", n, "set", text), text) for text in variant.set
            )  # fmt: skip
        if not self.variants and not self.matrix:
            message = "expected 'variants' or a 'matrix', found neither"
            refusals.append(refusal("missing-key", message, None))
        if refusals:
            raise refuse(*refusals)
        return self


SCHEMA_ID = "urn:hpcsched:whatif"


def variation_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of variation files.

    Values are those of scenarios, by key path, and are not described there.
    """
    return model_schema(Variation, registry, (), SCHEMA_ID, "hpcsched what-if study")
