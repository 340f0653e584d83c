"""What a round keeps of nodes and of shared resources, in small problems worked out by hand."""

from typing import Any

import pytest

from hpcsched._core import Compression, Rule
from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import ProblemState, open_workspace
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.system.outages import Outage
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.builders import alike, easy_rule, relaxed_rule

GPUS = Draw({"gpu": 1})


def problem(
    table: str, *shared_resources: SharedResource, nodes: int = 2, now: int = 0, **node: int
) -> Any:
    """Return the problem of a table on nodes of four cores and two GPUs, with shared resources."""
    resources = node or {"core": 4, "gpu": 2}
    return make_problem(
        System((NodeGroup("node", nodes, resources),), {}, shared_resources), table, now=now
    )


def easy(given: DispatchingProblem, outages: tuple[Outage, ...] = ()) -> Decision:
    """Return what EASY decides, with reasons."""
    return easy_rule(FirstFit()).dispatch(given._replace(explain=True, outages=outages))


def relaxed(given: DispatchingProblem, relaxation: float) -> Decision:
    """Return what relaxed backfilling decides, with reasons."""
    rule = relaxed_rule(FirstFit(), relaxation, ArrivalOrder())
    return rule.dispatch(given._replace(explain=True))


def head_time(decision: Decision) -> int | None:
    """Return for when the first job that waits has a reservation."""
    return next(reason for reason in decision.reasons if reason.kind == "no_room").time


def started(decision: Decision) -> list[int]:
    """Return the jobs that start."""
    return [start.job_id for start in decision.starts]


# What a job lacks.


@pytest.mark.parametrize(
    ("units", "capacity", "lacks"),
    [
        (4, 4, ""),
        (4, 3, "shared resource licences"),
        (5, 3, ""),
        (1, 0, "shared resource licences"),
    ],
)
def test_what_a_job_is_short_of(units: int, capacity: int, lacks: str) -> None:
    """Four units of a GPU fit on the nodes; shared resources are told of where nodes have room."""
    table = f"job_id units core gpu requested_time\n1 {units} 1 1 5"
    given = problem(table, SharedResource("licences", capacity, GPUS))
    (job,) = given.queue
    assert open_workspace(given, FirstFit()).short_of(job) == lacks
    assert open_workspace(given, FirstFit()).fits(job) is (units == capacity)


# The head job's reservation.

WAITS = """
job_id  units  core  gpu  requested_time  start_time
1       1      1     0    50              0
2       2      1     1    8               -
"""
# From 20 to 40 there are too few licences for job 2 again.
LICENCES = SharedResource("licences", 0, GPUS, (Change(5, 2), Change(20, 1), Change(40, 2)))


def head_of(
    table: str, *shared_resources: SharedResource, outages: tuple[Outage, ...] = ()
) -> int | None:
    """Return for when the first job that waits has a reservation."""
    return head_time(easy(problem(table, *shared_resources), outages))


def test_a_head_job_waits_for_a_shared_resource_and_not_for_nodes() -> None:
    """Job 2 has room on nodes now, and licences from 5 on: it does not wait for job 1."""
    assert head_of(WAITS, LICENCES) == 5


def test_a_head_job_waits_for_a_shared_resource_and_for_nodes_in_service() -> None:
    """From 5 on it would still run at 10, when both nodes go; from 15 on, too few licences stay."""
    nodes = Outage(10, 15, (0, 1), "maintenance")
    assert head_of(WAITS, LICENCES, outages=(nodes,)) == 40


def test_a_head_job_that_ends_as_nodes_go() -> None:
    """From 5 to 13 is long enough."""
    assert head_of(WAITS, LICENCES, outages=(Outage(13, 15, (0, 1), "maintenance"),)) == 5
    assert head_of(WAITS, LICENCES, outages=(Outage(12, 15, (0, 1), "maintenance"),)) == 40


def test_a_head_job_waits_for_a_shared_resource_where_nothing_runs() -> None:
    """The shared resource changes for the last time at 30, after all that is predicted."""
    table = "job_id units core gpu requested_time\n1 1 1 1 5"
    assert head_of(table, SharedResource("licences", 0, GPUS, (Change(30, 1),))) == 30


def test_a_head_job_is_put_off_where_shared_resources_allow_it() -> None:
    """From 12 to 20 there are licences, and from 13 to 21 too few.

    Job 2 came at 0 and is promised 5: 1.4 times that wait later it is 12, and 1.6 times, 13.
    """
    assert head_time(relaxed(problem(WAITS, LICENCES), 1.6)) == 5
    assert head_time(relaxed(problem(WAITS, LICENCES), 1.4)) == 12


PASSING = """
job_id  units  core  gpu  requested_time  start_time
1       1      1     1    10              0
2       2      1     1    8               -
3       1      1     1    11              -
4       1      1     1    10              -
5       1      1     0    11              -
"""


def test_shared_resources_are_left_to_the_head_job() -> None:
    """Of two licences job 1 has one until 10, and job 2 needs both.

    Job 3 would hold the other until 11. Job 4 may have it until 10, and job 5 needs none.
    """
    given = problem(PASSING, SharedResource("licences", 2, GPUS))
    decision = easy(given)
    assert head_time(decision) == 10
    assert started(decision) == [4, 5]


