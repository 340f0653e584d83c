"""The auditor's own figures, and its own loss of capacity, of few jobs worked out by hand."""

from typing import Any

import numpy as np
import pytest

from hpcsched.audit.summary import Figures, allocated_amounts, lost_amounts, mean
from hpcsched.system.outages import DownTime, Outage, down_time
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing.replaying import run_columns
from tests.runs.hand_made import SYSTEM, job, row

# There are 16 cores: four nodes of 4. Node 3 has half of the rest: 64 mem of 112, and both gpus.
CORE = 0

# Submit time, start, run time and demand: waits are 5, 0, 30, 30, 20; responses 15, 4, 50, 31, 20.
FIVE = ((100, 105, 10, 1), (110, 110, 4, 2), (110, 140, 20, 3), (120, 150, 1, 4), (100, 120, 0, 5))
# Waits are 2 and 0, responses 3 and 2.
TWO = ((100, 102, 1, 1), (100, 100, 2, 2))
# It waits for 10 s and is over at once.
BRIEF = ((100, 110, 0, 1),)


def figures_of(*jobs: tuple[int, int, int, int]) -> Figures:
    """Return the figures of jobs of one core each, and of one that was rejected long before."""
    rows = [
        row(job(k, submit, 1, (1, 0, 0), run_time), start, {0: 1}, demand=demand)
        for k, (submit, start, run_time, demand) in enumerate(jobs, start=1)
    ]
    run = run_columns([*rows, row(job(99, 3, 1, (1, 0, 0), 7), None)], SYSTEM)
    return Figures(run, SYSTEM, run, None)


def test_metrics() -> None:
    """Of five jobs, one of them of no length, which has no slowdown.

    Bounded slowdowns with τ = 4 are 15/10, 1, 50/20, 31/4 and 20/4. Areas are 10, 8, 60, 4 and 0.
    Cores are used for 10 + 4 + 20 + 1 s of 60 s.
    """
    metrics = figures_of(*FIVE).metrics({"mean_bounded_slowdown": {"tau": 4}, "p2sf": {"alpha": 2}})
    del metrics["p2sf"]
    assert metrics == {
        "mean_bounded_slowdown": pytest.approx((1.5 + 1 + 2.5 + 7.75 + 5) / 5),
        "mean_slowdown": pytest.approx((1.5 + 1 + 2.5 + 31) / 4),
        "mean_wait_time": 17,
        "mean_response_time": 24,
        "area_weighted_response_time": pytest.approx((150 + 32 + 3000 + 124) / 82),
        "utilization": 35 / (16 * 60),
        "makespan": 160 - 100,
    }


@pytest.mark.parametrize(
    ("jobs", "alpha", "expected"),
    [
        (TWO, 2, 3 / 4 * (81 - 16 + 2 * 16) / (27 - 8 + 2 * 8)),
        (TWO, 1, 2 / 3 * (27 - 8 + 2 * 8) / (9 - 4 + 2 * 4)),
        # 4 to the powers 2.5 and 1.5 is 32 and 8
        (((100, 101, 3, 1),), 0.5, 1.5 / 2.5 * (32 - 1) / (8 - 1)),
        # 10^20 is no number of 64 bits
        (((100, 100, 100_000, 1),), 2, 3 / 4 * 100_000),
        (BRIEF, 2, None),
    ],
)
def test_specific_flow(
    jobs: tuple[tuple[int, int, int, int], ...], alpha: float, expected: float | None
) -> None:
    """(α + 1)/(α + 2) · Σ demand (response^(α+2) - wait^(α+2)) over the same of α + 1."""
    figures = figures_of(*jobs)
    assert figures.objective("psf", {"alpha": alpha}) == pytest.approx(expected)
    parameters = {"mean_bounded_slowdown": {"tau": 10}, "p2sf": {"alpha": alpha}}
    assert figures.metrics(parameters)["p2sf"] == pytest.approx(expected)


def term(weight: float, name: str, **parameters: Any) -> dict[str, Any]:
    """Return a term of a weighted sum."""
    return {"objective": {"name": name, **parameters}, "weight": weight}


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("slowdown", {}, 9),
        ("bounded_slowdown", {"tau": 10}, (1.5 + 1 + 2.5 + 3.1 + 2) / 5),
        ("af", {}, 24),
        ("wait_time", {}, 17),
        ("awf", {}, 3306 / 82),
        ("makespan", {}, 60),
        ("weighted_sum", {"terms": [term(2, "wait_time"), term(3, "makespan")]}, 2 * 17 + 3 * 60),
        ("weighted_sum", {"terms": [term(2, "bounded_slowdown", tau=4)]}, 2 * 3.55),
    ],
)
def test_objectives(name: str, parameters: dict[str, Any], expected: float) -> None:
    """Those of the five jobs."""
    assert figures_of(*FIVE).objective(name, parameters) == pytest.approx(expected)


