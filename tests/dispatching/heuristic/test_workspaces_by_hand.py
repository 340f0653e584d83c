"""What a round keeps of nodes and of pools, in small problems worked out by hand."""

from typing import Any

import pytest

from hpcsched.dispatching.allocator import Room
from hpcsched.dispatching.heuristic.allocators import FirstFit
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.node_level import NodeShadow, NodeWorkspace
from hpcsched.dispatching.heuristic.node_profile import NodeProfile
from hpcsched.dispatching.heuristic.pooled import PooledWorkspace
from hpcsched.dispatching.heuristic.reserved_round import ReservedRound
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.outages import Outage
from hpcsched.system.pools import Change, Draw, Pool
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.builders import alike

GPUS = Draw({"gpu": 1})


def problem(table: str, *pools: Pool, nodes: int = 2, now: int = 0, **node: int) -> Any:
    """Return the problem of a table on nodes of four cores and two GPUs, with pools."""
    resources = node or {"core": 4, "gpu": 2}
    return make_problem(System((NodeGroup("node", nodes, resources),), {}, pools), table, now=now)


def workspace(given: DispatchingProblem) -> NodeWorkspace:
    """Return a workspace for first fit."""
    return NodeWorkspace(given, FirstFit())


# When nodes are switched on.

SWITCHED = """
job_id  units  core  gpu  requested_time  start_time
1       1      1     0    10              0
2       3      1     0    15              -
3       3      1     0    10              -
4       1      1     0    4               -
"""
PER_NODE = Pool("power", 90, Draw(per_node=10))


def test_nodes_draw_from_when_they_would_be_switched_off() -> None:
    """Job 1 keeps node 0 on until 10; nodes 1 and 2 are off."""
    given = problem(SWITCHED, PER_NODE, nodes=3)
    two, three, _ = given.queue
    where = NodeAllocation((0, 1, 2), (1, 1, 1))
    ws = workspace(given)
    assert ws.stretches(two, where) == [(0, 15, (0,)), (10, 15, (10,)), (0, 15, (20,))]
    assert ws.stretches(three, where) == [(0, 10, (0,)), (0, 10, (20,))]


def test_what_starts_keeps_its_nodes_on() -> None:
    """Job 2 keeps nodes 1 and 2 on until 15, whatever ends there before."""
    given = problem(SWITCHED, PER_NODE, nodes=3)
    two, three, four = given.queue
    ws = workspace(given)
    ws.place_on(two, NodeAllocation((1, 2), (1, 2)))
    ws.place_on(four, NodeAllocation((2,), (1,)))
    where = NodeAllocation((1, 2), (1, 2))
    assert ws.stretches(three, where) == [(0, 10, (0,))]
    longer = three._replace(predicted_run_time=20)
    assert ws.stretches(longer, where) == [(0, 20, (0,)), (15, 20, (20,))]


# What a job lacks.


@pytest.mark.parametrize(
    ("units", "capacity", "lacks"),
    [(4, 4, ""), (4, 3, "pool licences"), (5, 3, ""), (1, 0, "pool licences")],
)
def test_what_a_job_is_short_of(units: int, capacity: int, lacks: str) -> None:
    """Four units of a GPU fit on the nodes; a pool is told of only where nodes have room."""
    table = f"job_id units core gpu requested_time\n1 {units} 1 1 5"
    given = problem(table, Pool("licences", capacity, GPUS))
    (job,) = given.queue
    assert workspace(given).short_of(job) == lacks
    assert workspace(given).fits(job) is (units == capacity)


# The head job's reservation.

WAITS = """
job_id  units  core  gpu  requested_time  start_time
1       1      1     0    50              0
2       2      1     1    8               -
"""
# From 20 to 40 there are too few licences for job 2 again.
LICENCES = Pool("licences", 0, GPUS, (Change(5, 2), Change(20, 1), Change(40, 2)))


