"""Figures of predictors' accuracies and errors, by hand."""

import pytest

from hpcsched.studies.predictor_evaluation import ACCURACIES, BASELINE, ERRORS, Shares
from hpcsched.studies.predictor_plots import accuracy_chart, error_chart
from tests.report.figures.described import units

HALF = tuple(0.5 if accuracy < 1 else 1.0 for accuracy in ACCURACIES)
CLASSES = (0.25, 0.75, *(0.0 for _ in ERRORS[2:]))
SHARES = Shares({BASELINE: HALF, "last-two": HALF}, {BASELINE: CLASSES, "last-two": CLASSES})


def test_accuracy() -> None:
    """Half of the jobs are below 1, all up to it; a rule stands at 1."""
    exact, curves = units(accuracy_chart(SHARES))
    assert (exact.mark, exact.column("accuracy")) == ("rule", [1])
    own = [row for row in curves.rows if row["configuration"] == "last-two"]
    assert [(row["accuracy"], row["percent"]) for row in own[98:101]] == [
        (0.98, 50), (0.99, 50), (1.0, 100),
    ]  # fmt: skip


def test_errors() -> None:
    """Classes are at equal distances, named by where they begin."""
    line, points = units(error_chart(SHARES))
    names = line.encoding["x"]["sort"]
    assert names[:4] == ["0 s", "≥ 1 s", "≥ 10 s", "≥ 1 min"]
    assert names[-1] == "≥ 1 d"
    own = [row for row in points.rows if row["configuration"] == "last-two"]
    assert [row["percent"] for row in own] == pytest.approx([100 * share for share in CLASSES])


def test_the_baseline_is_grey() -> None:
    """The other predictors have colours."""
    _, curves = units(accuracy_chart(SHARES))
    scale = curves.encoding["color"]["scale"]
    looks = dict(zip(scale["domain"], scale["range"], strict=True))
    assert looks[BASELINE] == "#777777" != looks["last-two"]
