"""Calls of the core for single problems."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hpcsched import _core
from hpcsched._core import Choices, Rule
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_allocators import (
    PythonAllocator,
    chooses_slots,
    core_allocator,
    scarce_resource_mask,
)
from hpcsched.dispatching.rules.problem_state import ProblemState


class CoreCalls:
    """Caller of the core for one problem after another."""

    def __init__(self, rule: Rule, allocator: Allocator, **options: Any) -> None:
        self._rule, self._options = rule, options
        self._allocator = allocator
        self._in_core = core_allocator(allocator)
        is_external = self._in_core is _core.Allocator.EXTERNAL
        self._asked = PythonAllocator(allocator) if is_external else None
        self._chooses_slots = chooses_slots(allocator)
        self._filled: ProblemState | None = None

    def fill(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        behind: Sequence[WaitingJob] | None = None,
    ) -> ProblemState:
        """Fill the core's state from a problem, reusing the previous state if it fits.

        Parameters
        ----------
        behind
            The same jobs in the order behind the head job; None: the same order.
        """
        slot_map = problem.slot_map if self._chooses_slots else None
        # States are reused, since making their arrays takes longer than deciding most rounds.
        filled = self._filled
        if filled is None or filled.system is not problem.system or filled.slot_map is not slot_map:
            scarce = scarce_resource_mask(problem.system, self._allocator)
            choices = Choices(self._rule, allocator=self._in_core, scarce=scarce, **self._options)
            filled = self._filled = ProblemState(problem.system, slot_map, choices)
        filled.fill(problem, order, behind)
        return filled

    def decide(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob], *, explains: bool = False
    ) -> None:
        """Decide the problem of the last `fill`."""
        with self._asking(problem, order) as allocator:
            self._filled_state.decide(allocator, explains)

    def start_beside_plan(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        starting: int,
        planned: int,
    ) -> None:
        """Start planned jobs, and others that delay none of them; see `decide`.

        The first `planned` jobs have a planned start, the first `starting` of them now.
        """
        with self._asking(problem, order) as allocator:
            self._filled_state.start_beside_plan(allocator, starting, planned)

    @property
    def _filled_state(self) -> _core.State:
        assert self._filled is not None
        return self._filled.state

    @contextmanager
    def _asking(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob]
    ) -> Iterator[PythonAllocator | None]:
        """Give the allocator that the core asks; None where it places jobs itself."""
        if self._asked is None:
            yield None
            return
        with self._asked.about(problem, order):
            yield self._asked


def starts_of(order: Sequence[WaitingJob], filled: ProblemState) -> tuple[Start, ...]:
    """Return the starts that the core decided, in their order."""
    return tuple([Start(order[row].job_id, where) for row, where in filled.started()])