def head_of(table: str, *pools: Pool, outages: tuple[Outage, ...] = ()) -> NodeShadow:
    """Return the reservation of the first job that waits."""
    given = problem(table, *pools)._replace(outages=outages)
    return workspace(given).shadow(given.queue[0])


def test_a_head_job_waits_for_a_pool_and_not_for_nodes() -> None:
    """Job 2 has room on nodes now, and licences from 5 on: it does not wait for job 1."""
    assert head_of(WAITS, LICENCES).time == 5


def test_a_head_job_waits_for_a_pool_and_for_nodes_in_service() -> None:
    """From 5 on it would still run at 10, when both nodes go; from 15 on, too few licences stay."""
    nodes = Outage(10, 15, (0, 1), "maintenance")
    assert head_of(WAITS, LICENCES, outages=(nodes,)).time == 40


def test_a_head_job_that_ends_as_nodes_go() -> None:
    """From 5 to 13 is long enough."""
    assert head_of(WAITS, LICENCES, outages=(Outage(13, 15, (0, 1), "maintenance"),)).time == 5
    assert head_of(WAITS, LICENCES, outages=(Outage(12, 15, (0, 1), "maintenance"),)).time == 40


def test_a_head_job_waits_for_a_pool_where_nothing_runs() -> None:
    """The pool changes for the last time at 30, after all that is predicted."""
    table = "job_id units core gpu requested_time\n1 1 1 1 5"
    assert head_of(table, Pool("licences", 0, GPUS, (Change(30, 1),))).time == 30


def test_a_head_job_is_put_off_where_pools_allow_it() -> None:
    """From 12 to 20 there are licences, and from 13 to 21 too few."""
    shadow = head_of(WAITS, LICENCES)
    shadow.postpone(13)
    assert shadow.time == 5
    shadow.postpone(12)
    assert shadow.time == 12


PASSING = """
job_id  units  core  gpu  requested_time  start_time
1       1      1     1    10              0
2       2      1     1    8               -
3       1      1     1    11              -
4       1      1     1    10              -
5       1      1     0    11              -
"""


def test_pools_are_left_to_the_head_job() -> None:
    """Of two licences job 1 has one until 10, and job 2 needs both.

    Job 3 would hold the other until 11. Job 4 may have it until 10, and job 5 needs none.
    """
    given = problem(PASSING, Pool("licences", 2, GPUS))
    head, three, four, five = given.queue
    shadow = workspace(given).shadow(head)
    assert shadow.time == 10
    assert shadow.backfill(three) is None
    assert shadow.backfill(five) is not None
    assert shadow.backfill(four) is not None


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
    head, three, four, five = given.queue
    shadow = workspace(given).shadow(head)
    assert shadow.time == 10
    assert shadow.backfill(three) is not None
    assert shadow.backfill(four) is not None
    assert shadow.backfill(five) is None


def test_nodes_of_equal_cost_are_taken_in_order() -> None:
    """On 20 nodes of 4 cores job 1 has 3 until 10, on 20 of 5 cores job 2 has 4.

    Of two cores each, two units of the head job fit on each node then. Beside them there is a core
    on the larger nodes, where 20 units of job 4 cost it nothing; on others each costs it one.
    """
    table = """
    job_id  units  core  requested_time  start_time
    1       20     3     10              0
    2       20     4     10              0
    3       60     2     5               -
    4       30     1     20              -
    """
    groups = (NodeGroup("small", 20, {"core": 4}), NodeGroup("large", 20, {"core": 5}))
    given = make_problem(System(groups), table, now=0)
    head, job = given.queue
    ws = workspace(given)
    found = ws.shadow(head)._least_loss(job, ws.units_that_fit(job)[0])
    assert found == NodeAllocation((*range(10), *range(20, 40)), (1,) * 30)


# Where slots are counted.


