"""What is shown of the comparison: its runs, a table, figures, and what the paper has for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from comparisons.declaring import Label, check_known, check_unique, read_declaration
from hpcsched.parameters import Listed, Params
from hpcsched.report.figures.chart_parts import PALETTE


def _read_printed(value: Any) -> Any:
    """Let a bare number stand for a percentage."""
    return {"percent": value} if isinstance(value, int) else value


def _check_colour(name: str) -> str:
    if name not in PALETTE:
        raise ValueError(f"expected one of {', '.join(PALETTE)}, found {name!r}")
    return name


class Target(Params):
    """An objective, and the metric by which its runs are compared."""

    title: str = Field(description="What it is called in the table.")
    metric: str = Field(description="The metric, as summaries name it.")


class Run(Params):
    """A dispatcher as it is run, once in each half; the cells have its labels."""

    label: Label = Field(description="What it is called.")
    colour: Annotated[str, AfterValidator(_check_colour)] = Field(
        description="The colour of its bars."
    )
    dispatcher: str = Field(description="The label of its dispatcher.")
    objective: str | None = Field(None, description="What it is to make small; none: no matter.")


class Printed(Params):
    """What the paper has for a row: a percentage of the baseline, words, or both."""

    percent: int | None = Field(None, description="The percentage.")
    note: str = Field("", description="What the paper says beside it or instead.")

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if self.percent is None and not self.note:
            raise ValueError("expected a percentage, a note, or both")
        return self


class Row(Params):
    """A row of the table: a run, seen by the metric of an objective."""

    objective: str = Field(description="The objective.")
    run: str = Field(description="The run's label.")
    paper: Mapping[str, Annotated[Printed, BeforeValidator(_read_printed)]] = Field(
        default_factory=dict, description="What the paper has, by half."
    )


class Figure(Params):
    """A figure: bars of runs in one half, by the metric of an objective."""

    name: Label = Field(description="The name of its files.")
    title: str = Field(description="What stands over it.")
    objective: str = Field(description="The objective whose metric it shows.")
    half: str = Field(description="The half.")
    runs: Annotated[tuple[str, ...], Listed] = Field(description="Its bars, by label.")


class Presentation(Params):
    """What is shown of the whole comparison."""

    baseline: str = Field(description="The run that all others are a share of.")
    halves: Mapping[str, str] = Field(
        description="What the halves of the table are called, by label of the predictor."
    )
    objectives: Mapping[str, Target] = Field(description="The objectives, by label.")
    runs: Annotated[tuple[Run, ...], Listed] = Field(description="The runs.")
    table: Annotated[tuple[Row, ...], Listed] = Field(description="The rows of the table.")
    figures: Annotated[tuple[Figure, ...], Listed] = Field(description="The figures.")

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Everything that is named is declared, and each label stands for one thing."""
        labels = [run.label for run in self.runs]
        check_unique("the run", labels)
        check_unique("the figure", [figure.name for figure in self.figures])
        check_unique("the row", [f"{row.objective}, {row.run}" for row in self.table])
        shown: list[Row | Figure] = [*self.table, *self.figures]
        check_known("run", labels, [self.baseline, *(row.run for row in self.table)])
        check_known("run", labels, [name for figure in self.figures for name in figure.runs])
        check_known("objective", self.objectives, [one.objective for one in shown])
        check_known("objective", self.objectives, [r.objective for r in self.runs if r.objective])
        for halves in (
            *(row.paper for row in self.table),
            [figure.half for figure in self.figures],
        ):
            check_known("half", self.halves, halves)
        return self

    def run_named(self, label: str) -> Run:
        """Return the run with a label, which is declared."""
        return next(run for run in self.runs if run.label == label)

    def printed(self, objective: str, run: str, half: str) -> Printed | None:
        """Return what the paper has for a run, an objective and a half, if anything."""
        for row in self.table:
            if (row.objective, row.run) == (objective, run):
                return row.paper.get(half)
        return None


def read_presentation(path: Path) -> Presentation:
    """Return what a YAML file says is shown.

    Raises InputError with all that is wrong with it, and where.
    """
    return read_declaration(path, Presentation)
