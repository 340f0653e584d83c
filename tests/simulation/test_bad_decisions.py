"""A decision that cannot be carried out ends the run, with an error that says whose fault it is."""

import numpy as np
import pytest

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.errors import DecisionError
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, replay, traced

SYSTEM = alike(2, core=2)
THREE_UNITS = traced(1, 0, 3, 5)
FORMS = pytest.mark.parametrize("uniform_request", [(1,), None], ids=["aggregated", "node level"])


class Answers:
    """A dispatcher that gives prepared answers, one a round, and then starts nothing."""

    def __init__(self, *answers):
        self._answers = list(answers)

    def dispatch(self, problem):
        """Return the next answer."""
        return self._answers.pop(0) if self._answers else Decision()


class Raises:
    """A dispatcher that fails."""

    def dispatch(self, problem):
        """Raise an error."""
        raise RuntimeError("out of ideas")


def start(job_id, nodes, units):
    """Return a start on nodes."""
    return Start(job_id, NodeAllocation(nodes, units))


def refused(*decisions, jobs=(THREE_UNITS,), system=SYSTEM, uniform_request=None):
    """Return the message of the error that a replay of these decisions ends with."""
    with pytest.raises(DecisionError) as caught:
        replay(system, Answers(*decisions), jobs, uniform_request=uniform_request)
    return str(caught.value)


