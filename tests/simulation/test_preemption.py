"""Preemption in the core: schedules worked out by hand, under every rule."""

from typing import NamedTuple

import pytest

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import REFUSALS
from hpcsched.simulation.replay_admission import admitted
from hpcsched.system.limits import LimitSet, SiteLimits
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from hpcsched.workload.preemption import Checkpoints, PreemptClass, Preemption, by_tiers
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions
from hpcsched.workload.site_policies import Account, SitePolicies
from tests.builders import (
    ALLOCATORS,
    ORDERS,
    alike,
    conservative_rule,
    easy,
    lists,
    parts,
    slack_rule,
    slurm_backfill_rule,
    traced,
)

RULES = {
    "easy": easy,
    **{
        f"list-{option}": lambda option=option: lists(option=option)
        for option in ("strict", "greedy", "backfill", "committed", "committed-backfill")
    },
    "conservative": lambda: conservative_rule(ALLOCATORS["first-fit"]),
    "slack": lambda: slack_rule(ALLOCATORS["first-fit"], 0.5, 10),
    "slurm-backfill": lambda: slurm_backfill_rule(
        ORDERS["fcfs"], ALLOCATORS["first-fit"], SlurmBackfillParams()
    ),
}
RESERVING = {name: rule for name, rule in RULES.items() if name[-6:] not in {"strict", "greedy"}}
"""Rules that reserve."""


class Outcome(NamedTuple):
    """What became of jobs: start, end and state of each, or why it was rejected, and lost attempts.

    A row is a job with begin and end, what happened (requeued, preempted, suspended), for which
    job, and its lost time.
    """

    jobs: dict[int, tuple[int, int, str] | str]
    rows: list[tuple[int, int, int, str, int, int]]


def outcome(system, jobs, preemption, rule=easy, **more):
    """Replay jobs in the core; return what became of them."""
    partitions = preemption.partitions if preemption else NO_PARTITIONS
    given = parts(system, rule(), preemption=preemption, partitions=partitions, **more)
    loop = EventLoop(given)
    found, rows = {}, []
    for left, _, lost, *_ in loop.run(admitted(columns_of(jobs, RequestNumbers(), 3), given)):
        for k, number in enumerate(left.sequence.tolist()):
            state = (
                "failed" if left.failed[k] else "preempted" if left.preempted[k] else "completed"
            )
            name = jobs[number].job.job_id
            if left.rejected_by[k] >= 0:
                used_up = REFUSALS[left.rejected_by[k]] == "used_up_limit"
                found[name] = "used up" if used_up else "refused"
                continue
            found[name] = int(left.start_time[k]), int(left.end_time[k]), state
        for k, number in enumerate(lost.sequence.tolist()):
            how = "suspended" if lost.suspended[k] else "requeued" if lost.requeued[k] else "ended"
            rows.append(
                (
                    jobs[number].job.job_id,
                    int(lost.start_time[k]),
                    int(lost.end_time[k]),
                    how,
                    int(lost.preempted_by[k]),
                    int(lost.lost_time[k]),
                )
            )
    assert loop.state.waiting == loop.state.running == 0
    return Outcome(found, rows)


def tiers(mode="requeue", exempt=0, grace=0, **numbers):
    """Return preemption by partition: partition 1 has tier 1, partition 2 tier 2."""
    partitions = Partitions(
        tuple(
            Partition(f"p{tier}", {"partition": frozenset({tier})}, tier=tier) for tier in (1, 2, 3)
        )
    )
    below = by_tiers({f"p{tier}": tier for tier in (1, 2, 3)})
    classes = tuple(
        PreemptClass(f"p{tier}", mode, exempt, grace, tier, below[f"p{tier}"]) for tier in (1, 2, 3)
    )
    return Preemption("partition", classes, partitions, **numbers)


def low(job_id, submit, units, run_time, *asked, **more):
    """Return a job that may be preempted."""
    return traced(job_id, submit, units, run_time, *asked, partition=1, **more)


def high(job_id, submit, units, run_time, *asked, **more):
    """Return a job that may preempt."""
    return traced(job_id, submit, units, run_time, *asked, partition=2, **more)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_slurms_example_of_suspension(rule):
    """Five one-node jobs have five nodes; a three-node job suspends the first three.

    The other two run on; the three go on when it ends, at 30, and end 20 s later than they would.
    """
    jobs = [*(low(k, 0, 1, 100) for k in range(1, 6)), high(6, 10, 3, 20)]
    found = outcome(alike(5, core=1), jobs, tiers("suspend"), rule)
    assert found.jobs == {
        **dict.fromkeys((1, 2, 3), (0, 120, "completed")),
        **dict.fromkeys((4, 5), (0, 100, "completed")),
        6: (10, 30, "completed"),
    }
    assert sorted(found.rows) == [(k, 10, 30, "suspended", 6, 0) for k in (1, 2, 3)]


