"""The order `multifactor`: a worked example, its factors, and usage that decays."""

from collections.abc import Sequence
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob, waiting_job
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import simulate
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import Request
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions
from tests.builders import NoObjective, alike, lists, replay, traced
from tests.dispatching.rules.multifactor_factors import factors_of, order_of, priorities_of, used_by
from tests.docs.pages import ROOT
from tests.strategies import tries

SYSTEM = alike(10, core=1)
NOW = 3000
PARTITIONS = Partitions(
    (
        Partition("short", {"queue": frozenset({1})}, priority=10),
        Partition("long", {"queue": frozenset({2})}, priority=5),
        Partition("rest"),
    )
)


def params(**given: Any) -> dict[str, Any]:
    """Return parameters as a scenario gives them, with `qos` and `accounts` beside them."""
    return given


ROOT_USERS = {"all": {"shares": "parent", "users": {"1": 0}, "other_users": True}}


def waiting(job_id: int, user: int | None, wait: int, cores: int, queue: int) -> WaitingJob:
    """Return a job that has waited so long."""
    job = Job(job_id, NOW - wait, Request(cores, (1,)), 500, user=user, queue=queue)
    return waiting_job(job, 500, SYSTEM)


def running(job_id: int, user: int | None, start_time: int, cores: int) -> RunningJob:
    """Return a job that has started."""
    place = NodeAllocation((0,), (cores,))
    job = waiting(job_id, user, 0, cores, 1)
    return RunningJob(start_time + 500, job_id, start_time, cores, place, job)


def problem(
    queue: tuple[WaitingJob, ...], run: tuple[RunningJob, ...] = (), now: int = NOW
) -> DispatchingProblem:
    """Return a problem."""
    return DispatchingProblem(now, 1, queue, run, SYSTEM, NoObjective(), SYSTEM.capacity.T)


def seen(
    asked: DispatchingProblem,
) -> tuple[int, Sequence[WaitingJob], Sequence[RunningJob]]:
    """Return what priorities depend on."""
    return asked.now, asked.queue, asked.running


