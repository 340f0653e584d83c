"""The tables of the page on KTH-SP2."""

import re

from tests.docs.pages import DOCS, tables

PAGE = DOCS / "reproduction.md"
METRICS = {
    "BSLD": "mean_bounded_slowdown",
    "AF": "mean_response_time",
    "AWF": "area_weighted_response_time",
    "P²SF": "p2sf",
}
"""The columns of the tables, and the metrics that they are."""


def region(name: str) -> list[list[str]]:
    """Return the rows of the table between the comments of that name, the header first."""
    pattern = rf"<!-- begin {name} -->\n(.*?)<!-- end {name} -->"
    match = re.search(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    (table,) = tables(match[1])
    return table


def figures(predictor: str) -> dict[str, dict[str, str]]:
    """Return the figures as shown, by scenario and column, with that predictor."""
    header, *rows = region(predictor)
    return {row[0].strip("`"): dict(zip(header[2:], row[2:], strict=True)) for row in rows}
