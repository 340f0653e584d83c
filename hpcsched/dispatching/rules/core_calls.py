"""Calls of the core for single problems."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from hpcsched._core import State
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.core.state import Choices
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.allocator_codes import (
    PythonAllocator,
    allocator_code,
    chooses_slots,
    scarce_resource_mask,
)


class CoreCalls:
    """Caller of the core for one problem after another.

    Parameters
    ----------
    allocator
        Chooses the nodes of jobs that start.
    choices
        The rule, and further fields of `Choices`, by name.
    """

    def __init__(self, allocator: Allocator, choices: Mapping[str, Any]) -> None:
        self._allocator = allocator
        self._choices = {
            "depth": -1,
            "own_backfill_order": False,
            "correction": codes.ONE_SECOND,
            "writes_places": False,
            **choices,
        }
        code = allocator_code(allocator)
        self._choices["allocator"] = code
        self._asked = PythonAllocator(allocator) if code == codes.EXTERNAL else None
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
        problem
            Dispatching problem of the round.
        order
            Queue in the order in which jobs are considered.
        behind
            The same jobs in the order behind the head job; None: the same order.

        Returns
        -------
        ProblemState
            The filled state.
        """
        slot_map = problem.slot_map if self._chooses_slots else None
        # States are reused, since making their arrays takes longer than deciding most rounds.
        filled = self._filled
        if filled is None or filled.system is not problem.system or filled.slot_map is not slot_map:
            scarce = scarce_resource_mask(problem.system, self._allocator)
            choices = Choices(**self._choices, scarce=scarce)
            filled = self._filled = ProblemState(problem.system, slot_map, choices)
        filled.fill(problem, order, behind)
        return filled

    def decide(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob], *, explains: bool = False
    ) -> None:
        """Decide the problem of the last `fill`.

        Parameters
        ----------
        problem
            Problem of the last `fill`.
        order
            Jobs of the first rows.
        explains
            Whether to note reasons of waiting jobs.
        """
        with self._asking(problem, order) as allocator:
            self._state.decide(allocator, explains)

    def start_beside_plan(self, problem: DispatchingProblem, order: Sequence[WaitingJob]) -> None:
        """Start planned jobs, and others that delay none of them; see `decide`."""
        with self._asking(problem, order) as allocator:
            self._state.start_beside_plan(allocator)

    @property
    def _state(self) -> State:
        assert self._filled is not None
        return self._filled.state()

    @contextmanager
    def _asking(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob]
    ) -> Iterator[PythonAllocator | None]:
        """Give the allocator that the core asks; None where it places jobs itself."""
        assert self._filled is not None
        if self._asked is None:
            yield None
            return
        with self._asked.about(problem, order, self._filled.tables):
            yield self._asked


def starts_of(order: Sequence[WaitingJob], filled: ProblemState) -> tuple[Start, ...]:
    """Return the starts that the core decided, in their order.

    Parameters
    ----------
    order
        Jobs of the first rows.
    filled
        State after the call.

    Returns
    -------
    tuple[Start, ...]
        Starts with their allocations.
    """
    return tuple([Start(order[row].job_id, where) for row, where in filled.started()])
