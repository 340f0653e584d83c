"""The constraint that rectangles do not overlap: three ways to say it agree."""

from itertools import product

import cpmpy as cp
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.cp.backends.ortools import CpSat
from hpcsched.dispatching.cp.formulations.unit_positions import NoOverlap2D
from tests.strategies import tries

SIZES = st.integers(1, 3)
ORIGINS = st.one_of(st.integers(0, 3), st.tuples(st.integers(0, 1), st.integers(2, 3)))
"""A number, or the bounds of a variable."""


def overlap(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Say whether two rectangles `(x, width, y, height)` share a cell."""

    def cells(x: int, width: int, y: int, height: int) -> set[tuple[int, int]]:
        return set(product(range(x, x + width), range(y, y + height)))

    return bool(cells(*a) & cells(*b))


@tries(60)
@given(st.lists(st.tuples(ORIGINS, SIZES, ORIGINS, SIZES), min_size=1, max_size=3))
def test_value_decomposition_and_native_constraint_agree(rectangles):
    """The solver, the parts and the value hold of the same rectangles, which cells confirm."""
    x, width, y, height = (list(part) for part in zip(*rectangles, strict=True))
    variables, origins = [], []
    for origin in (*x, *y):
        if isinstance(origin, tuple):
            variables.append(cp.intvar(*origin))
            origins.append(variables[-1])
        else:
            origins.append(origin)
    constraint = NoOverlap2D(origins[: len(x)], width, origins[len(x) :], height)
    parts, defining = constraint.decompose()
    assert not defining

    right = set()
    for values in product(*(range(v.lb, v.ub + 1) for v in variables)):
        for variable, value in zip(variables, values, strict=True):
            variable._value = value
        where = [o if isinstance(o, int) else o.value() for o in origins]
        boxes = list(zip(where[: len(x)], width, where[len(x) :], height, strict=True))
        good = not any(overlap(boxes[a], boxes[b]) for b in range(len(boxes)) for a in range(b))
        assert constraint.value() is good
        assert all(part.value() if hasattr(part, "value") else part for part in parts) is good
        if good:
            right.add(values)

    if not variables:
        return
    for name in ("native", "decomposed"):
        found: set[tuple[int, ...]] = set()
        model = cp.Model([constraint, *(v >= v.lb for v in variables)])

        def note(found: set[tuple[int, ...]] = found) -> None:
            found.add(tuple(v.value() for v in variables))

        solver = CpSat(model) if name == "native" else cp.SolverLookup.get("ortools", model)
        native = solver.ort_model.proto.constraints
        assert any(c.has_no_overlap_2d() for c in native) is (name == "native")
        solver.solveAll(display=note)
        assert found == right, name


def test_it_has_no_value_while_an_origin_has_none():
    """Without a solution nothing can be said."""
    x = cp.intvar(0, 3)
    constraint = NoOverlap2D([x, 0], [1, 1], [0, 0], [1, 1])
    x.clear()
    assert constraint.value() is None
    x._value = 1
    assert constraint.value() is True


def test_one_that_may_or_may_not_hold_is_decomposed():
    """Under a condition the parts stand in for the native constraint."""
    x, apart = cp.intvar(0, 3), cp.boolvar()
    model = cp.Model(apart == NoOverlap2D([x, 0], [1, 2], [0, 0], [1, 1]), x <= 1)
    assert CpSat(model).solve()
    assert not apart.value()