def test_slurms_example_of_three_qualities_of_service():
    """One node: 94 is requeued for 95, which is suspended for 96, which nobody preempts.

    94 runs 0-10 and is lost; 95 runs from 10, is suspended from 20 to 50 while 96 runs, and ends at
    90; then 94 begins anew.
    """
    classes = (
        PreemptClass("94", "requeue", 0, 0, 1),
        PreemptClass("95", "suspend", 0, 0, 2, frozenset({"94"})),
        PreemptClass("96", "off", 0, 0, 3, frozenset({"94", "95"})),
    )
    preemption = Preemption("qos", classes, NO_PARTITIONS)
    jobs = [
        traced(1, 0, 1, 100, queue=94),
        traced(2, 10, 1, 50, queue=95),
        traced(3, 20, 1, 30, queue_name="96"),
    ]
    found = outcome(alike(1, core=1), jobs, preemption)
    assert found.jobs == {
        1: (90, 190, "completed"),
        2: (10, 90, "completed"),
        3: (20, 50, "completed"),
    }
    assert found.rows == [(1, 0, 10, "requeued", 2, 10), (2, 20, 50, "suspended", 3, 0)]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_requeued_job_begins_anew(rule):
    """Job 2 ends job 1 at 10, which runs again from 30 on: both need both nodes."""
    jobs = [low(1, 0, 2, 100), high(2, 10, 2, 20)]
    found = outcome(alike(2, core=1), jobs, tiers(), rule)
    assert found.jobs == {1: (30, 130, "completed"), 2: (10, 30, "completed")}
    assert found.rows == [(1, 0, 10, "requeued", 2, 10)]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_requeued_job_waits_for_a_while(rule):
    """Jobs 1 and 4, requeued at 10, may start at 25; job 3, which came later, starts at 15."""
    jobs = [low(1, 0, 1, 100), low(4, 5, 1, 100), high(2, 10, 2, 5), low(3, 12, 1, 50)]
    found = outcome(alike(2, core=1), jobs, tiers(requeue_delay=15), rule)
    assert found.jobs == {
        2: (10, 15, "completed"),
        3: (15, 65, "completed"),
        1: (25, 125, "completed"),
        4: (65, 165, "completed"),
    }


def test_a_cancelled_job_is_preempted():
    """Job 1 does not come again."""
    found = outcome(alike(2, core=1), [low(1, 0, 2, 100), high(2, 10, 1, 20)], tiers("cancel"))
    assert found.jobs == {1: (0, 10, "preempted"), 2: (10, 30, "completed")}
    assert found.rows == [(1, 0, 10, "ended", 2, 10)]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_nobody_is_preempted_within_the_exempt_time(rule):
    """Job 1 has to run for 30 s before job 2 may end it."""
    jobs = [low(1, 0, 1, 100), high(2, 10, 1, 20)]
    found = outcome(alike(1, core=1), jobs, tiers(exempt=30), rule)
    assert found.jobs == {1: (50, 150, "completed"), 2: (30, 50, "completed")}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_preempted_job_has_its_grace_time(rule):
    """Job 1 ends 5 s after it is preempted; job 3, of 4 s, ends by itself within its grace time."""
    jobs = [low(1, 0, 1, 100), low(3, 8, 1, 4), high(2, 10, 2, 20)]
    found = outcome(alike(2, core=1), jobs, tiers(grace=5), rule)
    assert found.jobs == {
        1: (35, 135, "completed"),
        2: (15, 35, "completed"),
        3: (8, 12, "completed"),
    }
    assert found.rows == [(1, 0, 15, "requeued", 2, 15)]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_job_that_finds_free_nodes_preempts_nobody(rule):
    """There is a third node for job 2, and job 3 then ends one job and no more."""
    jobs = [low(1, 0, 1, 100), low(4, 0, 1, 100), high(2, 10, 1, 50), high(3, 20, 1, 20)]
    found = outcome(alike(3, core=1), jobs, tiers(), rule)
    assert found.jobs[2] == (10, 60, "completed")
    assert found.jobs[3] == (20, 40, "completed")
    assert found.rows == [(1, 0, 20, "requeued", 3, 20)]