def test_an_unknown_objective() -> None:
    """A plugin's is named, as a term too."""
    for name, parameters in (("energy", {}), ("weighted_sum", {"terms": [term(1, "energy")]})):
        with pytest.raises(KeyError) as raised:
            figures_of(*FIVE).objective(name, parameters)
        assert raised.value.args == ("energy",)


def test_where_there_is_no_value() -> None:
    """A job of no length has no slowdown and no area; a sum with no value in it has none."""
    brief = figures_of(*BRIEF)
    assert (brief.objective("af", {}), brief.objective("makespan", {})) == (10, 10)
    for name in ("slowdown", "awf"):
        assert brief.objective(name, {}) is None
    terms = [term(1, "slowdown"), term(1, "makespan")]
    assert brief.objective("weighted_sum", {"terms": terms}) is None
    assert mean(np.array([])) is None


def test_where_nothing_ran() -> None:
    """There is no figure at all, and no time in which anything could be used."""
    none = figures_of()
    parameters = {"mean_bounded_slowdown": {"tau": 10}, "p2sf": {"alpha": 2}}
    assert set(none.metrics(parameters).values()) == {None}
    assert none.utilization() == none.loss_of_capacity(rejected_wait=True) == {}
    # All is over at the instant at which it began.
    assert figures_of((100, 100, 0, 1)).utilization() == {}


def test_classes() -> None:
    """Bounds count as in; a job of no length counts, but has no slowdown."""
    figures = figures_of(*FIVE)
    assert figures.of_class(1, 10, 4) == {
        "jobs": 3,
        "mean_wait_time": pytest.approx((5 + 0 + 30) / 3),
        "mean_response_time": pytest.approx((15 + 4 + 31) / 3),
        "mean_slowdown": pytest.approx((1.5 + 1 + 31) / 3),
        "mean_bounded_slowdown": pytest.approx((1.5 + 1 + 7.75) / 3),
    }
    assert figures.of_class(11, None, 4)["jobs"] == 1
    assert figures.of_class(0, 3, 4) == {
        "jobs": 2,
        "mean_wait_time": 25,
        "mean_response_time": 25.5,
        "mean_slowdown": 31,
        "mean_bounded_slowdown": (7.75 + 5) / 2,
    }


def test_percentiles_are_taken_from_sorted_values() -> None:
    """Of waits, responses, and bounded slowdowns with τ = 4."""
    found = figures_of(*FIVE).percentiles(4)
    assert {name: values.tolist() for name, values in found.items()} == {
        "wait_time": [0, 5, 20, 30, 30],
        "response_time": [4, 15, 20, 31, 50],
        "bounded_slowdown": [1, 1.5, 2.5, 5, 7.75],
    }


def down(*outages: tuple[int, int, int]) -> DownTime:
    """Return when nodes are out of service: node, from, until."""
    return down_time(Outage(start, end, (node,), "failure") for node, start, end in outages)


@pytest.mark.parametrize(
    ("outages", "expected"),
    [
        ((), {"core": 60 / 160, "mem": 80 / 1120, "gpu": 0}),
        # Half of the time there is no node 3: 5 s less of 4 cores, 64 mem and both gpus.
        ([(3, 105, 120)], {"core": 60 / 140, "mem": 80 / 800, "gpu": 0}),
        ([(3, 90, 110)], {"core": 60 / 120, "mem": 80 / 480}),
        ([(0, 0, 102), (1, 109, 110)], {"core": 60 / 148, "mem": 80 / 1072, "gpu": 0}),
    ],
)
def test_utilization(outages: list[tuple[int, int, int]], expected: dict[str, float]) -> None:
    """Two units of 3 cores and 4 mem for 10 s; what is out of service then is no capacity."""
    run = run_columns([row(job(1, 100, 2, (3, 4, 0), 10), 100, {1: 1, 2: 1})], SYSTEM)
    found = Figures(run, SYSTEM, run, down(*outages) if outages else None)
    assert found.utilization() == pytest.approx(expected)


def test_one_core_for_one_second() -> None:
    """The least capacity that there can be is used whole."""
    run = run_columns([row(job(1, 5, 1, (1, 0, 0), 1), 5, {0: 1})], SYSTEM)
    one = System((NodeGroup("one", 1, {"core": 1, "mem": 0, "gpu": 0}),))
    assert Figures(run, one, run, None).utilization() == {"core": 1}


