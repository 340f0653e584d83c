"""Compilation of planning code before the first round, on a model that is small.

The types of a model's arrays do not depend on their sizes, and code is compiled for types alone.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from hpcsched.dispatching.planning.list_plans import ListPlanner
from hpcsched.dispatching.planning.model_data import ModelData


@runtime_checkable
class PreparesSearch(Protocol):
    """Protocol of an improver that runs compiled code."""

    def prepare_code(self, planner: ListPlanner) -> None:
        """Compile the code, or load it, on a small model; the improver's state stays as it is."""


def small_planner() -> ListPlanner:
    """Return the planner of two jobs on one node, with the code of list plans compiled."""
    planner = ListPlanner(_small_model())
    planner.plan((0, 1))
    return planner


def _small_model() -> ModelData:
    """Return a model of two jobs of one second on a node with room for one."""
    none, once = np.zeros(0, dtype=np.int64), np.ones(2, dtype=np.int64)
    return ModelData(
        step=1,
        units=once,
        requests=np.ones((2, 1), dtype=np.int64),
        run_times=once,
        capacity=np.ones((1, 1), dtype=np.int64),
        room=np.ones((2, 1), dtype=np.int64),
        allocated_until=none,
        allocated_on=none,
        allocated=none.reshape(0, 1),
        weights=np.ones((1, 2), dtype=np.int64),
        free=np.zeros((1, 2), dtype=np.int64),
        makespan=0,
        horizon=2,
    )
