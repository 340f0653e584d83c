"""What factories of planning dispatchers share."""

from typing import Any, Protocol

import numpy as np

from hpcsched.dispatching.objective import Objective
from hpcsched.system.system import IntArray


class Context(Protocol):
    """What these factories need of an assembly."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    @property
    def seed(self) -> int:
        """A seed for this plugin."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


def random_state(seed: int) -> IntArray:
    """Return the state of a search's random numbers, which is never 0, `[1]`."""
    return np.array([seed % (1 << 62) + 1], dtype=np.int64)
