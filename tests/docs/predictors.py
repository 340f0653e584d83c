"""The tables of the page on predictors, and what they should hold."""

import re
from collections.abc import Sequence

from hpcsched.studies.predictor_evaluation import PredictorFigures
from tests.docs.pages import DOCS, tables

PAGE = DOCS / "predictors.md"
LOGS = {"kth-sp2": "kth-easy", "cerit-sc": "cerit-easy"}
"""The regions of the page with figures of a log, and the scenarios that they are of."""

PREDICTORS = (
    "requested-time",
    "last-two",
    "profile",
    "profile-confidence",
    "{name: inflated, of: last-two, quantile: 0.9, cap: true}",
    "{name: inflated, of: profile, quantile: 0.9, cap: true}",
)
"""The rows of those tables; the first is the scenario's own."""


def region(name: str) -> list[list[str]]:
    """Return the rows of the table between the comments of that name, the header first."""
    pattern = rf"<!-- begin {name} -->\n(.*?)<!-- end {name} -->"
    match = re.search(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    (table,) = tables(match[1])
    return table


def figure_rows(figures: Sequence[PredictorFigures]) -> list[list[str]]:
    """Return a row for each predictor as the page shows it: errors in minutes, shares."""
    rows = []
    for shown, one in zip(PREDICTORS, figures, strict=True):
        errors = (one.mean_absolute_error_seconds, one.median_absolute_error_seconds)
        shares = (one.under_share, one.exact_share, one.over_share, one.near_share)
        rows.append(
            [
                f"`{shown}`",
                *(f"{seconds / 60:,.1f}" for seconds in errors if seconds is not None),
                *(f"{100 * share:.1f} %" for share in shares if share is not None),
            ]
        )
    return rows


def rule_rows(figures: Sequence[Sequence[PredictorFigures]]) -> list[list[str]]:
    """Return a row for each rule of `profile`: for each log its share of jobs, and mean error."""
    of_profile = [next(one for one in log if one.predictor == "profile") for log in figures]
    rows = []
    for rules in zip(*(one.rules for one in of_profile), strict=True):
        row = [f"`{rules[0].rule}`"]
        for rule in rules:
            error = rule.mean_absolute_error_seconds
            row += [f"{100 * (rule.jobs_share or 0):.1f} %"]
            row += ["–" if error is None else f"{error / 60:,.1f}"]
        rows.append(row)
    return rows
