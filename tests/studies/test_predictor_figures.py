"""Figures of predictors, and their tables."""

import json
from collections import Counter

import numpy as np
import pytest

from hpcsched.studies.predictor_evaluation import (
    Predicted,
    PredictorFigures,
    RuleFigures,
    TracePredictions,
    evaluation_content,
    evaluation_table,
    predictor_figures,
)
from hpcsched.workload.trace_source import TraceAccount

EMPTY = np.array([], dtype=np.int64)


def predictions(
    run_times: list[int],
    seconds: list[int],
    rules: tuple[str, ...] = (),
    rule: tuple[str, ...] = (),
) -> TracePredictions:
    """Return what one predictor said."""
    said = Predicted(np.array(seconds, dtype=np.int64), rules, rule)
    return TracePredictions(np.array(run_times, dtype=np.int64), {"it": said})


def test_by_hand() -> None:
    """Errors 0, 30, 25, 100, 0 s; accuracies 1, 1.3, 0.75, 0, 1."""
    (one,) = predictor_figures(
        predictions(
            [100, 130, 75, 0, 7], [100, 100, 100, 100, 7], ("a", "b"), ("a", "b", "a", "b", "b")
        )
    )
    assert one.predictor == "it"
    assert one.jobs == 5
    assert one.mean_absolute_error_seconds == 31
    assert one.median_absolute_error_seconds == 25
    assert (one.under_share, one.exact_share, one.over_share) == (0.2, 0.4, 0.4)
    assert one.near_share == 0.6
    assert one.accuracy == {"p5": 0, "p25": 0.75, "p50": 1, "p75": 1, "p95": 1.3}
    first, second = one.rules
    assert (first.rule, first.jobs, first.jobs_share) == ("a", 2, 0.4)
    assert first.mean_absolute_error_seconds == 12.5
    assert (second.rule, second.jobs, second.jobs_share) == ("b", 3, 0.6)
    assert second.mean_absolute_error_seconds == pytest.approx(130 / 3)


def test_a_rule_that_never_answered() -> None:
    """It is listed, without an error."""
    (one,) = predictor_figures(predictions([5], [6], ("a", "b"), ("b",)))
    assert [(rule.jobs, rule.mean_absolute_error_seconds) for rule in one.rules] == [
        (0, None), (1, 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("ratio", [(3, 4), (5, 4)])
def test_near_includes_its_ends(ratio: tuple[int, int]) -> None:
    """0.75 and 1.25 are near; a second beyond is not."""
    run_time, predicted = (1000 * part for part in ratio)
    beyond = run_time + (1 if run_time > predicted else -1)
    (one,) = predictor_figures(predictions([run_time, beyond], [predicted] * 2))
    assert one.near_share == 0.5


def test_no_jobs() -> None:
    """There is nothing to tell, and no fault."""
    nothing = TracePredictions(EMPTY, {"it": Predicted(EMPTY, ("a",), ())})
    (one,) = predictor_figures(nothing)
    assert one.jobs == 0
    assert one.mean_absolute_error_seconds is None
    assert one.median_absolute_error_seconds is None
    assert one.near_share is None
    assert set(one.accuracy.values()) == {None}
    assert one.rules[0].jobs_share is None


def test_sums_beyond_what_floats_hold() -> None:
    """Errors of the largest numbers that there are add up exactly."""
    (one,) = predictor_figures(predictions([2**53] * 2048, [1] * 2048))
    assert one.mean_absolute_error_seconds == 2**53 - 1


ACCURACY = {"p5": 0.125, "p25": 0.5, "p50": 1.0, "p75": 1.5, "p95": 1234.5}
ASKED = PredictorFigures("requested-time", 2000, 90.0, 60, 0.25, 0.5, 0.25, 0.625, ACCURACY, ())
RULES = (RuleFigures("two", 1500, 0.75, 30.0), RuleFigures("request", 500, 0.25, None))
LEARNT = PredictorFigures("last-two", 2000, 45.0, 0, 0.5, 0.0, 0.5, 1.0, ACCURACY, RULES)
NOTHING = PredictorFigures(
    "none", 0, None, None, None, None, None, None, dict.fromkeys(ACCURACY), ()
)


def test_predictors_side_by_side() -> None:
    """Errors are in minutes and shares in percent; rules of a predictor have a section."""
    rows = evaluation_table([ASKED, LEARNT]).content()["rows"]
    cells = {(row["section"], row[""]): (row["requested-time"], row["last-two"]) for row in rows}
    assert cells == {
        ("all jobs", "jobs"): ("2,000", "2,000"),
        # 90 s and 45 s; 60 s and 0 s
        ("all jobs", "mean absolute error"): ("1.5 min", "0.8 min"),
        ("all jobs", "median absolute error"): ("1.0 min", "0.0 min"),
        ("all jobs", "under: ran longer than predicted"): ("25.0 %", "50.0 %"),
        ("all jobs", "exact"): ("50.0 %", "0.0 %"),
        ("all jobs", "over: predicted more"): ("25.0 %", "50.0 %"),
        ("all jobs", "accuracy 0.75 to 1.25"): ("62.5 %", "100.0 %"),
        ("all jobs", "accuracy, p5"): ("0.125", "0.125"),
        ("all jobs", "accuracy, p25"): ("0.500", "0.500"),
        ("all jobs", "accuracy, p50"): ("1.000", "1.000"),
        ("all jobs", "accuracy, p75"): ("1.500", "1.500"),
        ("all jobs", "accuracy, p95"): ("1,234.500", "1,234.500"),
        ("jobs by rule: last-two", "two"): ("", "75.0 % (0.5 min)"),
        ("jobs by rule: last-two", "request"): ("", "25.0 % (–)"),
    }


def test_tables_without_jobs() -> None:
    """Figures that there are none of show a dash."""
    rows = evaluation_table([NOTHING]).content()["rows"]
    assert [row["none"] for row in rows] == ["0", *["–"] * 11]


def test_content() -> None:
    """JSON has the account of the trace and all figures as numbers."""
    account = TraceAccount(2003, 2000, Counter(zero_run_time=3))
    content = json.loads(json.dumps(evaluation_content("kth", account, [ASKED, LEARNT])))
    assert content["scenario"] == "kth"
    assert content["records"] == {
        "read": 2003,
        "skipped": {"zero_run_time": 3},
        "clipped": {},
        "changed": {},
        "submitted": 2000,
    }
    first, second = content["predictors"]
    assert (first["predictor"], first["accuracy"], first["rules"]) == (
        "requested-time", ACCURACY, [],
    )  # fmt: skip
    assert second["rules"][1] == {
        "rule": "request",
        "jobs": 500,
        "jobs_share": 0.25,
        "mean_absolute_error_seconds": None,
    }