# Twenty jobs at second 3,000, on ten cores. The weights are chosen so that each factor is read off:
# with `max_age` 1,000 s a second of waiting is 1 point, up to 1,000; a core is 100 / 10 = 10; the
# partition short is 50 (priority 10 of 10), long 25 (5 of 10); as `qos`, queue 1 is 10 (4 of 4) and
# queue 2 is 2.5 (1 of 4). Fair share is 2,000 points × 2^(−U / S), as follows.
#
# Usage, of which every number has a factor half-life / ln 2 that cancels out: demand × (1 − 2^−k)
# for a job of k half-lives (100 s each), × 2^−m if it ended m half-lives ago.
#
#   user 1   8 cores, 100 s, ended 100 s ago   8 × 1/2 × 1/2 = 2   U = 2/8
#   user 2   4 cores, 100 s, ended now         4 × 1/2       = 2   U = 2/8
#   user 3   8 cores, running for 100 s        8 × 1/2       = 4   U = 4/8
#   user 4   nothing                                           0   U = 0
#
# Shares: 2 for user 1, 4 for user 4, 1 each for the others; 8 in all.
#
#   user 1   S = 2/8   2^−(2/8 ÷ 2/8) = 2^−1 = 1/2    1,000 points
#   user 2   S = 1/8   2^−(2/8 ÷ 1/8) = 2^−2 = 1/4      500
#   user 3   S = 1/8   2^−(4/8 ÷ 1/8) = 2^−4 = 1/16     125
#   user 4   S = 4/8   2^0            = 1             2,000
EXAMPLE = (
    # job, user, wait, cores, queue: age + size + fair share + partition + qos = priority
    (1, 1, 1500, 1, 1, 1000 + 10 + 1000 + 50 + 10),  # 2070: the wait counts up to 1,000 s
    (2, 2, 1200, 2, 1, 1000 + 20 + 500 + 50 + 10),  # 1580
    (3, 3, 1000, 10, 2, 1000 + 100 + 125 + 25 + 2.5),  # 1252.5
    (4, 4, 900, 1, 3, 900 + 10 + 2000 + 0 + 0),  # 2910
    (5, 1, 800, 4, 2, 800 + 40 + 1000 + 25 + 2.5),  # 1867.5
    (6, 1, 800, 4, 2, 800 + 40 + 1000 + 25 + 2.5),  # 1867.5: as job 5, which came before it
    (7, 2, 750, 8, 2, 750 + 80 + 500 + 25 + 2.5),  # 1357.5
    (8, 3, 700, 1, 1, 700 + 10 + 125 + 50 + 10),  # 895
    (9, 4, 650, 10, 1, 650 + 100 + 2000 + 50 + 10),  # 2810
    (10, 1, 600, 2, 3, 600 + 20 + 1000 + 0 + 0),  # 1620
    (11, 2, 500, 5, 1, 500 + 50 + 500 + 50 + 10),  # 1110
    (12, 3, 450, 6, 3, 450 + 60 + 125 + 0 + 0),  # 635
    (13, 4, 400, 3, 2, 400 + 30 + 2000 + 25 + 2.5),  # 2457.5
    (14, 1, 300, 1, 2, 300 + 10 + 1000 + 25 + 2.5),  # 1337.5
    (15, 2, 250, 10, 3, 250 + 100 + 500 + 0 + 0),  # 850
    (16, 3, 200, 2, 2, 200 + 20 + 125 + 25 + 2.5),  # 372.5
    (17, 4, 100, 1, 1, 100 + 10 + 2000 + 50 + 10),  # 2170
    (18, 1, 60, 7, 1, 60 + 70 + 1000 + 50 + 10),  # 1190
    (19, 2, 10, 1, 3, 10 + 10 + 500 + 0 + 0),  # 520
    (20, 3, 0, 1, 3, 0 + 10 + 125 + 0 + 0),  # 135
)
IN_ORDER = [4, 9, 13, 17, 1, 5, 6, 10, 2, 7, 14, 3, 18, 11, 8, 15, 12, 19, 16, 20]


def example_order() -> MultifactorOrder:
    """Return the order of the example, which has heard of what came before."""
    order = order_of(
        params(
            weights={"age": 1000, "size": 100, "fair_share": 2000, "partition": 50, "qos": 10},
            max_age=1000,
            half_life=100,
            fair_share="classic",
            accounts={"all": {"shares": "parent", "users": {"1": 2, "4": 4}, "other_users": True}},
            qos={"1": 4, "2": 1},
        ),
        SYSTEM,
        PARTITIONS,
    )
    for job, end_time in ((running(101, 1, 2800, 8), 2900), (running(102, 2, 2900, 4), 3000)):
        order.job_started(job)
        order.job_ended(job, end_time)
    return order


def test_the_worked_example() -> None:
    """Priorities of twenty jobs are those worked out by hand, and the order follows from them."""
    order = example_order()
    runs = running(103, 3, 2900, 8)
    order.job_started(runs)
    queue = tuple(waiting(*row[:5]) for row in EXAMPLE)
    asked = problem(queue, (runs,))
    found = priorities_of(order, *seen(asked))
    assert found == pytest.approx({row[0]: row[5] for row in EXAMPLE}, rel=1e-12)
    assert [job.job_id for job in order.sort(asked)] == IN_ORDER


def test_a_queue_by_its_name() -> None:
    """Where the trace has names, `qos` may name queues; a number comes before a name."""
    order = order_of(params(qos={"high": 4, "2": 1}), SYSTEM, NO_PARTITIONS)
    queue = (waiting(1, 1, 0, 1, 1), waiting(2, 1, 0, 1, 2), waiting(3, 1, 0, 1, 3))
    named = tuple(
        job._replace(job=job.job._replace(queue_name=name))
        for job, name in zip(queue, ("high", "high", "low"), strict=True)
    )
    found = factors_of(order, *seen(problem(named)))
    assert [found[k].qos for k in (1, 2, 3)] == [1, 0.25, 0]


