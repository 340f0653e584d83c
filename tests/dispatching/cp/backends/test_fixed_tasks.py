"""Fixed tasks as variables with one value each, which all solvers take."""

from typing import Any

import cpmpy as cp
import pytest

from hpcsched.dispatching.cp.backends.any_solver import with_constants
from hpcsched.dispatching.cp.formulations.unit_positions import NoOverlap2D

X, Y, B = cp.intvar(0, 9), cp.intvar(0, 9), cp.boolvar()


@pytest.mark.parametrize(
    ("constraint", "places"),
    [
        (cp.Cumulative([X, 0, 3], [1, 2, 3], demand=[1, 1, 2], capacity=3), (0,)),
        (
            cp.CumulativeOptional(
                [X, 0, 0], [1, 2, 3], demand=[1, 1, 2], capacity=3, is_present=[B, True, True]
            ),
            (0,),
        ),
        (cp.NoOverlap([X, 5], [1, 2]), (0,)),
        (NoOverlap2D([X, 0], [1, 2], [Y, 4], [1, 1]), (0, 2)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_starts_that_are_numbers(constraint: Any, places: tuple[int, ...]) -> None:
    """Each becomes a variable of its own with that value; all else stays, and so does the given."""
    before = [list(part) if isinstance(part, (list, tuple)) else part for part in constraint.args]
    changed = with_constants(constraint)
    assert changed.name == constraint.name
    for place, (new, old) in enumerate(zip(changed.args, before, strict=True)):
        if place not in places:
            assert str(new) == str(constraint.args[place])
            continue
        bounds = [(v.lb, v.ub) for v in new]
        assert bounds == [(o, o) if isinstance(o, int) else (o.lb, o.ub) for o in old]
        assert len({v.name for v in new}) == len(new)
        assert [str(o) for o in constraint.args[place]] == [str(o) for o in old]


def test_other_constraints_and_variables_stay() -> None:
    """There is nothing to change."""
    for constraint in (X + 1 <= Y, cp.AllDifferent([X, Y]), cp.NoOverlap([X, Y], [1, 2])):
        assert with_constants(constraint) is constraint
