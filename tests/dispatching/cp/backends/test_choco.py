"""Choco: rectangles with one variable for several origins, and memory of models."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import cpmpy as cp
import numpy as np
import pytest

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulations.pcp20 import pcp20
from hpcsched.dispatching.cp.model_solving import Task, solve
from hpcsched.dispatching.cp.no_overlap_2d import NoOverlap2D
from hpcsched.dispatching.cp.solver_limits import Budget, StoppingRule
from hpcsched.dispatching.cp.solver_process import SolverProcess
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.process_memory import resident_memory

pytest.importorskip("pychoco")

from pychoco import backend
from pychoco._utils import make_int_array

from hpcsched.dispatching.cp.backends import choco

NONE = np.zeros(0, dtype=np.int64)
THREE_UNITS = ModelData(
    1,
    np.array([1, 2, 3, 1]),
    np.array([[2], [1], [1], [1]]),
    np.array([4, 4, 3, 3]),
    np.array([[2], [1], [0]]),
    np.array([[1, 0, 0], [2, 1, 0], [2, 1, 0], [2, 1, 0]]),
    NONE,
    NONE,
    NONE.reshape(0, 1),
    np.ones((1, 4), dtype=np.int64),
    np.zeros((1, 4), dtype=np.int64),
    0,
    14,
)
"""Four jobs, two of several units, on nodes of two cores and of one."""


@pytest.fixture(scope="module")
def process() -> Iterator[SolverProcess]:
    """Return a process, so that the end of Choco's is an answer."""
    with closing(SolverProcess()) as process:
        yield process


def test_units_of_a_job_have_one_start(process: SolverProcess) -> None:
    """Starts 0, 0, 4, 7 or the like: jobs of 3 cores one after the other, the best sum is 11.

    Choco ended its process here while rectangles of a job shared the variable of their start.
    """
    task = Task(pcp20(), THREE_UNITS, choco.Choco(), Budget(20))
    answer = process.solve(task, 60)
    assert (answer.status, answer.objective, answer.why) == ("optimal", 11, "")
    assert solve(task._replace(backend=OrTools(), limits=Budget(60))).objective == 11


def test_a_repeated_origin_gets_variables_that_equal_it() -> None:
    """Of x, y, x and x the two later ones are new, and take the value of x."""
    x, y = cp.intvar(0, 5, name="x"), cp.intvar(0, 5, name="y")
    solver = choco._Solver(cp.Model(x + y >= 0, x == 4))
    natives = solver.solver_vars([x, y, x, x])
    distinct = solver._distinct(natives)
    assert len({id(variable) for variable in natives}) == 2
    assert len({id(variable) for variable in distinct}) == 4
    assert [id(variable) for variable in distinct[:2]] == [id(variable) for variable in natives[:2]]
    solution = solver.chc_model.get_solver().find_solution()
    assert [solution.get_int_val(variable) for variable in (distinct[2], distinct[3])] == [4, 4]


@pytest.mark.parametrize(
    ("above", "possible"), [(0, False), (1, True)], ids=["overlapping", "above one another"]
)
def test_rectangles_that_share_an_origin(above: int, possible: bool) -> None:
    """Two squares with one x overlap unless they differ in y."""
    x, y = cp.intvar(0, 3), cp.intvar(0, 3)
    model = cp.Model(NoOverlap2D([x, x], [1, 1], [y, y + above], [1, 1]))
    assert choco._Solver(model).solve() is possible


class Handles:
    """Arrays and limits that are made and freed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[int] = []
        self.freed: list[int] = []
        for name in ("create_int_array", "create_intvar_array", "node_counter"):
            monkeypatch.setattr(backend, name, self._noted(getattr(backend, name), self.made))
        free = backend.chocosolver_handles_destroy

        def destroy(handle: Any) -> None:
            self.freed.append(int(handle))
            free(handle)

        monkeypatch.setattr(backend, "chocosolver_handles_destroy", destroy)

    def _noted(self, make: Any, made: list[int]) -> Any:
        def make_and_note(*arguments: Any) -> Any:
            handle = make(*arguments)
            made.append(int(handle))
            return handle

        return make_and_note


def test_arrays_and_limits_of_a_call_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the call fails; those that others make are left alone."""
    handles = Handles(monkeypatch)
    make_int_array([1, 2])
    others = list(handles.made)
    with pytest.raises(ZeroDivisionError), choco._freed_handles():
        make_int_array([3])
        raise ZeroDivisionError
    make_int_array([4])
    assert len(handles.made) == 3
    assert handles.freed == handles.made[1:2]
    assert not set(others) & set(handles.freed)
    solve(Task(pcp20(), THREE_UNITS, choco.Choco(), Budget(1)))
    assert len(handles.made) > 5
    assert set(handles.made[3:]) <= set(handles.freed)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Budget(20), StoppingRule(5, 5, 0)], ids=["work", "time"])
def test_memory_does_not_grow_with_the_number_of_models(limits: Any) -> None:
    """300 models add less than 15 MB; they once added 20 to 50. Those before fill Choco's pools."""
    sizes = []
    for _ in range(2):
        for _ in range(300):
            solve(Task(pcp20(), THREE_UNITS, choco.Choco(), limits))
        sizes.append(resident_memory())
    assert None not in sizes or sizes == [None, None]
    if sizes[0] is not None:
        assert sizes[1] - sizes[0] < 15_000_000
