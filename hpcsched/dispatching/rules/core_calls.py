"""Calls of the core for single problems, in plain Python or in compiled code where that pays."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.compiled import is_compiled, plain
from hpcsched.dispatching.core.plain_time import PlainTime
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

MANY_PLACES = 200_000
"""Jobs × nodes of a round above which compiled code is used in any case."""


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
        self._plain_time = PlainTime()
        self._compiled: set[Any] = set()
        self._looked: set[Any] = set()

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
            choices = Choices(**self._choices, scarce=scarce, external=self._asked)
            filled = self._filled = ProblemState(problem.system, slot_map, choices)
        filled.fill(problem, order, behind)
        return filled

    def call(self, kernel: Any, problem: DispatchingProblem, order: Sequence[WaitingJob]) -> None:
        """Run a kernel on the problem of the last `fill`, in plain Python or compiled.

        Parameters
        ----------
        kernel
            Function of a state and the simulated time.
        problem
            Problem of the last `fill`.
        order
            Jobs of the first rows.
        """
        filled = self._filled
        assert filled is not None
        # Compiled code cannot call an allocator that is a Python object.
        if self._asked is not None:
            with self._asked.about(problem, order):
                plain(kernel)(filled.state(plainly=True), problem.now)
        elif self._is_worth_compiling(kernel, problem, filled):
            kernel(filled.state(plainly=False), problem.now)
        else:
            began = perf_counter()
            plain(kernel)(filled.state(plainly=True), problem.now)
            self._plain_time.add(perf_counter() - began)

    def _is_worth_compiling(
        self, kernel: Any, problem: DispatchingProblem, filled: ProblemState
    ) -> bool:
        """Decide whether a call uses compiled code, which has the same results.

        Calls stay in Python until their accumulated time is large, or the problem is.
        """
        if kernel in self._compiled:
            return True
        jobs = len(problem.queue) + len(problem.running)
        worth = self._plain_time.compiling_pays or (
            problem.free_slots is None and jobs * problem.system.node_count > MANY_PLACES
        )
        # Looking for cached code takes time itself, so it is done once for each kernel.
        if not worth and kernel not in self._looked and self._plain_time.loading_pays:
            self._looked.add(kernel)
            worth = is_compiled(kernel, filled.kinds())
        if worth:
            self._compiled.add(kernel)
        return worth


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
