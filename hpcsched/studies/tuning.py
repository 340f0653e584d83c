"""Tuning: parameters of a scenario are searched on a part of a log and judged on a later part."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hpcsched.errors import Finding, InputError
from hpcsched.parameters import Listed, Params
from hpcsched.plugins import manager
from hpcsched.plugins.registry import Registry
from hpcsched.scenario import Scenario
from hpcsched.scenario.document import parse_document, read_text
from hpcsched.scenario.faults import refuse
from hpcsched.scenario.key_path import KeyPath, parse_key_path
from hpcsched.scenario.loading import LoadedScenario, check_document
from hpcsched.scenario.positions import Override, Positions, by_position
from hpcsched.scenario.review import Check, missing_inputs
from hpcsched.scenario.scenario_schema import model_schema
from hpcsched.scenario.system import Name
from hpcsched.studies.declared_file import DeclaredSetting, cell_name, validated
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

    Raises
    ------
    InputError
        If anything is wrong in either file, with all findings. The ends of all ranges, and all
        values of lists, are tried.
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
        self._registry = manager.registry() if registry is None else registry
        document = parse_document(read_text(Path(space)))
        self._places = Positions.of(str(space), document)
        self.space = validated(TuningSpace, document, self._places, self._registry)
        self.name = self.space.name or cell_name([Path(space).stem])
        self._path = scenario
        self._document = parse_document(read_text(Path(scenario)))
        self._overrides = overrides
        loaded = check_document(self._document, scenario, overrides, self._registry)
        missing = missing_inputs(loaded, "error")
        if missing:
            raise InputError(missing)
        self._check = check
        self._warnings: dict[Finding, None] = {}
        self._checked(loaded)
        self.base: Scenario = loaded.scenario
        self._check_ends(str(space))
        self.warnings: Sequence[Finding] = tuple(self._warnings)

    def with_values(self, values: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values, by key path.

        Raises
        ------
        InputError
            The values do not go together.
        """
        return self._loaded_with(values).scenario

    def _loaded_with(self, values: Mapping[str, Any]) -> LoadedScenario:
        settings = [self._setting(text, value) for text, value in values.items()]
        given: list[Override] = [*self._overrides, *settings]
        return check_document(self._document, self._path, given, self._registry)

    def _checked(self, loaded: LoadedScenario) -> None:
        """Apply the further check: keep its warnings, raise InputError with its errors."""
        found = list(self._check(loaded)) if self._check else []
        self._warnings.update((one, None) for one in found if one.severity == "warning")
        errors = [one for one in found if one.severity == "error"]
        if errors:
            raise InputError(errors)

    def _setting(self, text: str, value: Any) -> DeclaredSetting:
        at: KeyPath = ("parameters", text)
        source = self._places.place(at, on_key=True)
        return DeclaredSetting(parse_key_path(text), value, source, at, self._places)

    def _check_ends(self, file: str) -> None:
        findings: dict[Finding, None] = {}
        for text, range_ in self.space.parameters.items():
            for value in range_.ends:
                try:
                    self._checked(self._loaded_with({text: value}))
                except InputError as error:
                    findings.update(dict.fromkeys(error.findings))
        if findings:
            raise InputError(by_position(findings, file))
