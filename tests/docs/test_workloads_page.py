"""The tables on made-up workloads say what is published, and what a fresh generation comes to."""

import re

import pytest

from tests.docs.pages import DOCS, tables
from tests.workload.synthetic.measuring import (
    EURORA_FIGURES,
    KIT_FIGURES,
    Published,
    eurora,
    kit,
    measure_eurora,
    measure_kit,
)

PAGE = DOCS / "workloads.md"
PUBLISHED = {"eurora-like": EURORA_FIGURES, "kit-like": KIT_FIGURES}


def rows(source: str) -> dict[str, list[str]]:
    """Return the rows of a source's table by figure: published, generated, tolerance."""
    pattern = rf"<!-- begin {source} -->\n(.*?)<!-- end {source} -->"
    match = re.search(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    ((header, *found),) = tables(match[1])
    assert header == ["figure", "published", "generated", "tolerance"]
    return {figure: cells for figure, *cells in found}


def tolerance(figure: Published) -> str:
    """Return how a tolerance is shown; a bound in words says it itself."""
    if figure.words:
        return ""
    return f"± {figure.tolerance:g}" if figure.tolerance else "exact"


@pytest.mark.parametrize("source", PUBLISHED)
def test_what_is_published(source):
    """Every figure that is tested is on the page, as published and with its tolerance."""
    found, published = rows(source), PUBLISHED[source]
    assert list(found) == list(published)
    for name, (shown, _, allowed) in found.items():
        assert (shown, allowed) == (str(published[name]), tolerance(published[name])), name


def check_generated(source: str, measured: dict[str, float]) -> None:
    """What the page shows as generated is what was measured, to the digits shown."""
    for name, (_, shown, _) in rows(source).items():
        assert shown == format(measured[name], PUBLISHED[source][name].form), name


@pytest.mark.slow
def test_what_eurora_like_generates():
    """With the seed 0."""
    check_generated("eurora-like", measure_eurora(eurora()))


def test_what_kit_like_generates():
    """With the seed 0."""
    check_generated("kit-like", measure_kit(kit()))
