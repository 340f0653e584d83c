"""The dispatcher `recorded`, the log's own schedule: jobs start when the log says that they did."""

from typing import Self

from hpcsched.context import Context
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.recorded_due_times import MissingStart, RecordedStarts
from hpcsched.dispatching.rules.list_scheduling import ListScheduler
from hpcsched.dispatching.rules.orders import KeyOrder
from hpcsched.dispatching.rules.rule_params import RecordedParams
from hpcsched.errors import Finding, InputError
from hpcsched.registration import FOLLOWS_RECORD, builtin


@builtin(
    "dispatcher",
    "recorded",
    RecordedParams,
    summary="the log's own schedule: each job starts when the log says that it did",
    capabilities={FOLLOWS_RECORD},
)
class Recorded:
    """Starts each job at its recorded start or, without room, as soon as there is some.

    Jobs that are late go by the instants at which they were due, the earliest first, and others
    that fit pass them: the start of one does not move those of the others.
    """

    @classmethod
    def build(cls, params: RecordedParams, context: Context) -> Self:
        """Return the dispatcher with the chosen allocator."""
        return cls(context.make("allocator", params.allocator), params.missing_start)

    def __init__(self, allocator: Allocator, missing_start: MissingStart = "error") -> None:
        self.allocator = allocator
        self._missing_start = missing_start
        self._rule: ListScheduler | None = None

    def follow_record(self, waits: dict[int, int], log: str) -> RecordedStarts:
        """Take the wait times of a log; return the instants at which jobs are due."""
        starts = RecordedStarts(waits, log, self._missing_start)
        order = KeyOrder(lambda job: starts.due(job.job_id))
        self._rule = ListScheduler(order, "greedy", self.allocator)
        return starts

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the starts of the jobs that are due and fit."""
        if self._rule is None:
            message = "the dispatcher 'recorded' needs the log whose starts it follows"
            raise InputError(Finding("no-record", message))
        return self._rule.dispatch(problem)
