"""Checks of a summary's figures."""

import copy
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.columns import Declared, Replayed, RunColumns, read_rounds, run_columns
from hpcsched.audit.summary import (
    Figures,
    account,
    lost_amounts,
    mean,
    offline_plan,
    round_figures,
    summary_figures,
)
from hpcsched.audit.violations import TOLERANCE, Check
from hpcsched.runs.columns import rounds_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import ROUNDS, SUMMARY, TIMING
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.trace_source import TraceAccount
from tests.runs.columns_by_hand import audited
from tests.runs.hand_made import (
    DECLARED,
    JOBS,
    METRICS,
    REJECTED,
    SYSTEM,
    job,
    record_of,
    replayed,
    row,
    tamper_json,
    write_run,
)

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
    return Figures(ran([*rows, row(job(99, 3, 1, (1, 0, 0), 7), None)]))


def ran(
    records: Sequence[JobRecord], *lost: Interruption, system: System = SYSTEM, **conditions: Any
) -> Replayed:
    """Return what became of jobs, of an empty trace."""
    return replayed([], records, *lost, system=system, **conditions)


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
    assert figures.objective("p2sf", {"alpha": alpha}) == pytest.approx(expected)


def term(weight: float, name: str, **parameters: Any) -> dict[str, Any]:
    """Return a term of a weighted sum."""
    return {"objective": {"name": name, **parameters}, "weight": weight}


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("mean_slowdown", {}, 9),
        ("mean_bounded_slowdown", {"tau": 10}, (1.5 + 1 + 2.5 + 3.1 + 2) / 5),
        ("mean_response_time", {}, 24),
        ("mean_wait_time", {}, 17),
        ("area_weighted_response_time", {}, 3306 / 82),
        ("makespan", {}, 60),
        ("utilization", {}, 35 / (16 * 60)),
        (
            "weighted_sum",
            {"terms": [term(2, "mean_wait_time"), term(3, "makespan")]},
            2 * 17 + 3 * 60,
        ),
        ("weighted_sum", {"terms": [term(2, "mean_bounded_slowdown", tau=4)]}, 2 * 3.55),
    ],
)
def test_objectives(name: str, parameters: dict[str, Any], expected: float) -> None:
    """Those of five jobs, one of them of no length, which has no slowdown.

    Bounded slowdowns with τ = 4 are 15/10, 1, 50/20, 31/4 and 20/4. Areas are 10, 8, 60, 4 and 0.
    Cores are used for 10 + 4 + 20 + 1 s of 60 s.
    """
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
    assert (brief.objective("mean_response_time", {}), brief.objective("makespan", {})) == (10, 10)
    for name in ("mean_slowdown", "area_weighted_response_time"):
        assert brief.objective(name, {}) is None
    terms = [term(1, "mean_slowdown"), term(1, "makespan")]
    assert brief.objective("weighted_sum", {"terms": terms}) is None
    assert mean(np.array([])) is None


def test_where_nothing_ran() -> None:
    """There is no figure at all, and no time in which anything could be used."""
    none = figures_of()
    for name, chosen in METRICS.items():
        if name != "loss_of_capacity":
            assert none.objective(name, chosen.parameters) is None
    assert none.utilization == none.loss_of_capacity(rejected_wait=True) == {}
    # All is over at the instant at which it began.
    assert figures_of((100, 100, 0, 1)).utilization == {}


def test_figures_of_classes() -> None:
    """Bounds count as in; a job of no length counts, but has no slowdown."""
    figures = figures_of(*FIVE)
    assert figures.of_class(1, 10, 4) == {
        "jobs": 3,
        "mean_wait_time": pytest.approx((5 + 0 + 30) / 3),
        "mean_response_time": pytest.approx((15 + 4 + 31) / 3),
        "mean_slowdown": pytest.approx((1.5 + 1 + 31) / 3),
        "mean_bounded_slowdown": pytest.approx((1.5 + 1 + 7.75) / 3),
    }
    assert figures.of_class(11, math.inf, 4)["jobs"] == 1
    assert figures.of_class(0, 3, 4) == {
        "jobs": 2,
        "mean_wait_time": 25,
        "mean_response_time": 25.5,
        "mean_slowdown": 31,
        "mean_bounded_slowdown": (7.75 + 5) / 2,
    }