def test_without_a_history_what_runs_counts() -> None:
    """A problem that is asked by itself knows usage and users by what runs."""
    order = order_of(params(), SYSTEM, NO_PARTITIONS)
    queue = (waiting(1, 3, 0, 1, 1), waiting(2, 2, 0, 1, 1))
    asked = problem(queue, (running(103, 3, 2900, 8), running(104, 5, 2900, 8)))
    shares = [f.fair_share for f in factors_of(order, *seen(asked)).values()]
    # Three users: half of the usage for a third of the shares.
    assert shares == pytest.approx([2**-1.5, 1.0])
    assert [job.job_id for job in order.sort(asked)] == [2, 1]


def test_small_jobs_first() -> None:
    """With `favor_small` the factor of size is 1 less the share of the system."""
    queue = (waiting(1, 1, 0, 8, 1), waiting(2, 1, 0, 1, 1))
    for favor_small, sizes in ((False, [0.8, 0.1]), (True, [0.2, 0.9])):
        order = order_of(params(favor_small=favor_small), SYSTEM, NO_PARTITIONS)
        factors = factors_of(order, *seen(problem(queue))).values()
        assert [f.size for f in factors] == pytest.approx(sizes)


def test_weights_are_those_of_the_example_in_slurm_s_documentation_unless_given() -> None:
    """Fair share weighs 10,000, all else 1,000."""
    order = order_of(params(), SYSTEM, NO_PARTITIONS)
    # User 1 has used all there is, and job 1 wants the whole system: only its size counts.
    wide = waiting(1, 1, 0, 10, 1)
    runs = (running(103, 1, 2000, 10), running(104, 1, 2000, 10))
    (priority,) = priorities_of(order, NOW, [wide], runs).values()
    assert priority == pytest.approx(1000 + 10000 * 2**-1)
    old = waiting(2, 2, 604_800, 10, 1)
    (priority,) = priorities_of(order, NOW, [old], ()).values()
    assert priority == 1000 + 1000 + 10000
    short = order_of(params(qos={"1": 4}), SYSTEM, PARTITIONS)
    (priority,) = priorities_of(short, NOW, [old], ()).values()
    assert priority == 1000 + 1000 + 10000 + 1000 + 1000


