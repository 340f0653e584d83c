"""Tables of the figures of predictors, from figures by hand."""

import csv
import io
import json
from collections import Counter

from hpcsched.studies.predictor_evaluation.figures import PredictorFigures, RuleFigures
from hpcsched.studies.predictor_evaluation.rendering import (
    evaluation_content,
    evaluation_table,
    values_table,
)
from hpcsched.workload.trace_source import TraceAccount

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


def test_no_jobs() -> None:
    """Figures that there are none of show a dash."""
    rows = evaluation_table([NOTHING]).content()["rows"]
    assert [row["none"] for row in rows] == ["0", *["–"] * 11]


def test_exact_values() -> None:
    """Each figure has a row; those of a rule name it; a missing value is an empty cell."""
    header, *rows = csv.reader(io.StringIO(values_table([ASKED, LEARNT]).as_csv()))
    assert header == ["predictor", "rule", "figure", "value"]
    values = {(predictor, rule, figure): value for predictor, rule, figure, value in rows}
    # Seven figures and five percentiles of each, and three figures of each of two rules.
    assert len(values) == len(rows) == 2 * 12 + 2 * 3
    assert values["requested-time", "", "near_share"] == "0.625"
    assert values["requested-time", "", "accuracy_p95"] == "1234.5"
    assert values["last-two", "", "median_absolute_error_seconds"] == "0"
    assert values["last-two", "two", "jobs_share"] == "0.75"
    assert values["last-two", "request", "mean_absolute_error_seconds"] == ""


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
