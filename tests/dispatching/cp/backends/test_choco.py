"""Choco: rectangles with one variable for several origins."""

from collections.abc import Iterator
from contextlib import closing

import cpmpy as cp
import numpy as np
import pytest

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.formulations.pcp20 import pcp20
from hpcsched.dispatching.cp.model_solving import Task, solve
from hpcsched.dispatching.cp.no_overlap_2d import NoOverlap2D
from hpcsched.dispatching.cp.solver_limits import Budget
from hpcsched.dispatching.cp.solver_process import SolverProcess
from hpcsched.dispatching.planning.model_data import ModelData

pytest.importorskip("pychoco")

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
