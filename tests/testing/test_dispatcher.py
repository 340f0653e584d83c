"""`check_dispatcher` accepts dispatchers that are right, and finds what is wrong with others."""

from itertools import cycle

import pytest

from hpcsched.dispatching.decision import Decision, Reason, ReasonKind, Start
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.errors import DecisionError
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import check_dispatcher, replaying
from tests.builders import easy, lists


class Overcommits:
    """Starts every job on the first node."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return a start for each job."""
        return Decision(
            tuple(Start(job.job_id, NodeAllocation((0,), (job.units,))) for job in problem.queue)
        )


class Idle:
    """Starts nothing."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return nothing."""
        return Decision()


class Whimsical:
    """Takes one order in one replay and another in the next."""

    orders = cycle(["sjf", "ljf"])

    def __init__(self) -> None:
        self._lists = lists(next(self.orders), "greedy")

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return what a list scheduler says."""
        return self._lists.dispatch(problem)


@pytest.mark.parametrize("make", [easy, Reject, lambda: lists("spf", allocator="best-fit")])
def test_right(make) -> None:
    """Built-in dispatchers pass, one that refuses every job too."""
    check_dispatcher(make, seeds=[0])


@pytest.mark.parametrize("make", [Overcommits, Idle])
def test_wrong_decisions(make) -> None:
    """What the engine refuses fails the check; a note says where."""
    with pytest.raises(DecisionError, match=f"dispatcher {make.__name__} .*, round ") as caught:
        check_dispatcher(make)
    assert caught.value.__notes__ == ["on sample workload 'one-slot', seed 0, as nodes"]


def test_not_reproducible() -> None:
    """A dispatcher that decides otherwise the next time is found out, unless that is wanted."""
    with pytest.raises(AssertionError, match="two replays differ, first in job"):
        check_dispatcher(Whimsical)
    check_dispatcher(Whimsical, seeds=[0], reproducible=False)


def test_what_the_audit_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every replay is audited: a record that is missing does not go unnoticed."""
    replay = replaying.replay
    monkeypatch.setattr(replaying, "replay", lambda *args, **more: replay(*args, **more)[1:])
    with pytest.raises(AssertionError, match="expected in the run, found only in the trace"):
        check_dispatcher(easy)


class Explains:
    """EASY, with one kind of reason for all jobs, or only for those that start."""

    def __init__(self, kind: ReasonKind, *, of_starts: bool = False) -> None:
        self._easy = easy()
        self._kind, self._of_starts = kind, of_starts

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return EASY's decision, with other reasons."""
        decision = self._easy.dispatch(problem)._replace(reasons=())
        explained = decision.starts if self._of_starts else problem.queue
        reasons = tuple(Reason(job.job_id, self._kind) for job in explained)
        return decision._replace(reasons=reasons) if problem.explain else decision


class Swayed:
    """Starts jobs in another order when it is to explain itself."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return what a list scheduler says."""
        return lists("ljf" if problem.explain else "sjf", "greedy").dispatch(problem)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("no_room", "the reason of job [0-9]+ is 'no_room', and the job starts"),
        ("planned", "the reason of job [0-9]+ is 'planned', and the job does not start"),
    ],
)
def test_reasons_that_are_not_so(kind: ReasonKind, message: str) -> None:
    """A reason to wait of a job that starts, and the reverse, fail the check."""
    with pytest.raises(AssertionError, match=f"^round [0-9]+: {message}"):
        check_dispatcher(lambda: Explains(kind))


def test_reasons_may_be_few() -> None:
    """A dispatcher that says less than it could passes."""
    check_dispatcher(lambda: Explains("in_order", of_starts=True), seeds=[0])


def test_reasons_that_change_what_starts() -> None:
    """To be asked why must not make a difference."""
    with pytest.raises(AssertionError, match=r"two replays differ, .* when asked for reasons"):
        check_dispatcher(Swayed)
    check_dispatcher(Swayed, seeds=[0], reproducible=False)
