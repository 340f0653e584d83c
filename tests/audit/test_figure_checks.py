"""The check of a summary alone: of figures that are missing, of bounds, percentiles and classes."""

import copy
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from hpcsched.audit.columns import Declared, Definition, RunColumns, read_run
from hpcsched.audit.summary import check_figures
from hpcsched.audit.violations import TOLERANCE, Check, compare
from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from tests.runs.hand_made import DECLARED, JOBS, REJECTED, SYSTEM, write_run


class Made(NamedTuple):
    """The summary of a run, and its columns."""

    summary: dict[str, Any]
    columns: RunColumns


def made(tmp_path_factory: pytest.TempPathFactory, jobs: Any) -> Made:
    """Return a run of jobs."""
    run = write_run(tmp_path_factory.mktemp("figures") / "run", jobs)
    return Made(run.summary, read_run(run, SYSTEM))


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
    return check_figures(
        {key: value for key, value in summary.items() if value is not None},
        run.columns,
        SYSTEM,
        declared,
        partial=partial,
        attempts=run.columns if attempts is None else attempts,
        outages=outages,
    )


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


def test_figures_of_plugins(seven: Made) -> None:
    """They are noted, and theirs alone."""
    declared = DECLARED._replace(
        definitions={**DECLARED.definitions, "energy": Definition("J", "all")},
        metric_parameters={**DECLARED.metric_parameters, "energy": {}},
    )
    check = checked(
        seven,
        declared=declared,
        metrics={**seven.summary["metrics"], "energy": 1},
        definitions={
            **seven.summary["definitions"],
            "energy": {"unit": "J", "population": "all", "parameters": {}},
        },
    )
    assert check.violations == []
    assert check.notes == ["metrics.energy is a plugin's and was not worked out again"]


def test_another_bound_of_slowdowns(seven: Made) -> None:
    """Bounded by 1,000 s, the slowdowns of the five short jobs are all 1."""
    own = {**DECLARED.metric_parameters, "mean_bounded_slowdown": {"tau": 1000}}
    found = checked(seven, declared=DECLARED._replace(metric_parameters=own)).violations
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
    none = replace(seven.columns, has_start=seven.columns.has_start & False)
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
    compare(check, "mean", expected, found)
    compare(check, "mean", expected, found)
    message = f"mean: expected {expected!r}, found {found!r}"
    assert check.violations == ([] if right else [message] * 2)
    assert check.looked_at == 2
