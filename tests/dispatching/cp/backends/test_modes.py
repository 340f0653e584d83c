"""What schedule-or-postpone knows of formulations, and what it refuses."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import find, settings

from hpcsched.dispatching.cp.backends.backend import Budget
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.backends.schedule_or_postpone import (
    MEANINGS,
    ScheduleOrPostpone,
    mode_of,
)
from hpcsched.dispatching.cp.formulation import Formulation, ModelParts
from hpcsched.dispatching.cp.formulations.scheduling import Nowhere
from hpcsched.dispatching.cp.solver_process import Task, solve
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.errors import InputError
from tests.dispatching.cp.making import FORMULATIONS
from tests.dispatching.cp.tiny import Size, tiny_data

TINY = Size(jobs=3, nodes=2, types=2, units=2, run_time=3, capacity=3)


def needed(formulation: Formulation) -> tuple[Any, ...]:
    """Return the constraints that give a formulation its meaning."""
    return MEANINGS[formulation.placing][1]


CONSTRAINTS = [
    pytest.param(
        name,
        kind,
        id=f"{name}: {kind.__name__}",
        marks=() if name in ("hcp19", "pcp19") else pytest.mark.slow,
    )
    for name, formulation in FORMULATIONS.items()
    for kind in needed(formulation)
]


def unlike(_parts: ModelParts) -> list[Any]:
    """Return no constraint, of a kind that the search does not know."""
    return []


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_a_constraint_that_it_does_not_know_is_named(formulation: Formulation) -> None:
    """The formulation itself is known; with one constraint more or less it is not."""
    mode_of(formulation)
    more = replace(formulation, constraints=(*formulation.constraints, unlike))
    with pytest.raises(InputError, match="differ in unlike;"):
        mode_of(more)
    kind = needed(formulation)[0]
    without = tuple(one for one in formulation.constraints if one is not kind)
    with pytest.raises(InputError, match=f"differ in {kind.__name__};"):
        mode_of(replace(formulation, constraints=without))


def test_variables_that_it_does_not_know_are_named() -> None:
    """What they mean cannot be known, whatever the constraints are."""

    class Elsewhere(Nowhere):
        """Variables of a third party."""

    changed = replace(FORMULATIONS["hcp19"], placing=Elsewhere)
    with pytest.raises(InputError, match="differ in Elsewhere;"):
        mode_of(changed)


@pytest.mark.parametrize(("name", "kind"), CONSTRAINTS)
def test_a_model_without_a_constraint_has_another_optimum(name: str, kind: Any) -> None:
    """Each constraint of a model is seen beside the search: without it, some optimum differs."""
    formulation = FORMULATIONS[name]
    without = tuple(one for one in formulation.constraints if one is not kind)
    changed = replace(formulation, constraints=without)

    def bound(one: Formulation, data: ModelData) -> float | None:
        # Not the objective: what cannot be packed is forbidden, and the model solved again, which
        # makes up for capacities of nodes that are missing.
        return solve(Task(one, data, OrTools(), Budget(10))).bound

    def differs(data: ModelData) -> bool:
        try:
            without_it = bound(changed, data)
        except TypeError:  # variables that are in no constraint have no value
            return True
        search = solve(Task(formulation, data, ScheduleOrPostpone(), Budget(1)))
        assert search.status == "optimal"
        return without_it != search.objective and bound(formulation, data) == search.objective

    find(tiny_data(TINY), differs, settings=settings(max_examples=500, database=None))