# Jobs 1 and 2 hold 12 of 16 cores until 10. Job 3 wants 8 from 4 on, and has them from 10 to 15.
WAITING = [
    row(job(1, 0, 1, (4, 1, 0), 10), 0, {0: 1}),
    row(job(2, 0, 2, (4, 1, 0), 10), 0, {1: 1, 2: 1}),
    row(job(3, 4, 2, (4, 1, 0), 5), 10, {0: 1, 1: 1}),
]


def test_loss_of_capacity() -> None:
    """From 4 to 10 job 3 waits for 8 cores and 4 are free; of its 2 mem all are."""
    run = run_columns(WAITING, SYSTEM)
    lost = lost_amounts(run, SYSTEM, rejected_wait=False, down=None)
    assert lost == [4 * 6, 2 * 6, 0]
    found = Figures(run, SYSTEM, run, None).loss_of_capacity(rejected_wait=False)
    assert found == pytest.approx({"core": 24 / (16 * 15), "mem": 12 / (112 * 15), "gpu": 0})


def test_loss_with_nodes_out_of_service() -> None:
    """Node 3 is gone from 6 to 9 and nothing is free; at 14, when it is gone again, nobody waits.

    There are 16 × 15 core-seconds, less 4 × 3 and 4 × 1.
    """
    run, gone = run_columns(WAITING, SYSTEM), down((3, 6, 9), (3, 14, 20))
    lost = lost_amounts(run, SYSTEM, rejected_wait=False, down=gone)
    assert lost == [4 * 3, 2 * 6, 0]
    found = Figures(run, SYSTEM, run, gone).loss_of_capacity(rejected_wait=False)
    assert found["core"] == pytest.approx(12 / (240 - 16))


@pytest.mark.parametrize(("rejected_wait", "more"), [(False, 0), (True, 3 * (15 - 12))])
def test_loss_with_rejected_jobs(rejected_wait: bool, more: int) -> None:
    """What the dispatcher rejected may have waited until the end, for 3 cores; the rest did not."""
    rejected = [
        row(job(4, 12, 1, (3, 0, 0), 10), None),
        row(job(5, 1, 1, (1, 0, 0), 10), None, rejected_by="over_shared_resource"),
    ]
    run = run_columns([*WAITING, *rejected], SYSTEM)
    lost = lost_amounts(run, SYSTEM, rejected_wait=rejected_wait, down=None)
    assert lost[CORE] == 24 + more
    found = Figures(run, SYSTEM, run, None).loss_of_capacity(rejected_wait=rejected_wait)
    assert found["core"] == pytest.approx((24 + more) / 240)


def test_loss_after_an_attempt_that_was_lost() -> None:
    """A job that lost its node at 5 waits again until it starts at 8, for 4 cores."""
    again = row(job(1, 0, 1, (4, 1, 0), 4), 8, {1: 1})
    lost = row(job(1, 0, 1, (4, 1, 0), 4), 0, {0: 1}, end_time=5, state="requeued")
    attempts = run_columns([again, lost], SYSTEM)
    assert lost_amounts(attempts, SYSTEM, rejected_wait=True, down=None)[CORE] == 4 * 3
    # Alone, the job's row says that it waited from 0 on; the makespan is 12.
    run = run_columns([again], SYSTEM)
    figures = Figures(run, SYSTEM, attempts, None)
    assert figures.loss_of_capacity(rejected_wait=False)["core"] == pytest.approx(12 / (16 * 12))


def test_loss_is_exact_where_there_is_much() -> None:
    """Of 2^53 + 1 bytes all but one are held: that one is free, and waited for."""
    much = System((NodeGroup("large", 1, {"core": 0, "mem": 2**53 + 1, "gpu": 0}),))
    run = run_columns(
        [
            row(job(1, 0, 1, (0, 2**53, 0), 10), 0, {0: 1}),
            row(job(2, 0, 1, (0, 1, 0), 5), 10, {0: 1}),
        ],
        SYSTEM,
    )
    assert lost_amounts(run, much, rejected_wait=False, down=None) == [0, 10, 0]


def test_what_jobs_hold() -> None:
    """An exclusive job holds its nodes, as far as they exist; another what it asks for."""
    exclusive = row(job(1, 0, 2, (1, 1, 0), 5, exclusive=True), 0, {-1: 1, 0: 1, 3: 1, 4: 1, 44: 1})
    run = run_columns([exclusive, row(job(2, 0, 3, (1, 2, 0), 5), 0, {1: 3})], SYSTEM)
    assert allocated_amounts(run, SYSTEM).tolist() == [[8, 16 + 64, 2], [3, 6, 0]]