@FORMS
def test_overcommitted_node(uniform_request):
    """More units than a node can hold: dispatcher, round, job and node are named."""
    message = refused(Decision((start(1, (1,), (3,)),)), uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 1: job 1, node node-1: ")


@FORMS
def test_node_overcommitted_by_two_jobs(uniform_request):
    """Two starts that fit one by one but not together: the second is named."""
    jobs = (traced(1, 0, 2, 5), traced(2, 0, 1, 5))
    decision = Decision((start(1, (0,), (2,)), start(2, (0,), (1,))))
    message = refused(decision, jobs=jobs, uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 1: job 2, node node-0: ")


@FORMS
def test_node_overcommitted_in_a_later_round(uniform_request):
    """A start on what a running job holds: the round is named."""
    jobs = (traced(1, 0, 2, 5), traced(2, 1, 1, 5))
    decisions = Decision((start(1, (0,), (2,)),)), Decision((start(2, (0,), (1,)),))
    message = refused(*decisions, jobs=jobs, uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 2: job 2, node node-0: ")


def test_second_resource_type_overcommitted():
    """What is overcommitted is named where there are several resource types."""
    system = alike(1, core=4, mem=4)
    jobs = (traced(1, 0, 1, 5, (1, 3)), traced(2, 0, 1, 5, (1, 3)))
    decision = Decision((start(1, (0,), (1,)), start(2, (0,), (1,))))
    message = refused(decision, jobs=jobs, system=system)
    assert message.startswith("dispatcher tested, round 1: job 2, node node-0: 3 mem asked for")


@FORMS
@pytest.mark.parametrize("units", [(1, 1), (2, 2)])
def test_wrong_number_of_units(uniform_request, units):
    """A unit lost, or one too many."""
    message = refused(Decision((start(1, (0, 1), units),)), uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 1: job 1: ")
    assert f"expected 3 units to be placed, found {sum(units)}" in message


@FORMS
def test_no_node_at_all(uniform_request):
    """An empty allocation places no unit."""
    message = refused(Decision((start(1, (), ()),)), uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 1: job 1: ")


@FORMS
@pytest.mark.parametrize(
    ("nodes", "units", "what"),
    [
        ((0, 1), (3,), "2 nodes are named, with units for 1"),
        ((0, 1), (3, 0), "at least one unit must be placed on each node named, found (3, 0)"),
        ((0, 1), (4, -1), "at least one unit must be placed on each node named, found (4, -1)"),
        ((1, 0), (2, 1), "nodes must be ascending, each named once, found (1, 0)"),
        ((0, 0), (2, 1), "nodes must be ascending, each named once, found (0, 0)"),
        ((0, 1), (1.5, 1.5), "nodes and units must be whole numbers (int), found 1.5"),
        (
            (0, 1),
            (np.int64(2), np.int64(1)),
            "nodes and units must be whole numbers (int), found np.int64(2)",
        ),
        ((False, True), (2, 1), "nodes and units must be whole numbers (int), found False"),
    ],
)
def test_malformed_allocation(uniform_request, nodes, units, what):
    """Units and nodes that do not pair up, nodes out of order, units split or not whole numbers."""
    message = refused(Decision((start(1, nodes, units),)), uniform_request=uniform_request)
    assert message == f"dispatcher tested, round 1: job 1: {what}"


@FORMS
@pytest.mark.parametrize("node", [-1, 2, 7])
def test_unknown_node(uniform_request, node):
    """A node that the system does not have is named by its number."""
    nodes, units = ((-1, 0), (1, 2)) if node < 0 else ((0, node), (2, 1))
    message = refused(Decision((start(1, nodes, units),)), uniform_request=uniform_request)
    found = f"nodes must be from 0 to 1, found {nodes}"
    assert message == f"dispatcher tested, round 1: job 1: {found}"


@FORMS
def test_job_started_twice_in_a_round(uniform_request):
    """The same start twice in a decision."""
    again = start(1, (0, 1), (2, 1))
    message = refused(Decision((again, again)), uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 1: job 1 is not waiting")


@FORMS
def test_running_job_started(uniform_request):
    """A job that has started in an earlier round."""
    jobs = (traced(1, 0, 1, 5), traced(2, 1, 1, 5))
    decisions = Decision((start(1, (0,), (1,)),)), Decision((start(1, (1,), (1,)),))
    message = refused(*decisions, jobs=jobs, uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 2: job 1 is not waiting")


def test_unknown_job_started_or_rejected():
    """A job that nobody has submitted yet."""
    jobs = (traced(1, 0, 1, 5), traced(2, 1, 1, 5))
    for decision in (Decision((start(2, (0,), (1,)),)), Decision(rejected=(2,))):
        message = refused(decision, jobs=jobs)
        assert message.startswith("dispatcher tested, round 1: job 2 is not waiting")


def test_job_started_and_rejected():
    """A job cannot be started and refused in the same decision."""
    message = refused(Decision((start(1, (0, 1), (2, 1)),), rejected=(1,)))
    assert message.startswith("dispatcher tested, round 1: job 1 is not waiting")


GROUPS = System((NodeGroup("a", 1, {"core": 2}), NodeGroup("b", 1, {"core": 2})))
BOUND_TO_A = traced(1, 0, 1, 5, node_groups=frozenset({"a"}))


def test_wrong_node_group():
    """A node outside the job's node groups is named."""
    message = refused(Decision((start(1, (1,), (1,)),)), jobs=(BOUND_TO_A,), system=GROUPS)
    assert message.startswith("dispatcher tested, round 1: job 1: ")
    assert "node b-0" in message


@pytest.mark.parametrize("first_is_exclusive", [True, False])
def test_exclusive_job_shares_a_node(first_is_exclusive):
    """A job beside an exclusive one, and an exclusive one beside a job."""
    jobs = (
        traced(1, 0, 1, 5, exclusive=first_is_exclusive),
        traced(2, 0, 1, 5, exclusive=not first_is_exclusive),
    )
    decision = Decision((start(1, (1,), (1,)), start(2, (1,), (1,))))
    message = refused(decision, jobs=jobs)
    assert message.startswith("dispatcher tested, round 1: job 2, node node-1: ")


def test_more_exclusive_units_than_the_node_holds():
    """An exclusive job may hold a whole node, but not place more units on it than it can."""
    job = traced(1, 0, 3, 5, exclusive=True)
    message = refused(Decision((start(1, (0,), (3,)),)), jobs=(job,))
    assert message.startswith("dispatcher tested, round 1: job 1, node node-0: ")


def test_two_units_on_a_node_of_a_job_with_one_per_node():
    """They are refused by the names of job and node."""
    job = traced(1, 0, 2, 5, one_unit_per_node=True)
    decision = Decision((start(1, (1,), (2,)),))
    message = refused(decision, jobs=(job,))
    assert message == (
        "dispatcher tested, round 1: job 1: expected each unit on a node of its own, found 2 units"
        " on node node-1"
    )


def test_error_in_the_dispatcher():
    """What a dispatcher raises is told with its name and the round, and kept as the cause."""
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, Raises(), (THREE_UNITS,))
    assert str(caught.value) == ("dispatcher tested, round 1: raised RuntimeError: out of ideas")
    assert isinstance(caught.value.__cause__, RuntimeError)


@FORMS
def test_nothing_is_ever_started(uniform_request):
    """Jobs that wait for ever are an error that counts them and names the first."""
    jobs = (THREE_UNITS, traced(2, 3, 1, 5))
    message = refused(jobs=jobs, uniform_request=uniform_request)
    assert message.startswith("dispatcher tested, round 2: ")
    assert "2 jobs" in message
    assert "job 1" in message


@pytest.mark.parametrize("answer", [None, (), [1], "start them all"])
def test_no_decision(answer):
    """An answer that is no decision is the dispatcher's fault, not the engine's."""
    assert refused(answer).startswith("dispatcher tested, round 1: ")


@pytest.mark.parametrize("starts", [(1,), (None,), (Start(1, None),), None])
def test_no_allocation(starts):
    """Starts without an allocation are the dispatcher's fault, not the engine's."""
    assert refused(Decision(starts)).startswith("dispatcher tested, round 1: ")


@FORMS
@pytest.mark.parametrize("again", [0, -1, 2.5, "soon"])
def test_called_again_at_no_later_time(uniform_request, again):
    """A round is asked for after now, in whole seconds."""
    message = refused(Decision(call_again_at=again), uniform_request=uniform_request)
    assert message == (
        "dispatcher tested, round 1: expected call_again_at as a whole number above 0,"
        f" found {again!r}"
    )


@FORMS
def test_called_again(uniform_request):
    """A job starts at the time that was asked for, although nothing happens then."""
    decisions = Decision(call_again_at=7), Decision((start(1, (0, 1), (2, 1)),))
    recorder = replay(SYSTEM, Answers(*decisions), [THREE_UNITS], uniform_request=uniform_request)
    assert recorder.jobs[1].start_time == 7
