"""What plans are judged by, and in which order and where they put jobs, with the numbers."""

import pytest

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.builders import alike, replay
from tests.dispatching.cp.making import cp_dispatcher
from tests.golden.declared import declared, placed, started
from tests.golden.pictures import job

CORES_AND_MEM = System((NodeGroup("node", 1, {"core": 8, "mem": 8}),))
TWO_SHARES = """
    job_id  core  mem  requested_time
    1       2     6    10
    2       4     4    14
"""


@pytest.mark.parametrize(
    ("objective", "first"), [("af", 2), ("{name: bounded_slowdown, tau: 10}", 1), ("awf", 1)]
)
def test_least_area_over_weight_first(objective, first):
    """There is no room for both. The area is a job's largest share × its run time (Smith, 1956).

    Job 1 has 6/8 × 10 = 7.5, job 2 4/8 × 14 = 7. By cores alone job 1 would come first, with 2.5
    and 7, and by both shares added up, with 10 and 14. Over the weight these are: for the mean
    response time 7.5 and 7; for slowdown, where a second weighs 1/10 and 1/14, 75 and 98; and
    alike where the weight is the area, so that 1, which came first, stays first.

    So is chosen which jobs are planned, where not all are.
    """
    choice = "{name: order-search, queue_length: 1"
    dispatcher = declared(
        CORES_AND_MEM, choice + ", surrogate_objective: {}}", f"objective: {objective}"
    )
    assert started(dispatcher, make_problem(CORES_AND_MEM, TWO_SHARES)) == [first]


@pytest.mark.parametrize(
    ("parameter", "first"), [(0, "C"), (1, "C"), (1.1, "C"), (1.15, "D"), (2, "D")]
)
def test_a_ratio_is_judged_around_what_it_came_to_in_the_run(parameter, first):
    """P²SF is 3/4 · Σ (F⁴ − Q⁴) / Σ (F³ − Q³), with Q the wait and F the response time.

    A runs from 0 to 6, and B, which came at 1, from 6 to 8: Q and F are 0 and 6, and 5 and 7. So
    far the ratio is (3/4 · 1296 + 3/4 · 1776) / (216 + 218) = 2304 / 434 = 5.31; of B alone it is
    6.11. At 8 there are C, of 2 s, which came at 7, and D, of 1 s, which comes now.

    - C, D: 3/4 · ((81 − 1) + (81 − 16)) = 108.75, and (27 − 1) + (27 − 8) = 45.
    - D, C: 3/4 · (1 + (256 − 16)) = 180.75, and 1 + (64 − 8) = 57.

    The second costs 72 − 12 · λ more, which is less than nothing beyond λ = 6: not at
    5.31, nor at 1.1 times that, 5.84, but at 1.15 times that, 6.11.
    """
    system = alike(1, core=1)
    jobs = (job("A", 0, 1, 6), job("B", 1, 1, 2), job("C", 7, 1, 2), job("D", 8, 1, 1))
    dispatcher = declared(
        system,
        "{name: order-search, budget: 0,"
        f" surrogate_objective: {{dinkelbach_parameter: {parameter}}}}}",
        "objective: psf",
    )
    starts = replay(system, dispatcher, jobs).start_times
    assert starts == {1: 0, 2: 6, **({3: 8, 4: 10} if first == "C" else {4: 8, 3: 9})}


@pytest.mark.parametrize("orders", [(), (ArrivalOrder(),)], ids=["from nothing", "from a plan"])
def test_joint_now_packs_large_units_first(orders):
    """Two nodes of three cores: a unit of job 2, of two cores, goes to each, and then one of job 1.

    If job 1 came first, with both units on node 0, there would be room for one unit of job 2 alone.
    """
    system = alike(2, core=3)
    problem = make_problem(
        system,
        """
        job_id  units  core  requested_time
        1       2      1     10
        2       2      2     10
        """,
    )
    dispatcher = cp_dispatcher("joint-now", objective=AF(), orders=orders)
    assert placed(dispatcher, problem) == {1: {0: 1, 1: 1}, 2: {0: 1, 1: 1}}


def test_joint_now_packs_one_unit_per_node_before_others_of_their_size():
    """Job 2 needs both nodes, of two cores each. If job 1 came first, it would fill node 0."""
    system = alike(2, core=2)
    problem = make_problem(
        system,
        """
        job_id  units  core  requested_time  one_unit_per_node
        1       2      1     10              no
        2       2      1     10              yes
        """,
    )
    dispatcher = cp_dispatcher("joint-now", objective=AF(), orders=())
    assert placed(dispatcher, problem) == {1: {0: 1, 1: 1}, 2: {0: 1, 1: 1}}


def test_joint_now_packs_where_least_is_left():
    """Two nodes of 13 cores: 9 on node 0, 5 and 5 on node 1, so that 4 and 3 are left.

    The job of 3 cores goes to node 1, and both of 2 cores to node 0. On node 0, it would leave 1
    there and 3 on node 1: room for one of the two.
    """
    system = alike(2, core=13)
    problem = make_problem(
        system,
        """
        job_id  core  requested_time
        1       9     10
        2       5     10
        3       5     10
        4       3     10
        5       2     10
        6       2     10
        """,
    )
    dispatcher = cp_dispatcher("joint-now", objective=AF(), orders=())
    assert placed(dispatcher, problem) == {
        1: {0: 1}, 2: {1: 1}, 3: {1: 1}, 4: {1: 1}, 5: {0: 1}, 6: {0: 1},
    }  # fmt: skip
