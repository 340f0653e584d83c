"""Processes for solvers that a test asks hundreds of times; lost answers are counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from hpcsched.dispatching.cp.solver_process import Answer, SolverProcess, Task

SECONDS = 60.0
"""Time limit of a call: many times what a tiny model takes."""

ASKED_PER_LOSS = 500
"""Number of calls of which one may be lost."""


class SolverProcesses:
    """A process for each solver, as in a run: a solver that crashes loses one answer.

    Attributes
    ----------
    asked : int
        Number of calls in the last context of `few_lost`.
    lost : list of str
        Reasons of those that brought no answer.
    """

    def __init__(self) -> None:
        self._processes: dict[type, SolverProcess] = {}
        self.asked = 0
        self.lost: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self._processes.values():
            process.close()

    def solve(self, task: Task) -> Answer | None:
        """Return the answer to a task; None if it is lost."""
        process = self._processes.setdefault(type(task.backend), SolverProcess())
        answer = process.solve(task, SECONDS)
        self.asked += 1
        if answer.status in ("failed", "overrun"):
            self.lost.append(answer.why)
            return None
        return answer

    @contextmanager
    def few_lost(self) -> Iterator[None]:
        """Fail if more than one answer in `ASKED_PER_LOSS` is lost in this context."""
        self.asked, self.lost = 0, []
        yield
        few = self.asked // ASKED_PER_LOSS
        assert len(self.lost) <= few, (f"{len(self.lost)} of {self.asked} are lost", self.lost)
