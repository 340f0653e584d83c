"""What a comparison of predictors declares, and the runs that follow from it."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from experiments.cell import Cell
from experiments.declaring import Label, check_known, check_unique
from hpcsched.errors import Finding, InputError
from hpcsched.parameters import InputPath, Listed, Params
from hpcsched.report.figure_style import PALETTE


def _check_colour(name: str) -> str:
    check_known("colour", PALETTE, [name])
    return name


class Trace(Params):
    """A trace on its system."""

    scenario: InputPath = Field(description="The scenario of which each run is a variation.")
    allocator: str = Field("first_fit", description="The allocator of every dispatcher.")


class Prediction(Params):
    """A predictor as it is run."""

    label: Label = Field(description="What it is called.")
    colour: Annotated[str, AfterValidator(_check_colour)] = Field(description="Its boxes' colour.")
    predictor: str | Mapping[str, Any] = Field(description="The scenario's predictor.")


class Policy(Params):
    """A dispatcher as it is run."""

    label: Label = Field(description="What it is called.")
    dispatcher: Mapping[str, Any] = Field(
        description="The scenario's dispatcher, without its allocator."
    )


class Comparison(Params):
    """Every dispatcher with every predictor on every trace."""

    name: Label = Field(description="Its name, and that of its folder in runs/.")
    seed: int = Field(0, ge=0, description="The seed of every run.")
    correction: str | Mapping[str, Any] = Field(
        "one-second", description="The scenarios' correction of predictions that have run out."
    )
    traces: Mapping[Label, Trace] = Field(description="The traces.", min_length=1)
    predictors: Annotated[tuple[Prediction, ...], Listed] = Field(
        description="The predictors; others are a share of what the first came to.", min_length=1
    )
    dispatchers: Annotated[tuple[Policy, ...], Listed] = Field(
        description="The dispatchers.", min_length=1
    )

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        check_unique("the predictor", [one.label for one in self.predictors])
        check_unique("the dispatcher", [one.label for one in self.dispatchers])
        return self


def label_of(policy: Policy, prediction: Prediction) -> str:
    """Return the label of the cell of a dispatcher and a predictor."""
    return f"{policy.label}+{prediction.label}"


def cells(
    comparison: Comparison,
    out: Path,
    only: Collection[str] | None = None,
    first: int | None = None,
) -> list[Cell]:
    """Return the cells of a comparison: of all traces and dispatchers, or of those in `only`.

    `only` has labels of traces, dispatchers or predictors: of each of the three, those that are
    named, or all where none is. `first` is how many jobs of a log to replay, if not all. Raises
    InputError where `only` names what is not there.
    """
    kinds: tuple[Collection[str], ...] = (
        tuple(comparison.traces),
        [one.label for one in comparison.dispatchers],
        [one.label for one in comparison.predictors],
    )
    there = [label for labels in kinds for label in labels]
    for label in only or ():
        if label not in there:
            raise InputError(
                Finding(
                    "unknown-label", f"nothing is called {label!r}; there are: {', '.join(there)}"
                )
            )
    traces, policies, predictions = (
        [label for label in labels if label in (only or ())] or labels for labels in kinds
    )
    return [
        Cell(
            trace,
            label_of(policy, prediction),
            Path(comparison.traces[trace].scenario),
            _overrides(comparison, trace, policy, prediction, first),
            out / trace / label_of(policy, prediction),
        )
        for trace in traces
        for policy in comparison.dispatchers
        for prediction in comparison.predictors
        if policy.label in policies and prediction.label in predictions
    ]


def _overrides(
    comparison: Comparison, trace: str, policy: Policy, prediction: Prediction, first: int | None
) -> tuple[str, ...]:
    label = label_of(policy, prediction).replace("+", "-")
    values: dict[str, Any] = {
        "name": f"{comparison.name}-{trace}-{label}",
        "seed": comparison.seed,
        "predictor": prediction.predictor,
        "correction": comparison.correction,
        "dispatcher": {**policy.dispatcher, "allocator": comparison.traces[trace].allocator},
    }
    if first is not None:
        values["trace.jobs"] = first
    # JSON is YAML as well, and fits on one line.
    return tuple(f"{key}={json.dumps(value)}" for key, value in values.items())