def test_equal_tiers_do_not_preempt():
    """Job 2 has the tier of job 1."""
    found = outcome(alike(1, core=1), [high(1, 0, 1, 100), high(2, 10, 1, 20)], tiers())
    assert found.jobs == {1: (0, 100, "completed"), 2: (100, 120, "completed")}
    assert not found.rows


def test_the_last_candidate_goes_first_if_it_is_enough():
    """As select/cons_tres puts candidates into another order: job 2 alone makes room.

    By number of nodes job 1 goes first, which is not enough; job 2 is, and is tried first then.
    """
    jobs = [low(1, 0, 1, 100), low(2, 0, 2, 100), high(3, 10, 2, 20)]
    found = outcome(alike(3, core=1), jobs, tiers())
    assert found.rows == [(2, 0, 10, "requeued", 3, 10)]


@pytest.mark.parametrize(("other_mode", "victim"), [("cancel", 2), ("suspend", 1)])
def test_where_jobs_may_be_suspended_a_preemptor_takes_the_first_nodes(other_mode, victim):
    """Job 4 needs two nodes; node 2 is free, and job 2 is on one node, job 1 on the first two."""
    preemption = tiers()
    low_class, *others = preemption.classes
    classes = (low_class, *(one._replace(mode=other_mode) for one in others))
    jobs = [low(1, 0, 2, 100), low(3, 0, 1, 5), low(2, 0, 1, 100), high(4, 10, 2, 20)]
    found = outcome(alike(4, core=1), jobs, preemption._replace(classes=classes))
    assert found.rows == [(victim, 0, 10, "requeued", 4, 10)]


def test_the_lowest_tier_goes_first_or_the_youngest():
    """Job 2 has a lower tier, job 1 is younger; requeued, job 1 ends job 2 in turn."""
    jobs = [low(2, 0, 1, 100), high(1, 5, 1, 100), traced(3, 10, 1, 20, partition=3)]
    for youngest, victim in ((False, 2), (True, 1)):
        found = outcome(alike(2, core=1), jobs, tiers(youngest_first=youngest))
        assert found.rows[0][0] == victim


def test_suspended_jobs_keep_their_memory():
    """Job 2 needs memory that job 1 keeps, and waits for its end; job 3 needs less."""
    system = alike(1, core=4, mem=10)
    jobs = [
        low(1, 0, 4, 100, (1, 1)),
        high(2, 10, 4, 20, (1, 2)),
        high(3, 20, 4, 30, (1, 1)),
    ]
    found = outcome(system, jobs, tiers("suspend"), lambda: lists(option="greedy"))
    assert found.jobs == {
        1: (0, 130, "completed"),
        2: (130, 150, "completed"),
        3: (20, 50, "completed"),
    }


@pytest.mark.parametrize("rule", RESERVING.values(), ids=RESERVING)
def test_reservations_are_kept_beside_suspended_jobs(rule):
    """Job 4 suspends job 1; job 5 has three nodes reserved from 30 on, and job 6 waits."""
    one = (1, 0)
    jobs = [
        low(1, 0, 1, 100, one),
        high(2, 0, 2, 30, one),
        high(3, 0, 1, 12, one),
        high(4, 10, 2, 50, one),
        low(5, 11, 3, 20, one),
        low(6, 12, 1, 100, (1, 1)),
    ]
    system = System((NodeGroup("a", 1, {"core": 1}), NodeGroup("b", 4, {"core": 1, "gpu": 1})))
    found = outcome(system, jobs, tiers("suspend"), rule)
    assert found.rows[0] == (1, 10, 60, "suspended", 4, 0)
    assert found.jobs[5] == (30, 50, "completed")
    assert found.jobs[6] == (50, 150, "completed")


def test_cores_of_a_suspended_job_are_lent_to_those_above_it_alone():
    """Job 1 has both nodes; job 2 takes one, and job 3, of its own tier, does not get the other.

    Job 4, of the higher tier, gets it. At 40 both have ended, and job 1 goes on.
    """
    jobs = [low(1, 0, 2, 100), high(2, 10, 1, 30), low(3, 15, 1, 5), high(4, 20, 1, 10)]
    found = outcome(alike(2, core=1), jobs, tiers("suspend"))
    assert found.jobs == {
        1: (0, 130, "completed"),
        2: (10, 40, "completed"),
        3: (130, 135, "completed"),
        4: (20, 30, "completed"),
    }
    assert found.rows == [(1, 10, 40, "suspended", 2, 0)]