class Looks:
    """First fit, which keeps the room that it is shown."""

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Keep the room and return what first fit would."""
        self.room = room
        return FirstFit().allocate(units, room)


def test_room_on_nodes_where_slots_are_counted() -> None:
    """A node is worth two slots; job 1 has one, with two cores and one GPU, of node 0."""
    table = """
    job_id  units  core  gpu  requested_time  start_time
    1       1      2     1    10              0
    2       2      2     1    5               -
    """
    given = make_problem(alike(2, core=5, gpu=2), table, pooled=True)
    looks = Looks()
    assert PooledWorkspace(given, looks).place(given.queue[0]).nodes == (0, 1)
    assert looks.room.fits.tolist() == [1, 2]
    assert looks.room.available.tolist() == [[3, 5], [1, 2]]
    assert looks.room.unit_request == (2, 1)
    assert looks.room.problem is given


@pytest.mark.parametrize(("time", "spare"), [(10, 1), (11, 1), (12, 2), (19, 2), (20, 3), (99, 3)])
def test_what_is_spare_when_a_head_job_is_put_off(time: int, spare: int) -> None:
    """Of six slots two are free, two more at 10, one at 12 and one at 20; job 4 needs three."""
    table = """
    job_id  units  core  requested_time  start_time
    1       2      1     10              0
    2       1      1     12              0
    3       1      1     20              0
    4       3      1     5               -
    """
    given = make_problem(alike(6, core=1), table, pooled=True)
    shadow = PooledWorkspace(given, FirstFit()).shadow(given.queue[0])
    assert (shadow.time, shadow.spare) == (10, 1)
    shadow.postpone(time)
    assert (shadow.time, shadow.spare) == (time, spare)


# Reservations beside each other.

PLANNED = """
job_id  units  core  gpu  requested_time
1       1      1     1    10
2       1      1     0    10
3       1      1     1    10
4       1      1     1    5
"""


@pytest.mark.parametrize(("cores", "conflict"), [(3, None), (4, 1)])
def test_a_reservation_counts_once(cores: int, conflict: int | None) -> None:
    """Job 1 has one of four cores from now on."""
    table = f"job_id units core requested_time\n1 1 1 9\n2 1 {cores} 9\n"
    given = problem(table, nodes=1, core=4)
    one, two = given.queue
    profile: Any = NodeProfile(workspace(given))
    assert profile.reserve(one) == 0
    assert profile.first_conflict(two) == conflict


@pytest.mark.parametrize("pooled", [False, True])
def test_reservations_are_taken_up_in_the_order_of_their_starts(pooled: bool) -> None:
    """Job 3, held at 10, has to wait until job 1 ends at 15, and job 2, held at 20, for job 3."""
    table = """
    job_id  units  core  requested_time  start_time
    1       1      1     15              0
    2       1      1     10              -
    3       1      1     10              -
    """
    given = make_problem(alike(1, core=1), table, pooled=pooled)
    taken = ReservedRound(given, FirstFit())
    assert taken.take_up({2: Held(20), 3: Held(10)})
    assert [taken.profile.held(job).start for job in given.queue] == [25, 15]
    kept = ReservedRound(given, FirstFit())
    assert not kept.take_up({2: Held(25), 3: Held(15)})


def test_a_plan_keeps_pools_for_what_is_reserved() -> None:
    """There is one licence, which job 1 has from 5 on; job 3 would still run then, job 4 not.

    Job 2 needs none and is in nobody's way.
    """
    given = problem(PLANNED, Pool("licences", 1, GPUS))
    one, two, three, four = given.queue
    ws = workspace(given)
    profile = ws.profile()
    assert profile.reserve(two) == 0
    assert profile.reserve(one, 5) == 5
    assert ws.fits(three)
    assert not profile.fits(three)
    assert profile.fits(four)
    assert profile.first_conflict(three) == 1
    assert profile.first_conflict(four) is None
    assert profile.first_conflict(three, [2]) is None
    assert profile.reserve(three) == 15
    assert profile.first_conflict(four, [3, 2, 1]) is None
    profile.cancel(one)
    assert profile.fits(three)
    assert profile.first_conflict(three) is None
