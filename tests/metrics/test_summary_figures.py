"""The built-in metrics and objectives as plugins."""

import math

import pytest
from pydantic import ValidationError

from hpcsched.dispatching import objectives
from hpcsched.metrics.metric import Metric, RunTables
from hpcsched.parameters import Params
from tests.metrics.tables import Ran, jobs_table, rounds_table

NONE = Params()
FIGURES = [
    objectives.BoundedSlowdown.build(objectives.TauParams(), None),
    objectives.Slowdown(),
    objectives.WaitTime(),
    objectives.AF(),
    objectives.AWF(),
    objectives.PSF.build(objectives.AlphaParams(), None),
    objectives.Utilization(),
    objectives.Makespan(),
    objectives.LossOfCapacity(),
]


@pytest.mark.parametrize("figure", FIGURES)
def test_empty_population(figure: Metric) -> None:
    """A figure over no jobs is None, and says what it would be over."""
    run = RunTables(jobs_table([]), rounds_table([]), {"core": 4})
    assert figure.measure(run) is None
    assert figure.population
    assert figure.unit in ("", "s")


@pytest.mark.parametrize("figure", FIGURES)
def test_only_jobs_of_no_length(figure: Metric) -> None:
    """Jobs of no length at one instant leave some figures undefined, and none infinite."""
    run = RunTables(jobs_table([Ran(5, 0, 0, 1)]), rounds_table([(5, 0, 4)]), {"core": 4})
    value = figure.measure(run)
    assert value is None or math.isfinite(value)


def test_objectives_are_the_metrics() -> None:
    """Each objective measures what its metric does, with its own parameters."""
    jobs = [Ran(0, 3, 2, 4), Ran(1, 100, 50, 2), Ran(7, 0, 0, 1)]
    table = jobs_table(jobs)
    run = RunTables(table, rounds_table([]), {"core": 4})
    pairs = [
        (objectives.Slowdown(), FIGURES[1]),
        (objectives.BoundedSlowdown(), FIGURES[0]),
        (objectives.AF(), FIGURES[3]),
        (objectives.AWF(), FIGURES[4]),
        (objectives.PSF(), FIGURES[5]),
        (objectives.Makespan(), FIGURES[7]),
    ]
    for objective, figure in pairs:
        assert objective.measure(table) == figure.measure(run) is not None
    other = objectives.BoundedSlowdown(60)
    assert other.measure(table) != FIGURES[0].measure(run)


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (objectives.TauParams, {"tau": 0}),
        (objectives.TauParams, {"tau": -1}),
        (objectives.AlphaParams, {"alpha": -0.5}),
        (objectives.AlphaParams, {"alpha": 11}),
    ],
)
def test_parameters_without_meaning_are_refused(model: type[Params], values: dict) -> None:
    """A bound below a second would divide by zero; α has a range for which accuracy is stated."""
    with pytest.raises(ValidationError):
        model(**values)


def test_bounds_of_alpha_are_allowed() -> None:
    """α may be 0, which leaves response times weighted by area over time, and 10."""
    assert [objectives.AlphaParams(alpha=alpha).alpha for alpha in (0, 10)] == [0, 10]
