"""Dispatcher `recorded`: the log's own schedule, with jobs started at their recorded times."""

from typing import Self

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.recorded_due_times import MissingStart, RecordedStarts
from hpcsched.dispatching.rules.core_rules import CoreRule, list_rule
from hpcsched.dispatching.rules.orders import KeyOrder
from hpcsched.dispatching.rules.rule_params import RecordedParams
from hpcsched.errors import Finding, InputError
from hpcsched.registration import FOLLOWS_RECORD, Context, builtin


@builtin("dispatcher", "reject", summary="refuses every job: measures the simulator alone")
class Reject:
    """Dispatcher that rejects every job, like AccaSim's (thesis 2020, section 3.4)."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Reject the whole queue."""
        return Decision(rejected=tuple(job.job_id for job in problem.queue))


@builtin(
    "dispatcher",
    "recorded",
    RecordedParams,
    summary="the log's own schedule: each job starts when the log says that it did",
    capabilities={FOLLOWS_RECORD},
)
class Recorded:
    """Dispatcher that starts each job at its recorded start, or as soon as it fits after that.

    Late jobs are considered in order of their due times, and jobs that fit pass those that do not:
    the start of one does not move those of the others.

    Parameters
    ----------
    missing_start
        Treatment of jobs without a recorded start.
    """

    @classmethod
    def build(cls, params: RecordedParams, context: Context) -> Self:
        """Create the dispatcher from its parameters."""
        return cls(context.make("allocator", params.allocator), params.missing_start)

    def __init__(self, allocator: Allocator, missing_start: MissingStart = "error") -> None:
        self.allocator = allocator
        self._missing_start = missing_start
        self._rule: CoreRule | None = None

    def follow_record(self, waits: dict[int, int], log: str) -> RecordedStarts:
        """Adopt the wait times of a log."""
        starts = RecordedStarts(waits, log, self._missing_start)
        # Due times are known only once jobs are submitted, so the order looks them up.
        order = KeyOrder(lambda job: starts.due(job.job_id))
        self._rule = list_rule(order, "greedy", self.allocator)
        return starts

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the starts of the jobs that are due and fit."""
        if self._rule is None:
            message = "the dispatcher 'recorded' needs the log whose starts it follows"
            raise InputError(Finding("no-record", message))
        return self._rule.dispatch(problem)