def down(*outages: tuple[int, int, int]) -> Outages:
    """Return when nodes are out of service: node, from, until."""
    return Outages(tuple(Outage(start, end, (node,), "failure") for node, start, end in outages))


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
    records = [row(job(1, 100, 2, (3, 4, 0), 10), 100, {1: 1, 2: 1})]
    found = Figures(ran(records, outages=down(*outages)))
    assert found.utilization == pytest.approx(expected)


def test_one_core_for_one_second() -> None:
    """The least capacity that there can be is used whole."""
    records = [row(job(1, 5, 1, (1, 0, 0), 1), 5, {0: 1})]
    one = System((NodeGroup("one", 1, {"core": 1, "mem": 0, "gpu": 0}),))
    assert Figures(ran(records, system=one)).utilization == {"core": 1}


# Jobs 1 and 2 hold 12 of 16 cores until 10. Job 3 wants 8 from 4 on, and has them from 10 to 15.
WAITING = [
    row(job(1, 0, 1, (4, 1, 0), 10), 0, {0: 1}),
    row(job(2, 0, 2, (4, 1, 0), 10), 0, {1: 1, 2: 1}),
    row(job(3, 4, 2, (4, 1, 0), 5), 10, {0: 1, 1: 1}),
]


def test_loss_of_capacity() -> None:
    """From 4 to 10 job 3 waits for 8 cores and 4 are free; of its 2 mem all are."""
    at = ran(WAITING)
    assert lost_amounts(at, rejected_wait=False).tolist() == [4 * 6, 2 * 6, 0]
    found = Figures(at).loss_of_capacity(rejected_wait=False)
    assert found == pytest.approx({"core": 24 / (16 * 15), "mem": 12 / (112 * 15), "gpu": 0})


def test_loss_with_nodes_out_of_service() -> None:
    """Node 3 is gone from 6 to 9 and nothing is free; at 14, when it is gone again, nobody waits.

    There are 16 × 15 core-seconds, less 4 × 3 and 4 × 1.
    """
    at = ran(WAITING, outages=down((3, 6, 9), (3, 14, 20)))
    assert lost_amounts(at, rejected_wait=False).tolist() == [4 * 3, 2 * 6, 0]
    found = Figures(at).loss_of_capacity(rejected_wait=False)
    assert found["core"] == pytest.approx(12 / (240 - 16))


@pytest.mark.parametrize(("rejected_wait", "more"), [(False, 0), (True, 3 * (15 - 12))])
def test_loss_with_rejected_jobs(rejected_wait: bool, more: int) -> None:
    """What the dispatcher rejected may have waited until the end, for 3 cores; the rest did not."""
    rejected = [
        row(job(4, 12, 1, (3, 0, 0), 10), None),
        row(job(5, 1, 1, (1, 0, 0), 10), None, rejected_by="over_shared_resource"),
    ]
    at = ran([*WAITING, *rejected])
    assert lost_amounts(at, rejected_wait=rejected_wait)[CORE] == 24 + more
    found = Figures(at).loss_of_capacity(rejected_wait=rejected_wait)
    assert found["core"] == pytest.approx((24 + more) / 240)


def test_loss_after_an_attempt_that_was_lost() -> None:
    """A job that lost its node at 5 waits again until it starts at 8, for 4 cores."""
    wanted = job(1, 0, 1, (4, 1, 0), 4)
    lost = Interruption(wanted.job, 0, 5, NodeAllocation((0,), (1,)), requeued=True)
    at = ran([row(wanted, 8, {1: 1})], lost)
    assert lost_amounts(at, rejected_wait=True)[CORE] == 4 * 3
    # The makespan is 12.
    found = Figures(at).loss_of_capacity(rejected_wait=False)
    assert found["core"] == pytest.approx(12 / (16 * 12))


def test_loss_is_exact_where_there_is_much() -> None:
    """Of 2^53 + 1 bytes all but one are held: that one is free, and waited for."""
    much = System((NodeGroup("large", 1, {"core": 0, "mem": 2**53 + 1, "gpu": 0}),))
    records = [
        row(job(1, 0, 1, (0, 2**53, 0), 10), 0, {0: 1}),
        row(job(2, 0, 1, (0, 1, 0), 5), 10, {0: 1}),
    ]
    assert lost_amounts(ran(records, system=much), rejected_wait=False).tolist() == [0, 10, 0]