def test_spans_are_a_week_unless_given() -> None:
    """Half a week's wait has an age of ½; what was used up to a week ago counts half."""
    week = 604_800
    order = order_of(params(), SYSTEM, NO_PARTITIONS)
    queue = (waiting(1, 1, week // 2, 1, 1), waiting(2, 2, 0, 1, 1))
    ended = running(103, 1, NOW - week - 1000, 8)
    order.job_started(ended)
    order.job_ended(ended, NOW - week)
    runs = running(104, 2, NOW - 1000, 4)
    factors = factors_of(order, *seen(problem(queue, (runs,))))
    assert [factors[1].age, factors[2].age] == [0.5, 0]
    # User 1 has used 8 × ½, user 2 as much: half of the usage for half of the shares.
    assert [factors[1].fair_share, factors[2].fair_share] == [pytest.approx(0.5, rel=1e-12)] * 2


def test_what_nobody_speaks_of_counts_nothing() -> None:
    """Without partitions and `qos` these factors are 0; so is that of a job in no partition."""
    queue = (waiting(1, 1, 0, 1, 1), waiting(2, 1, 0, 1, 3))
    short = Partitions((Partition("short", {"queue": frozenset({1})}, priority=10),))
    for partitions, expected in ((NO_PARTITIONS, [0, 0]), (short, [1, 0])):
        factors = factors_of(order_of(params(), SYSTEM, partitions), *seen(problem(queue))).values()
        assert [f.partition for f in factors] == expected
        assert [f.qos for f in factors] == [0, 0]


def test_a_share_of_nothing() -> None:
    """A user whose share is 0 has a factor of 0, before any usage too."""
    order = order_of(params(accounts=ROOT_USERS, fair_share="classic"), SYSTEM, NO_PARTITIONS)
    factors = factors_of(order, *seen(problem((waiting(1, 1, 0, 1, 1), waiting(2, 2, 0, 1, 1)))))
    assert [factors[1].fair_share, factors[2].fair_share] == [0, 1]


def test_users_of_unknown_number_share() -> None:
    """All jobs of unknown users count as those of one more user."""
    order = order_of(params(), SYSTEM, NO_PARTITIONS)
    queue = (waiting(1, None, 0, 1, 1), waiting(2, 2, 0, 1, 1))
    asked = problem(queue, (running(103, None, 2900, 8),))
    assert factors_of(order, *seen(asked))[1].fair_share == pytest.approx(2**-2)
    assert factors_of(order, *seen(asked))[2].fair_share == 1


def usage_of(
    order: MultifactorOrder, now: int, run: Sequence[RunningJob] = ()
) -> dict[int | None, float]:
    """Return usage by user, without users of whose usage hardly anything is left."""
    return {one.user: used for one, used in used_by(order, now, run).items() if used > 1e-50}


def without_history(half_life: int | None) -> MultifactorOrder:
    """Return an order with a half-life."""
    return order_of(params(half_life=half_life), SYSTEM, NO_PARTITIONS)


def test_without_a_half_life_usage_is_demand_times_time() -> None:
    """Nothing is forgotten, whenever it is asked."""
    order = without_history(None)
    order.job_ended(running(1, 1, 100, 3), 150)
    order.job_ended(running(2, 1, 120, 2), 160)
    assert usage_of(order, 10_000, [running(3, 1, 9_990, 4)]) == {1: 3 * 50 + 2 * 40 + 4 * 10}


def test_usage_that_decays_is_an_integral() -> None:
    """4 cores for a half-life of 100 s, up to now: 4 × ∫ 2^(−t / 100) dt = 4 × 50 / ln 2."""
    found = usage_of(without_history(100), NOW, [running(1, 1, NOW - 100, 4)])
    assert found == {1: pytest.approx(200 / log(2))}


HISTORIES = st.lists(
    st.tuples(
        st.integers(1, 3),  # user
        st.integers(0, 1000),  # start
        st.integers(0, 500),  # run time
        st.integers(1, 10),  # cores
    ),
    min_size=1,
    max_size=12,
)


def told(history: list[tuple[int, int, int, int]], half_life: int | None) -> MultifactorOrder:
    """Return an order that was told of jobs in order of their ends."""
    usage = without_history(half_life)
    for k, (user, start, run_time, cores) in enumerate(sorted(history, key=lambda j: j[1] + j[2])):
        usage.job_ended(running(k, user, start, cores), start + run_time)
    return usage


@tries(80)
@given(HISTORIES, st.integers(1, 2000), st.integers(0, 3000), st.integers(0, 3000))
def test_decay_composes(
    history: list[tuple[int, int, int, int]], half_life: int, first: int, then: int
) -> None:
    """Decay over two spans is decay over both, and a half-life halves."""
    usage = told(history, half_life)
    now = 1500 + first
    before, after = used_by(usage, now, ()), used_by(usage, now + then, ())
    factor = 2 ** (-then / half_life)
    assert after == pytest.approx({user: worth * factor for user, worth in before.items()})
    halved = used_by(usage, now + half_life, ())
    assert halved == pytest.approx({user: worth / 2 for user, worth in before.items()})


@tries(80)
@given(HISTORIES, st.integers(1, 2000), st.data())
def test_a_job_in_pieces_comes_to_the_same(
    history: list[tuple[int, int, int, int]], half_life: int, data: st.DataObject
) -> None:
    """Usage is additive in time: it does not matter when a job is looked at, or cut in two."""
    pieces = []
    for user, start, run_time, cores in history:
        cut = data.draw(st.integers(0, run_time))
        pieces += [(user, start, cut, cores), (user, start + cut, run_time - cut, cores)]
    whole, cut_up = told(history, half_life), told(pieces, half_life)
    assert usage_of(cut_up, 1500) == pytest.approx(usage_of(whole, 1500))
    # Nor whether it has ended or still runs at that instant.
    user, start, run_time, cores = history[0]
    ended = usage_of(told(history[:1], half_life), start + run_time)
    still = [running(1, user, start, cores)]
    runs = usage_of(without_history(half_life), start + run_time, still)
    assert runs == pytest.approx(ended)


@tries(40)
@given(HISTORIES, st.integers(1, 2000), st.lists(st.integers(0, 1500), max_size=5))
def test_rounds_change_nothing(
    history: list[tuple[int, int, int, int]], half_life: int, rounds: list[int]
) -> None:
    """Being asked in between leaves priorities as they are, to the last bit; factors are shares."""
    queue = tuple(waiting(200 + k, k, 40 * k, 1 + k, k) for k in range(1, 6))
    found = []
    for instants in ([], sorted(rounds)):
        order = order_of(params(half_life=half_life), SYSTEM, PARTITIONS)
        pending = list(instants)
        for k, (user, start, run_time, cores) in enumerate(
            sorted(history, key=lambda j: j[1] + j[2])
        ):
            while pending and pending[0] <= start + run_time:
                order.sort(problem(queue, now=pending.pop(0)))
            order.job_started(running(k, user, start, cores))
            order.job_ended(running(k, user, start, cores), start + run_time)
        found.append(factors_of(order, *seen(problem(queue))))
    assert found[0] == found[1]
    assert all(0 <= factor <= 1 for factors in found[0].values() for factor in factors)


def test_fair_share_turns_the_order_round() -> None:
    """Of two users, the one who has used less goes first, though he came later."""
    jobs = (
        traced(1, 0, 10, 100, user=1),
        traced(2, 1, 10, 100, user=1),
        traced(3, 2, 10, 100, user=2),
    )
    system = alike(10, core=1)
    weights = {"age": 1, "size": 0, "fair_share": 1000, "partition": 0, "qos": 0}
    order = order_of(params(weights=weights), system, NO_PARTITIONS)
    dispatcher = list_rule(order, "strict", FirstFit())
    recorder = replay(system, dispatcher, jobs, followers=[order])
    assert recorder.start_times == {1: 0, 2: 200, 3: 100}
    assert replay(system, lists("fcfs", "strict"), jobs).start_times == {1: 0, 2: 100, 3: 200}


class Heard:
    """Takes the place of an order, and counts what it is told."""

    def __init__(self, order: MultifactorOrder) -> None:
        self.order = order
        self.started = self.ended = 0

    def job_started(self, job: RunningJob) -> None:
        """Count."""
        self.started += 1
        self.order.job_started(job)

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Count."""
        assert end_time >= job.start_time
        self.ended += 1
        self.order.job_ended(job, end_time)


def test_an_assembly_knows_who_follows() -> None:
    """The order that a scenario selects is told of each start and end; others are not asked."""
    path = ROOT / "scenarios" / "small-site.yaml"
    assembly = assemble(load_scenario(path, ["trace.jobs=40"])).build_all()
    (order,) = assembly.followers
    assert isinstance(order, MultifactorOrder)
    heard = Heard(order)
    simulate(parts_of(assembly, [])._replace(followers=[heard]), assembly.source.jobs())
    assert heard.started == heard.ended == 40
    fcfs = assemble(load_scenario(path, ["dispatcher.order=fcfs"])).build_all()
    assert fcfs.followers == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # LF of the lab: (1/4) / 1; of the rest: infinite. Only user 1 has used anything.
        ({}, {1: 1 / 4, 2: 2 / 4, 3: 1.0, 4: 1.0}),
        ({"fair_share": "fair-tree"}, {1: 1 / 4, 2: 2 / 4, 3: 1.0, 4: 1.0}),
        # User 1: U = 1, S = 1/4 × 1/2; user 2: U = 0 + (1 - 0) × 1/2, S = 1/4 × 1/2.
        ({"fair_share": "classic"}, {1: 2**-8, 2: 2**-4, 3: 1.0, 4: 1.0}),
    ],
)
def test_users_in_a_tree(given: dict[str, str], expected: dict[int, float]) -> None:
    """Two users of an account with usage come after two users without an account."""
    accounts = {"lab": {"users": {"1": 1, "2": 1}}, "rest": {"shares": 3, "other_users": True}}
    order = order_of(params(accounts=accounts, **given), SYSTEM)
    before = running(101, 1, 2800, 8)
    order.job_started(before)
    order.job_ended(before, 2900)
    asked = problem(tuple(waiting(user, user, 0, 1, 1) for user in (1, 2, 3, 4)))
    found = factors_of(order, *seen(asked))
    assert {job: factors.fair_share for job, factors in found.items()} == expected
    assert [job.job_id for job in order.sort(asked)] == [3, 4, 2, 1]


@pytest.mark.parametrize(
    "bad",
    [
        {"weights": {"age": -1}},
        {"max_age": 0},
        {"half_life": 0},
        {"qos": {"1": -0.5}},
        {"weights": {"nice": 1}},
        {"weights": {"age": 2 * 10**15}},
    ],
)
def test_what_makes_no_sense_is_refused(bad: dict[str, Any]) -> None:
    """Negative weights and shares, spans of nothing and unknown factors are refused."""
    with pytest.raises(ValueError, match="validation error"):
        order_of(bad, SYSTEM)


def test_usage_before_the_first_job() -> None:
    """It is in core-seconds, and decays from the first instant that the order sees.

    The system has 10 cores and 40 GiB; a demand of 1 core is 1/10 of it. User 1 has used 3000
    core-seconds at 3000 s. A job of user 2 has run on 10 cores for 600 s since 3000 s, which is
    6000; the half-life is 600 s. At 3600 s, user 1 is at 1500 and user 2 at 6000 × 1/2 / ln 2.
    """
    system = alike(10, core=1, mem=4)
    accounts = {"a": {"users": {"1": 1, "2": 1, "3": 1}, "usage": {"1": 3000}}}
    order = order_of(params(accounts=accounts, half_life=600), system, NO_PARTITIONS)

    def factors_at(now: int, run: tuple[RunningJob, ...]) -> list[float]:
        queue = tuple(
            waiting_job(Job(user, now, Request(1, (1, 0)), 500, user=user), 500, system)
            for user in (1, 2, 3)
        )
        found = factors_of(order, now, queue, run)
        return [round(found[user].fair_share, 6) for user in (1, 2, 3)]

    assert factors_at(3000, ()) == [round(1 / 3, 6), 1.0, 1.0]
    job = waiting_job(Job(9, 3000, Request(10, (1, 0)), 900, user=2), 900, system)
    run = RunningJob(3900, 9, 3000, 10, NodeAllocation((0,), (10,)), job)
    order.job_started(run)
    assert factors_at(3600, (run,)) == [round(2 / 3, 6), round(1 / 3, 6), 1.0]
    at = {one.user: used * 10 / job.demand for one, used in used_by(order, 3600, (run,)).items()}
    assert at == {1: pytest.approx(1500), 2: pytest.approx(3000 / log(2)), 3: 0}


def test_usage_of_a_long_time_ago_is_forgotten() -> None:
    """After 10^12 half-lives nothing is left, and later usage counts as ever."""
    order = without_history(1)
    order.job_ended(running(1, 1, 0, 3), 10)
    later = 10**12
    runs = [running(2, 2, later - 1, 4)]
    assert usage_of(order, later, runs) == {2: pytest.approx(4 * 0.5 / log(2))}
