"""What one driver of dispatchers refuses, all refuse: simulations, recorded problems, live runs."""

from typing import Any, cast

import pytest

from hpcsched.dispatching.decision import NOTHING, Decision, Reason, Start
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import DecisionError
from hpcsched.simulation.check import check_decision
from hpcsched.studies.problems.solving import answers
from hpcsched.system.shared_resources import Draw, SharedResource
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched_slurm.live.rounds import GuardedDispatcher
from tests.builders import replay, traced

# Nodes a-0, a-1 and b-0 with two cores each, and licences for two jobs.
SYSTEM = System(
    (NodeGroup("a", 2, {"core": 2}), NodeGroup("b", 1, {"core": 2})),
    {},
    (SharedResource("licence", 2, Draw(per_job=1), (), None),),
)
JOBS = (
    traced(1, 0, 2, 9),
    traced(2, 0, 1, 9, exclusive=True),
    traced(3, 0, 2, 9, one_unit_per_node=True),
    traced(4, 0, 1, 9, allowed_nodes=frozenset({0})),
    traced(5, 0, 1, 9, node_groups=frozenset({"b"})),
)


def start(job_id: int, *units: int) -> Start:
    """Return a start with so many units on each of the first nodes."""
    nodes = tuple(node for node, count in enumerate(units) if count)
    return Start(job_id, NodeAllocation(nodes, tuple(filter(None, units))))


class Answers:
    """A dispatcher that gives one answer, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.asked: list[DispatchingProblem] = []

    def dispatch(self, problem: DispatchingProblem) -> Any:
        """Return the answer."""
        self.asked.append(problem)
        return self._answer


GOOD = Decision((start(1, 2), start(3, 0, 1, 1)), (2,), reasons=(Reason(4, "no_room"),))


RULES: dict[str, tuple[Any, str]] = {
    "a node has too little": (
        Decision((start(1, 2), start(4, 1))),
        "job 4, node a-0: 1 core asked for, 0 free",
    ),
    "a unit fits nowhere on it": (
        Decision((start(1, 1, 1), start(3, 2))),
        "job 3: expected each unit on a node of its own, found 2 units on node a-0",
    ),
    "units are lost": (Decision((start(1, 1),)), "job 1: expected 2 units to be placed, found 1"),
    "started twice": (
        Decision((start(1, 2), start(1, 0, 2))),
        "job 1 is not waiting, or was decided on twice",
    ),
    "not waiting": (
        Decision((start(9, 1),)),
        "job 9 is not waiting, or was decided on twice",
    ),
    "started and rejected": (
        Decision((start(1, 2),), rejected=(1,)),
        "job 1 is not waiting, or was decided on twice",
    ),
    "rejected twice": (
        Decision(rejected=(2, 2)),
        "job 2 is not waiting, or was decided on twice",
    ),
    "rejected and not waiting": (
        Decision(rejected=(9,)),
        "job 9 is not waiting, or was decided on twice",
    ),
    "no tuple of rejections": (
        NOTHING._replace(rejected=cast("Any", None)),
        "expected a tuple of rejected jobs, found None",
    ),
    "a shared resource has too little": (
        Decision((start(1, 0, 2), start(4, 1), start(5, 0, 0, 1))),
        "job 5, shared resource licence: 1 would be drawn, 0 free",
    ),
    "a closed node": (
        Decision((start(4, 0, 1),)),
        "job 4: node a-1 is not one that it may use",
    ),
    "a closed group": (
        Decision((start(5, 1),)),
        "job 5: node a-0 is not in a group that it may use",
    ),
    "a node that is not idle for an exclusive job": (
        Decision((start(4, 1), start(2, 1))),
        "job 2, node a-0: 2 core asked for, 1 free",
    ),
    "a node that an exclusive job holds": (
        Decision((start(2, 1), start(4, 1))),
        "job 4, node a-0: 1 core asked for, 0 free",
    ),
    "no start": (Decision(cast("Any", (3,))), "expected starts in the decision, found 3"),
    "no decision": (None, "expected a decision with a tuple of starts, found None"),
    "a reason of no job": (
        Decision(reasons=(Reason(9, "no_room"),)),
        "job 9 is given a reason, and was not in the queue",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    """The error is the same in all drivers; it names job and node, and dispatcher and round."""
    decision, message = RULES[rule]
    dispatcher = Answers(decision)
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, dispatcher, JOBS)
    assert str(caught.value) == f"dispatcher tested, round 1: {message}"
    (problem,) = dispatcher.asked
    with pytest.raises(DecisionError) as caught:
        list(answers([problem], dispatcher, "tested"))
    assert str(caught.value) == f"dispatcher tested, round 1: {message}"
    answer = GuardedDispatcher(dispatcher, 60).ask(problem)
    assert answer.trouble == message
    assert answer.decision.fallback


def test_a_decision_that_keeps_all_rules() -> None:
    """It starts and rejects what it says, in all drivers."""
    dispatcher = Answers(GOOD)
    with pytest.raises(DecisionError, match="round 2: job 1 is not waiting"):
        replay(SYSTEM, dispatcher, JOBS)
    problem = dispatcher.asked[0]
    assert [job.job_id for job in check_decision(problem, GOOD)] == [1, 3]
    (answer,) = answers([problem], dispatcher, "tested")
    assert [job.job_id for job in answer.started] == [1, 3]
    assert not GuardedDispatcher(dispatcher, 60).ask(problem).trouble