def test_what_jobs_hold() -> None:
    """An exclusive job holds its nodes, as far as they exist; another what it asks for."""
    exclusive = row(job(1, 0, 2, (1, 1, 0), 5, exclusive=True), 0, {-1: 1, 0: 1, 3: 1, 4: 1, 44: 1})
    at = ran([exclusive, row(job(2, 0, 3, (1, 2, 0), 5), 0, {1: 3})])
    assert at.allocated.tolist() == [[8, 16 + 64, 2], [3, 6, 0]]


class Made(NamedTuple):
    """The summary of a run, and its columns."""

    summary: dict[str, Any]
    columns: RunColumns


def made(tmp_path_factory: pytest.TempPathFactory, jobs: Any) -> Made:
    """Return a run of jobs."""
    run = write_run(tmp_path_factory.mktemp("figures") / "run", jobs)
    return Made(run.summary, run_columns(run.all_jobs.whole(), SYSTEM))


@pytest.fixture(scope="module", name="seven")
def _seven(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return the run of seven jobs."""
    return made(tmp_path_factory, JOBS)


@pytest.fixture(scope="module", name="rejecting")
def _rejecting(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return one in which an eighth job was rejected."""
    return made(tmp_path_factory, [*JOBS, REJECTED])


def checked(
    run: Made,
    *,
    partial: bool = False,
    declared: Declared = DECLARED,
    attempts: RunColumns | None = None,
    outages: Outages = NO_OUTAGES,
    **changes: Any,
) -> Check:
    """Check a summary in which keys are others, or are taken out for which there is None."""
    summary = {**copy.deepcopy(run.summary), **changes}
    kept = {key: value for key, value in summary.items() if value is not None}
    at = ran([], outages=outages, partial=partial)
    at.jobs = run.columns
    seen = audited(at, run=SimpleNamespace(summary=kept), declared=declared)
    if attempts is not None:
        seen.attempts = attempts
    check = summary_figures(seen)
    assert check is not None
    return check


def test_right_figures(seven: Made, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing is found, also where no job ran."""
    for run in (seven, made(tmp_path_factory, [])):
        check = checked(run)
        assert (check.violations, check.notes) == ([], [])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("definitions", "definitions.mean_slowdown: expected {'unit'"),
        ("objective", "objective.name: expected mean_bounded_slowdown, found None"),
        ("utilization_by_resource", "utilization_by_resource: expected ['core', 'gpu', 'mem']"),
        ("loss_of_capacity_by_resource", "loss_of_capacity_by_resource.core: expected "),
        ("percentiles", "percentiles: expected ['bounded_slowdown', 'response_time', 'wait_time']"),
        ("classes", "classes: expected ['short', 'medium', 'long'], found []"),
    ],
)
def test_what_is_missing(seven: Made, rejecting: Made, key: str, message: str) -> None:
    """It is told, whatever else is there."""
    for run in (seven, rejecting):
        violations = checked(run, **{key: None}).violations
        assert any(line.startswith(message) for line in violations)


ENERGY: dict[str, Any] = {"unit": "J", "population": "all", "parameters": {}}


def test_figures_of_plugins(seven: Made) -> None:
    """They are noted, and theirs alone."""
    declared = DECLARED._replace(
        definitions={**DECLARED.definitions, "energy": ENERGY},
    )
    check = checked(
        seven,
        declared=declared,
        metrics={**seven.summary["metrics"], "energy": 1},
        definitions={
            **seven.summary["definitions"],
            "energy": ENERGY,
        },
    )
    assert check.violations == []
    assert check.notes == ["metrics.energy is a plugin's and was not worked out again"]


def test_another_bound_of_slowdowns(seven: Made) -> None:
    """Bounded by 1,000 s, the slowdowns of the five short jobs are all 1."""
    name = "mean_bounded_slowdown"
    own = {**DECLARED.definitions[name], "parameters": {"tau": 1000}}
    declared = DECLARED._replace(definitions={**DECLARED.definitions, name: own})
    found = checked(seven, declared=declared).violations
    assert "percentiles.bounded_slowdown.p99: expected 1.0243243243243243, found 3.0" in found
    # (1.5 + 1 + 1 + 3 + 2) / 5 for the five of the first class
    assert "classes[0].mean_bounded_slowdown: expected 1.0, found 1.7" in found


def test_partial_runs(seven: Made) -> None:
    """What jobs left waiting would have lost is not known."""
    wrong = {**seven.summary["metrics"], "loss_of_capacity": 9.0}
    check = checked(seven, metrics=wrong, partial=True)
    assert check.violations == []
    assert check.notes == ["loss_of_capacity was not worked out again: jobs were left waiting"]


def test_what_is_out_of_service(seven: Made) -> None:
    """It is not offered: 4 cores are gone for 100 s of 20,100.

    51,060 core seconds are used: 3 · 4 · 100 + 2 · 50 + 4 · 2 · 3,700 + 20,000 + 40 + 2 · 2 · 30.
    """
    outages = Outages((Outage(500, 600, (0,), "maintenance"),))
    check = checked(seven, outages=outages)
    expected = 51_060 / (16 * 20_100 - 4 * 100)
    found = 51_060 / (16 * 20_100)
    assert f"utilization_by_resource.core: expected {expected!r}, found {found!r}" in (
        check.violations
    )


def test_attempts_that_were_lost(seven: Made) -> None:
    """Attempts are what loss is worked out from: without any, nothing waits and nothing is lost."""
    none = replace(seven.columns, has_start_time=seven.columns.has_start_time & False)
    check = checked(seven, attempts=none)
    assert any("loss_of_capacity_by_resource.core" in line for line in check.violations)


def test_bounds_of_loss(rejecting: Made) -> None:
    """Where a job was rejected, the loss lies between two bounds, and is a number."""

    def said(value: Any) -> Check:
        losses = {**rejecting.summary["loss_of_capacity_by_resource"], "core": value}
        return checked(rejecting, loss_of_capacity_by_resource=losses)

    (message,) = said(None).violations
    where, _, bounds = message.removesuffix(", found None").partition(": expected ")
    assert where == "loss_of_capacity_by_resource.core"
    lower, upper = map(float, bounds.split(" to "))
    assert 0 < lower < upper
    for value in (lower, upper, lower - TOLERANCE * upper, upper + TOLERANCE * upper):
        assert said(value).violations == []
    assert said(lower).notes == [
        "when jobs were rejected is not recorded: loss_of_capacity was checked against bounds"
    ]
    for value in (lower - 2 * TOLERANCE * upper, upper + 2 * TOLERANCE * upper, "0"):
        assert said(value).violations == [f"{message.removesuffix('None')}{value!r}"]


def test_percentiles(seven: Made) -> None:
    """Of seven values the 43rd percentile is the fourth, as 3.01 are not above it; 0 is the first.

    Jobs waited 0, 0, 20, 30, 30, 80 and 90 s, and were there for 30, 50, 60, 60, 100, 3,790 and
    20,080 s. Their slowdown, bounded by 10 s, is 1, 1, 1.004, 3,790 / 3,700, 1.5, 2 and 3.
    """
    percentiles = {
        "wait_time": {"p0": 0, "p1": 0, "p43": 30, "p100": 90},
        "response_time": {"p0": 30, "p1": 30, "p43": 60, "p100": 20_080},
        "bounded_slowdown": {"p0": 1.0, "p1": 1.0, "p43": 3790 / 3700, "p100": 3.0},
    }
    declared = DECLARED._replace(percentiles=(0, 1, 43, 100))
    assert checked(seven, declared=declared, percentiles=percentiles).violations == []
    fewer = {**percentiles, "wait_time": {"p0": 0, "p43": 30, "p100": 90}}
    assert checked(seven, declared=declared, percentiles=fewer).violations == [
        "percentiles.wait_time: expected ['p0', 'p1', 'p100', 'p43'], found ['p0', 'p100', 'p43']",
        "percentiles.wait_time.p1: expected 0, found None",
    ]


def of_class(name: str, bounds: tuple[int, int | None], jobs: int, *means: float) -> dict[str, Any]:
    """Return the figures of a class: its jobs, and means of wait, response and slowdowns."""
    least, most = bounds
    wait, response, slowdown, bounded = means
    return {
        "class": name,
        "run_time_from": least,
        "run_time_to": most,
        "jobs": jobs,
        "mean_wait_time": wait,
        "mean_response_time": response,
        "mean_slowdown": slowdown,
        "mean_bounded_slowdown": bounded,
    }


# Jobs 5, 6 and 7 ran for 40, 0 and 30 s, jobs 2 and 1 for 50 and 100, job 3 for 3,700, job 4 for
# 20,000. Job 6 has no slowdown.
BELOW_50 = (3, 80 / 3, 150 / 3, (60 / 40 + 60 / 30) / 2, (60 / 40 + 30 / 10 + 60 / 30) / 3)
TO_100 = (2, 0.0, 150 / 2, 1.0, 1.0)
TO_3700 = (3, 90 / 3, 3940 / 3, *((2 + 3790 / 3700) / 3,) * 2)
FROM_101 = (2, 170 / 2, 23_870 / 2, *((3790 / 3700 + 1.004) / 2,) * 2)
BEYOND = (1, 80.0, 20_080.0, 1.004, 1.004)
FROM_50 = (4, 170 / 4, 24_020 / 4, *((2 + 3790 / 3700 + 1.004) / 4,) * 2)
ALL = (7, 250 / 7, 24_170 / 7, (5.5 + 3790 / 3700 + 1.004) / 6, (8.5 + 3790 / 3700 + 1.004) / 7)


@pytest.mark.parametrize(
    ("bounds", "classes"),
    [
        ((), [of_class("all", (0, None), *ALL)]),
        ((50,), [of_class("short", (0, 49), *BELOW_50), of_class("long", (50, None), *FROM_50)]),
        (
            (50, 3700, 19_999),
            [
                of_class("class 1", (0, 49), *BELOW_50),
                of_class("class 2", (50, 3700), *TO_3700),
                of_class("class 3", (3701, 19_999), 0, *(None,) * 4),
                of_class("class 4", (20_000, None), *BEYOND),
            ],
        ),
        (
            (50, 100),
            [
                of_class("short", (0, 49), *BELOW_50),
                of_class("medium", (50, 100), *TO_100),
                of_class("long", (101, None), *FROM_101),
            ],
        ),
    ],
)
def test_classes(seven: Made, bounds: tuple[int, ...], classes: list[dict[str, Any]]) -> None:
    """The first ends below its bound, the others with theirs; each figure of each is looked at."""
    declared = DECLARED._replace(class_bounds=bounds)
    assert checked(seven, declared=declared, classes=classes).violations == []
    for k, one in enumerate(classes):
        for name, value in one.items():
            other = [*classes[:k], {**one, name: "other"}, *classes[k + 1 :]]
            (found,) = checked(seven, declared=declared, classes=other).violations
            if name == "class":
                names = [each["class"] for each in classes]
                wrong = [each["class"] for each in other]
                assert found == f"classes: expected {names}, found {wrong}"
            elif value is None or isinstance(value, int):
                shown = "'other'" if name == "jobs" or name.startswith("mean") else "other"
                assert found == f"classes[{k}].{name}: expected {value}, found {shown}"
            else:
                assert found.startswith(f"classes[{k}].{name}: expected ")


@pytest.mark.parametrize(
    ("expected", "found", "right"),
    [
        (None, None, True),
        (None, 1.0, False),
        (1.0, None, False),
        (0, 0.0, True),
        (0, 1e-12, False),
        (2, 2.0, True),
        (2.0, 2 + 1e-9, True),
        (2.0, 2 + 4e-9, False),
        (2.0, "2.0", False),
    ],
)
def test_comparing_figures(expected: float | None, found: Any, right: bool) -> None:
    """Numbers may differ by a billionth; each comparison is counted."""
    check = Check("all is well")
    check.compare("mean", expected, found)
    check.compare("mean", expected, found)
    message = f"mean: expected {expected!r}, found {found!r}"
    assert check.violations == ([] if right else [message] * 2)
    assert check.looked_at == 2


Jobs = dict[str, Any]
LEFT = [record_of(placed) for placed in (*JOBS, REJECTED)]
"""Seven jobs that were completed, and one that the dispatcher rejected."""


def of_trace() -> TraceAccount:
    """Return the account of a trace: eight jobs, and three records that were skipped."""
    made = TraceAccount(read=11, submitted=8)
    made.skipped.update(zero_run_time=2, no_request=1)
    made.clipped.update(run_time=4)
    return made


def accounted(jobs: Jobs, trace: TraceAccount, *, partial: bool = False) -> Check:
    """Return the check of what a summary says of these jobs."""
    parts = {
        "run": SimpleNamespace(summary={"jobs": jobs}),
        "source": SimpleNamespace(account=trace),
    }
    check = account(audited(ran(LEFT, partial=partial), **parts))
    assert check is not None
    return check


def stated() -> Jobs:
    """Return what a summary says of these jobs."""
    return {
        "read": 11,
        "skipped": {"zero_run_time": 2, "no_request": 1},
        "clipped": {"run_time": 4},
        "changed": {},
        "submitted": 8,
        "completed": 7,
        "killed": 0,
        "rejected": 1,
        "failed": 0,
        "preempted": 0,
        "withdrawn": 0,
        "rejected_by": {"dispatcher": 1},
    }


def test_an_account_that_balances() -> None:
    """Six states, what rejected, three sums and what the trace says: all is looked at."""
    check = accounted(stated(), of_trace())
    assert check.violations == [] and check.notes == []
    # States 6, rejected_by 1, submitted and read 2, both by the trace 2; skipped, clipped and
    # changed are there 3, with reasons 2 + 1 + 0.
    assert check.looked_at == 6 + 1 + 2 + 2 + 3 + 3


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            lambda jobs: jobs.update(waiting=1),
            ["jobs submitted: expected 9, found 8"],
        ),
        (
            lambda jobs: jobs.update(running=2),
            ["jobs submitted: expected 10, found 8"],
        ),
        (
            lambda jobs: jobs.update(not_yet_submitted=3),
            ["records read: expected 14, found 11"],
        ),
        (
            lambda jobs: jobs.pop("submitted"),
            [
                "jobs submitted: expected 8, found None",
                "records read: expected 3, found 11",
                "jobs submitted in the trace: expected 8, found None",
            ],
        ),
        (
            lambda jobs: jobs["skipped"].pop("no_request"),
            [
                "records read: expected 10, found 11",
                "skipped for no_request: expected 1, found 0",
            ],
        ),
        (
            lambda jobs: jobs.pop("skipped"),
            [
                "records read: expected 8, found 11",
                "jobs.skipped: it is there: expected True, found False",
                "skipped for no_request: expected 1, found 0",
                "skipped for zero_run_time: expected 2, found 0",
            ],
        ),
        (
            lambda jobs: jobs["clipped"].update(memory=1),
            ["clipped for memory: expected 0, found 1"],
        ),
        (
            lambda jobs: jobs.update(rejected_by={"over_shared_resource": 1}),
            ["jobs rejected_by: expected {'dispatcher': 1}, found {'over_shared_resource': 1}"],
        ),
    ],
)  # fmt: skip
def test_an_account_that_does_not(change: Callable[[Jobs], Any], found: list[str]) -> None:
    """Each sum that is off is told, and no other."""
    jobs = stated()
    change(jobs)
    assert accounted(jobs, of_trace()).violations == found


def test_an_account_of_a_run_broken_off() -> None:
    """Two of eleven jobs wait and one runs; two were read ahead. The trace may go on."""
    jobs = stated() | {"read": 16, "submitted": 11, "waiting": 2, "running": 1}
    jobs["not_yet_submitted"] = 2
    check = accounted(jobs, TraceAccount(), partial=True)
    assert check.violations == []
    assert check.notes == ["the run is partial: its account of the trace covers what it had read"]
    for key, message in (
        ("waiting", "jobs submitted: expected 12, found 11"),
        ("running", "jobs submitted: expected 12, found 11"),
        ("not_yet_submitted", "records read: expected 17, found 16"),
    ):
        wrong = jobs | {key: jobs[key] + 1}
        assert accounted(wrong, TraceAccount(), partial=True).violations == [message]


@pytest.fixture(scope="module", name="honest")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run whose rounds are to be replaced."""
    return write_run(tmp_path_factory.mktemp("hand") / "run").path


@pytest.fixture(name="checked")
def _checked(honest: Path, tmp_path: Path) -> Callable[..., Check]:
    """Return what checks rounds that are given by some of their columns.

    Figures are those of rounds that no solver was asked in, unless others are given.
    """

    def checked(
        rounds: list[dict[str, Any]], timing: tuple[float | None, float | None], **figures: Any
    ) -> Check:
        shutil.copytree(honest, tmp_path / "run")
        none = dict.fromkeys(SYSTEM.resource_types, 0)
        base = {
            "now": 0, "queued": 0, "running": 0, "started": 0, "rejected": 0, "waiting": 0,
            "waiting_amounts": none, "free_amounts": none, "latency": 0, "lost_amounts": none,
            "decision_time": 0.0, "fallback": False, "solver": None,
        }  # fmt: skip
        rows = [{"round": k, **base, **row} for k, row in enumerate(rounds, start=1)]
        table = pa.Table.from_pylist(rows, schema=rounds_schema(SYSTEM))
        pq.write_table(table, tmp_path / "run" / ROUNDS)
        said = {"count": len(rows), "fallbacks": 0, "asked_solver": 0, "without_plan": 0}
        tamper_json(
            tmp_path / "run" / SUMMARY,
            lambda summary: summary.update(rounds=said | {"solver": {}} | figures),
        )
        mean, p99 = timing
        tamper_json(
            tmp_path / "run" / TIMING,
            lambda content: content.update(
                rounds={"decision_time_mean": mean, "decision_time_p99": p99}
            ),
        )
        run = RunDirectory.open(tmp_path / "run")
        at = audited(ran(STARTED), run=run)
        at.rounds = read_rounds(run)
        check = round_figures(at)
        assert check is not None
        return check

    return checked


STARTED = [record_of(placed) for placed in JOBS[:3]]
"""Three jobs: two start at 0 and one at 100."""
IN_TWO = [{"now": 0, "started": 2}, {"now": 90, "latency": 10, "started": 1}]
"""Rounds that start them; the second is carried out at 100."""


def test_rounds_that_add_up(checked: Callable[..., Check]) -> None:
    """Two rounds of 1 and 4 s, the second with a fallback, start three jobs."""
    rounds = [IN_TWO[0] | {"decision_time": 1.0}]
    rounds += [IN_TWO[1] | {"decision_time": 4.0, "fallback": True}]
    check = checked(rounds, (2.5, 4.0), fallbacks=1)
    assert check.violations == [] and check.notes == []
    # Rounds, fallbacks, statuses, asked, without plan, order, two times, rejected and started: 10;
    # and the instants 0 and 100.
    assert check.looked_at == 10 + 2


def call(status: str) -> dict[str, Any]:
    """Return a round in which a solver was asked, at the instant of others."""
    said = {"status": status, "jobs": 1, "variables": 1, "why": ""}
    times = dict.fromkeys(("build_time", "transform_time", "solve_time"), 0.0)
    return {"now": 0, "solver": said | times}


def test_what_the_solver_answered(checked: Callable[..., Check]) -> None:
    """Of six rounds that asked, two optimal and two feasible ones had a plan; two of six had none.

    That is more than one in ten, and the note says what to do.
    """
    statuses = ("optimal", "feasible", "unknown", "optimal", "overrun", "feasible")
    counts = {"optimal": 2, "feasible": 2, "unknown": 1, "overrun": 1}
    check = checked(
        [*(call(status) for status in statuses), *IN_TWO],
        (0.0, 0.0),
        solver=counts,
        asked_solver=6,
        without_plan=2,
    )
    assert check.violations == []
    (note,) = check.notes
    assert note.startswith("2 of 6 rounds with a solver had no plan: overrun 1, unknown 1; above")
    assert "give it a larger `budget`" in note


def test_few_rounds_without_a_plan(checked: Callable[..., Check]) -> None:
    """One of eleven is less than a tenth: it is noted, and no advice is given."""
    rounds = [*(call("optimal") for _ in range(10)), call("failed"), *IN_TWO]
    figures = {"solver": {"optimal": 10, "failed": 1}, "asked_solver": 11, "without_plan": 1}
    check = checked(rounds, (0.0, 0.0), **figures)
    assert check.violations == []
    assert check.notes == ["1 of 11 rounds with a solver had no plan: failed 1"]


def test_every_round_had_a_plan(checked: Callable[..., Check]) -> None:
    """Nothing is noted."""
    figures = {"solver": {"feasible": 1, "optimal": 1}, "asked_solver": 2}
    check = checked([call("feasible"), call("optimal"), *IN_TWO], (0.0, 0.0), **figures)
    assert check.violations == [] and check.notes == []


@pytest.mark.parametrize(
    ("third", "in_order"),
    [
        ({"now": 100}, True),  # as the second is carried out
        ({"now": 99}, False),  # after the first, before the second is carried out
        ({"now": 101, "latency": -1}, False),
    ],
)
def test_one_round_at_a_time(
    checked: Callable[..., Check], third: dict[str, int], in_order: bool
) -> None:
    """A round is held once the one before was carried out."""
    found = checked([*IN_TWO, third], (0.0, 0.0)).violations
    assert ("rounds in order of time, one at a time: expected True, found False" in found) != (
        in_order
    )


def test_times_of_no_rounds(checked: Callable[..., Check]) -> None:
    """There is no mean of none, and no percentile."""
    found = checked([], (None, None)).violations
    assert found == [
        "jobs started by all rounds: expected 3, found 0",
        "second 0: jobs started by rounds: expected 2, found 0",
        "second 100: jobs started by rounds: expected 1, found 0",
    ]


@pytest.mark.parametrize(("count", "mean", "p99"), [(100, 50.5, 99), (101, 51, 100), (99, 50, 99)])
def test_times_of_a_hundred_rounds(
    checked: Callable[..., Check], count: int, mean: float, p99: float
) -> None:
    """The 99th percentile of 100 times is the 99th of them, of 101 the 100th, of 99 the last.

    Times are 1 s, 2 s and so on, the longest first.
    """
    rounds = [{"decision_time": float(count - k)} for k in range(count - 1)]
    rounds += [{"now": 100, "decision_time": 1.0, "started": 1}]
    rounds[0] |= {"started": 2}
    assert checked(rounds, (mean, p99)).violations == []


def test_jobs_that_rounds_start(checked: Callable[..., Check]) -> None:
    """As many as the jobs say, at each instant: the first round is one short, the last one over."""
    rounds = [{"now": 0, "started": 1}, {"now": 50}, IN_TWO[1] | {"started": 2}]
    check = checked(rounds, (0.0, 0.0))
    assert check.violations == [
        "second 0: jobs started by rounds: expected 2, found 1",
        "second 100: jobs started by rounds: expected 1, found 2",
    ]
    assert check.looked_at == 10 + 3


def found(
    value: float | None, stated: dict[str, Any] | None, *, expected: bool = True
) -> tuple[list[str], int, list[str]] | None:
    """Return violations, how much was looked at, and notes, if there is a check.

    The objective has a value, and the summary states some figures of the plan.
    """
    summary: dict[str, Any] = {} if value is None else {"objective": {"value": value}}
    if stated is not None:
        summary["offline"] = stated
    declared = DECLARED._replace(offline=expected)
    at = audited(ran([]), run=SimpleNamespace(summary=summary), declared=declared)
    check = offline_plan(at)
    return None if check is None else (check.violations, check.looked_at, check.notes)


def plan(value: float | None, bound: float | None, gap: float | None, proved: Any) -> Any:
    """Return what a summary states of a plan."""
    return {"value": value, "lower_bound": bound, "gap": gap, "proved": proved}


@pytest.mark.parametrize(
    ("value", "bound", "gap", "proved", "messages"),
    [
        (8.0, 6.0, 0.25, False, []),
        (8.0, 8.0, 0.0, True, []),
        (0.0, 0.0, 0.0, True, []),  # nobody waits: there is no share of nothing
        (-8.0, -10.0, 0.25, False, []),
        (1e6, 999_999.0, 1e-6, True, []),  # up to a millionth counts as proved
        (1e6, 999_998.0, 2e-6, False, []),
        (8.0, 6.0, 0.5, False, ["offline.gap: expected 0.25, found 0.5"]),
        (8.0, 6.0, 0.25, True, ["offline.proved: expected False, found True"]),
        (8.0, 8.0, 0.0, False, ["offline.proved: expected True, found False"]),
        (8.0, 10.0, -0.25, True, ["offline.lower_bound: expected at most 8.0, found 10.0"]),
    ],
)
def test_bound_gap_and_proof(
    value: float, bound: float, gap: float, proved: bool, messages: list[str]
) -> None:
    """The gap is what the value is above its bound, as a share of the value."""
    assert found(value, plan(value, bound, gap, proved)) == (messages, 5, [])


def test_the_value_is_that_of_the_objective() -> None:
    """The plan's is the same one."""
    assert found(8.0, plan(6.0, 6.0, 0.25, False)) == (
        ["offline.value: expected 8.0, found 6.0"],
        5,
        [],
    )


def test_without_a_bound_or_a_value() -> None:
    """Then there is no gap, and nothing is proved."""
    note = ["there is no lower bound"]
    assert found(8.0, plan(8.0, None, None, None)) == ([], 4, note)
    assert found(None, plan(None, 6.0, None, None)) == ([], 4, note)
    assert found(8.0, plan(8.0, None, 0.0, True)) == (
        ["offline.gap: expected None, found 0.0", "offline.proved: expected None, found True"],
        4,
        note,
    )


def test_figures_are_there_where_they_are_expected() -> None:
    """A plan that was made step by step has none."""
    assert found(8.0, None, expected=False) is None
    there = "offline: figures are there"
    assert found(8.0, None) == ([f"{there}: expected True, found False"], 1, [])
    assert found(8.0, plan(8.0, 8.0, 0.0, True), expected=False) == (
        [f"{there}: expected False, found True"],
        5,
        [],
    )
