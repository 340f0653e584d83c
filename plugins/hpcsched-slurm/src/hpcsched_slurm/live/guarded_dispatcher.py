"""Dispatcher with a time limit, and list scheduling where it fails or takes too long."""

from queue import Empty, Queue
from threading import Thread
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import culprit, raised
from hpcsched.simulation.check import BadDecisionError, check_decision


class Answer(NamedTuple):
    """A checked decision.

    Attributes
    ----------
    decision
        The decision.
    seconds
        Real seconds that it took.
    trouble
        Reason why it is not the dispatcher's own; empty if it is.
    """

    decision: Decision
    seconds: float
    trouble: str


class GuardedDispatcher:
    """Dispatcher with a limit on its decisions, in real seconds.

    It works in a thread of its own, which cannot be interrupted: while a late decision goes on, the
    following rounds are answered by list scheduling, first come, first served.
    """

    def __init__(self, dispatcher: Dispatcher, limit: float) -> None:
        self._dispatcher = dispatcher
        self._limit = limit
        self._substitute = list_rule(ArrivalOrder(), "backfill", FirstFit(), None)
        self._problems: Queue[DispatchingProblem] = Queue()
        self._answers: Queue[Decision | Exception] = Queue()
        self._late = False
        # A daemon: a decision that never ends must not keep the driver from ending.
        Thread(target=self._work, name="dispatcher", daemon=True).start()

    def warm_up(self, problem: DispatchingProblem, limit: float) -> None:
        """Answer a problem and drop the answer, so that all modules are loaded."""
        if not problem.queue:
            return
        usual, self._limit = self._limit, limit
        try:
            self.ask(problem)
        finally:
            self._limit = usual

    def ask(self, problem: DispatchingProblem) -> Answer:
        """Return an answer within the limit and the moment that list scheduling takes."""
        began = perf_counter()
        try:
            found = self._own_answer(problem)
            return Answer(found, perf_counter() - began, "")
        except (TimeoutError, BadDecisionError) as error:
            decision = self._substitute.dispatch(problem)._replace(fallback=True)
            check_decision(problem, decision)
            return Answer(decision, perf_counter() - began, str(error))

    def _own_answer(self, problem: DispatchingProblem) -> Decision:
        if self._late:
            try:
                # The late answer is about an earlier round, so it is dropped.
                self._answers.get_nowait()
            except Empty:
                raise TimeoutError("the dispatcher still thinks about an earlier round") from None
            self._late = False
        self._problems.put(problem)
        try:
            answer = self._answers.get(timeout=self._limit)
        except Empty:
            self._late = True
            raise TimeoutError(f"the dispatcher took more than {self._limit:g} s") from None
        if isinstance(answer, Exception):
            origin = culprit(answer) or "the dispatcher"
            told = str(answer) if isinstance(answer, PluginError) else f"{origin} {raised(answer)}"
            raise BadDecisionError(told)
        check_decision(problem, answer)
        return answer

    def _work(self) -> None:
        while True:
            problem = self._problems.get()
            try:
                self._answers.put(self._dispatcher.dispatch(problem))
            except Exception as error:  # whatever it is, the cluster goes on
                self._answers.put(error)
