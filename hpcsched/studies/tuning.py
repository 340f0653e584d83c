"""Tuning: parameters of a scenario are searched on a part of a log and judged on a later part."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.errors import Finding
from hpcsched.parameters import Listed, Params
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.scenario import Scenario
from hpcsched.scenario.document import Override, read_document
from hpcsched.scenario.faults import refuse
from hpcsched.scenario.review import Check
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.declared_file import VariedScenario, cell_name, declared_setting, validated
from hpcsched.studies.matrix import path_refusals

if TYPE_CHECKING:
    pass

Number = Annotated[int | float, Field(union_mode="left_to_right")]


class SearchRange(Params):
    """Values of a parameter: all numbers of a range, or those of a list."""

    low: Number | None = Field(default=None, description="Smallest number of the range.")
    high: Number | None = Field(
        default=None,
        description="Largest number; whole numbers are searched if both are whole.",
    )
    log: bool = Field(
        default=False, description="Whether to search by orders of magnitude; `low` is above 0."
    )
    values: Annotated[tuple[Any, ...], Listed] = Field(
        default=(), description="Values to choose from, in place of a range."
    )

    @property
    def is_whole(self) -> bool:
        """True for a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def ends(self) -> tuple[Any, ...]:
        """The values of the list, or the ends of the range."""
        return self.values or (self.low, self.high)

    @model_validator(mode="after")
    def _is_a_range_or_a_list(self) -> Self:
        if self.values:
            if self.low is not None or self.high is not None or self.log:
                raise ValueError("expected a range or 'values', found both")
            return self
        if self.low is None or self.high is None:
            raise ValueError("expected 'low' and 'high', or 'values'")
        if self.low >= self.high:
            raise ValueError(f"expected low below high, found {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"expected low above 0 with 'log', found {self.low}")
        return self


class Limit(Params):
    """A constraint: no class of jobs may fare worse than in the base by more than a share."""

    by: Literal["user", "group", "partition", "size"] = Field(
        description="Kind of the classes of jobs."
    )
    quantity: Literal["wait_time", "bounded_slowdown"] = Field(
        default="wait_time", description="Quantity with a limited mean."
    )
    percent: float = Field(
        default=5.0, ge=0, description="Largest increase of a class's mean, in percent."
    )
    least_jobs: int = Field(
        default=10, ge=1, description="Classes with fewer jobs in the window are left out."
    )


class TuningSpace(Params):
    """Parameters to search, and how."""

    name: Name | None = Field(
        default=None, description="The study's name; that of the file by default."
    )
    description: str | None = Field(default=None, description="Purpose of the study.")
    parameters: Mapping[str, SearchRange] = Field(
        min_length=1, description="Ranges by key path of the scenario: dispatcher.depth."
    )
    trials: int = Field(default=100, ge=1, le=100_000, description="Number of trials.")
    train: float = Field(
        default=0.5,
        ge=0.05,
        le=0.95,
        description="Share of the jobs, the first ones, on which parameters are searched.",
    )
    constraints: Annotated[tuple[Limit, ...], Listed] = Field(
        default=(), description="Limits that a trial must keep within the training window."
    )

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        refusals = list(path_refusals((("parameters", text), text) for text in self.parameters))
        if refusals:
            raise refuse(*refusals)
        return self


SCHEMA_ID = "urn:hpcsched:tuning"


def tuning_schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of tuning files.

    Values are those of scenarios, by key path, and are not described there.
    """
    return model_schema(TuningSpace, registry, (), SCHEMA_ID, "hpcsched tuning")


class TunedScenario:
    """A scenario and the space in which its parameters are searched.

    Parameters
    ----------
    check
        Further check of the scenario as it is, and with the ends of each range.
    """

    def __init__(
        self,
        scenario: str | os.PathLike[str],
        space: str | os.PathLike[str],
        overrides: Sequence[str] = (),
        registry: Registry | None = None,
        *,
        check: Check | None = None,
    ) -> None:
        registry = manager.registry() if registry is None else registry
        self._places = read_document(Path(space))
        self.space = validated(TuningSpace, self._places, registry)
        self.name = self.space.name or cell_name([Path(space).stem])
        self._overrides = overrides
        self._varied = VariedScenario(scenario, registry, check)
        self.base: Scenario = self._varied.checked(overrides).scenario
        for text, range_ in self.space.parameters.items():
            for value in range_.ends:
                with self._varied.collecting():
                    self._varied.checked(self._settings({text: value}))
        self._varied.refuse(str(space))
        self.warnings: Sequence[Finding] = self._varied.warnings

    def with_values(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values, by key path."""
        return self._varied.with_settings(self._settings(values)).scenario

    def _settings(self, values: Mapping[str, Any]) -> list[Override]:
        places = self._places
        own = [
            declared_setting(places, text, value, ("parameters", text))
            for text, value in values.items()
        ]
        return [*self._overrides, *own]