COSTS = """
job_id  units  core  requested_time  start_time
1       1      7     10              0
2       2      4     5               -
3       1      1     20              -
4       1      1     20              -
5       1      3     20              -
"""


def test_what_jobs_cost_the_head_job_adds_up() -> None:
    """At 10 there are 12 cores, room for three units of the head job, which has two.

    Job 3 costs it one, 11 cores being room for two, and job 4 none, as 10 are; then job 5 would
    leave 7, room for one.
    """
    given = problem(COSTS, nodes=1, core=12)
    decision = easy(given)
    assert head_time(decision) == 10
    assert started(decision) == [3, 4]


def test_nodes_of_equal_cost_are_taken_in_order() -> None:
    """On 20 nodes of 4 cores job 1 has 3 until 10, on 20 of 5 cores job 2 has 4.

    Of two cores each, 80 units of the head job fit then, and 15 are spare. Beside them there is a
    core on the larger nodes, where 20 units of job 4 cost it nothing; on others each costs it one.
    So first fit, which takes the smaller nodes first, would cost it 20.
    """
    table = """
    job_id  units  core  requested_time  start_time
    1       20     3     10              0
    2       20     4     10              0
    3       65     2     5               -
    4       30     1     20              -
    """
    groups = (NodeGroup("small", 20, {"core": 4}), NodeGroup("large", 20, {"core": 5}))
    given = make_problem(System(groups), table, now=0)
    (start,) = easy(given).starts
    assert start.allocation == NodeAllocation((*range(10), *range(20, 40)), (1,) * 30)


class Looks:
    """First fit, which keeps the room that it is shown."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Keep the room and return what first fit would."""
        self.room = room
        return FirstFit().allocate(units, room)


def test_room_that_an_allocator_is_shown() -> None:
    """A node holds two units; job 1 has one, with two cores and one GPU, of node 0."""
    table = """
    job_id  units  core  gpu  requested_time  start_time
    1       1      2     1    10              0
    2       2      2     1    5               -
    """
    given = make_problem(alike(2, core=5, gpu=2), table, aggregated=True)
    looks = Looks()
    assert open_workspace(given, looks).place(given.queue[0]).nodes == (0, 1)
    assert looks.room.fits.tolist() == [1, 2]
    assert looks.room.available.tolist() == [[3, 5], [1, 2]]
    assert looks.room.unit_request == (2, 1)
    assert looks.room.problem is given


@pytest.mark.parametrize("aggregated", [False, True])
def test_what_is_left_beside_what_is_placed(aggregated: bool) -> None:
    """Two nodes of five cores have room for two units each; job 1 has one, and job 2 takes two."""
    table = """
    job_id  units  core  requested_time  start_time
    1       1      2     10              0
    2       2      2     5               -
    3       2      2     5               -
    4       1      2     5               -
    """
    given = make_problem(alike(2, core=5), table, aggregated=aggregated)
    two, three, four = given.queue
    workspace = open_workspace(given, FirstFit())
    assert workspace.units_that_fit(three) == 3
    assert workspace.place(two).nodes == (0, 1)
    assert [workspace.units_that_fit(job) for job in (three, four)] == [1, 1]
    assert [workspace.fits(job) for job in (three, four)] == [False, True]
    assert workspace.place(four).nodes == (1,)
    assert not workspace.fits(four)


@pytest.mark.parametrize(("time", "starts"), [(10, []), (11, []), (12, [5]), (99, [5])])
def test_what_is_spare_when_a_head_job_is_put_off(time: int, starts: list[int]) -> None:
    """Of six slots two are free, two more at 10, one at 12 and one at 20; job 4 needs three.

    So at 10 one is spare, and from 12 on two, which job 5 may have for as long as it likes. Job 4
    came at 0 and is promised 10.
    """
    table = """
    job_id  units  core  requested_time  start_time
    1       2      1     10              0
    2       1      1     12              0
    3       1      1     20              0
    4       3      1     5               -
    5       2      1     999             -
    """
    given = make_problem(alike(6, core=1), table, aggregated=True)
    decision = relaxed(given, (time - 10) / 10)
    assert head_time(decision) == time
    assert started(decision) == starts


# Reservations beside each other.


@pytest.mark.parametrize("aggregated", [False, True])
def test_reservations_are_taken_up_in_the_order_of_their_starts(aggregated: bool) -> None:
    """Job 3, held at 10, has to wait until job 1 ends at 15, and job 2, held at 20, for job 3."""
    table = """
    job_id  units  core  requested_time  start_time
    1       1      1     15              0
    2       1      1     10              -
    3       1      1     10              -
    """
    given = make_problem(alike(1, core=1), table, aggregated=aggregated)
    filled = ProblemState(Rule.CONSERVATIVE, FirstFit(), compression=Compression.BY_ARRIVAL)
    for held in ({2: 20, 3: 10}, {2: 25, 3: 15}):
        filled.fill(given, given.queue)
        filled.set_promises(held)
        filled.set_reservations(held, {})
        filled.state.decide(filled.asked, False)
        assert filled.column("reserved") == {2: 25, 3: 15}