def test_higher_tiers_are_tried_first_even_without_preemption():
    """Job 3 came last and starts first."""
    preemption = tiers()._replace(classes=())
    jobs = [low(1, 0, 1, 10), low(2, 1, 1, 10), high(3, 2, 1, 10)]
    found = outcome(alike(1, core=1), jobs, preemption)
    assert {name: start for name, (start, _, _) in found.jobs.items()} == {1: 0, 2: 20, 3: 10}


def test_by_priority_jobs_preempt_those_that_come_after_them():
    """Under shortest job first job 2 ends job 1, and job 3, which is longer, does not end job 2."""
    preemption = Preemption("priority", (PreemptClass("", "requeue", 0, 0, 0),), NO_PARTITIONS)
    jobs = [traced(1, 0, 1, 100), traced(2, 10, 1, 20), traced(3, 15, 1, 50)]
    found = outcome(alike(1, core=1), jobs, preemption, lambda: lists("sjf"))
    assert found.jobs == {
        1: (80, 180, "completed"),
        2: (10, 30, "completed"),
        3: (30, 80, "completed"),
    }


def test_a_checkpoint_saves_work():
    """Job 1 writes a checkpoint after 10 s of work, in 1 s: two by 22, so that 5 s are lost at 25.

    It goes on at 35: 2 s to read, 80 s of work, 7 checkpoints; the last 10 s need none after them.
    """
    checkpoints = Checkpoints(10, 1, 2)
    jobs = [low(1, 0, 1, 100), high(2, 25, 1, 10)]
    found = outcome(alike(1, core=1), jobs, tiers(), checkpoints=checkpoints)
    assert found.jobs == {1: (35, 124, "completed"), 2: (25, 35 + 0, "completed")}
    assert found.rows == [(1, 0, 25, "requeued", 2, 5)]
    alone = outcome(alike(1, core=1), [low(1, 0, 1, 100)], tiers(), checkpoints=checkpoints)
    assert alone.jobs == {1: (0, 109, "completed")}
    assert checkpoints.run_time(100, restarts=False) == 109
    assert checkpoints.run_time(80, restarts=True) == 89
    assert checkpoints.work(109, restarts=False) == 100
    assert checkpoints.work(89, restarts=True) == 80


def test_checkpoints_save_work_from_failures():
    """A node fails at 25 and is back at 27; nothing more is saved when it fails at 30."""
    outages = Outages((Outage(25, 27, (0,), "failure"), Outage(30, 31, (0,), "failure")))
    found = outcome(
        alike(1, core=1), [low(1, 0, 1, 100)], None, outages=outages, checkpoints=Checkpoints(10)
    )
    assert found.rows == [(1, 0, 25, "requeued", -1, 5), (1, 27, 30, "requeued", -1, 3)]
    assert found.jobs == {1: (31, 111, "completed")}


def test_a_node_that_fails_ends_a_suspended_job():
    """Job 1 is suspended from 10 on, and its second node fails at 15; it begins anew."""
    outages = Outages((Outage(15, 16, (1,), "failure"),))
    jobs = [low(1, 0, 2, 100), high(2, 10, 1, 30)]
    found = outcome(alike(2, core=1), jobs, tiers("suspend"), outages=outages)
    assert found.rows == [(1, 10, 15, "suspended", 2, 0), (1, 0, 15, "requeued", -1, 10)]
    assert found.jobs == {1: (40, 140, "completed"), 2: (10, 40, "completed")}


def test_no_job_is_preempted_in_vain():
    """Job 3 needs a node beside job 2, of its own tier, which it cannot have: job 1 runs on."""
    jobs = [low(1, 0, 1, 100), high(2, 0, 1, 50), high(3, 10, 2, 20)]
    found = outcome(alike(2, core=1), jobs, tiers())
    assert found.jobs[3] == (50, 70, "completed")
    assert found.rows == [(1, 0, 50, "requeued", 3, 50)]


def test_limits_of_others_do_not_keep_a_job_from_preempting():
    """Job 2 starts, so that its user's limit keeps job 3 waiting; job 4 of another preempts job 1.

    Three cores: job 1 has two; at 10, job 2 takes the third.
    """
    limited = Account(users={7: 1}, limits=SiteLimits(LimitSet({"jobs": 1})))
    jobs = [
        low(1, 0, 2, 100),
        *(high(k, 10, 1, 5, user=user) for k, user in ((2, 7), (3, 7), (4, 8))),
    ]
    policies = SitePolicies({}, {"one": limited, "others": Account()})
    found = outcome(alike(1, core=3), jobs, tiers(), policies=policies)
    assert found.jobs[4] == (10, 15, "completed")
    assert found.jobs[3] == (15, 20, "completed")
    assert found.rows == [(1, 0, 10, "requeued", 4, 10)]
