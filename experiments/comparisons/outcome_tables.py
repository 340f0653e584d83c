"""Tables of what runs came to, as Markdown: dispatchers by predictors."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from comparisons.distributions import Outcome
from hpcsched.report.tables.report_table import MISSING, Table

SLOWDOWNS = "slowdown of jobs that wait in some run"
QUEUES = "jobs waiting, by the second"
"""What the distributions of outcomes measure, as pictures say it."""

FIGURES: Mapping[str, tuple[Callable[[Outcome], float], str]] = {
    "Mean bounded slowdown (`tau` = 10 s)": (attrgetter("bounded_slowdown"), ".2f"),
    "Mean wait time, s": (attrgetter("wait_time"), ".0f"),
}
"""What is shown of an outcome, by title, and how many digits of it."""


def as_markdown(
    outcomes: Mapping[tuple[str, str], Outcome],
    dispatchers: Sequence[str],
    predictors: Sequence[str],
) -> str:
    """Return a table for each figure, of outcomes by dispatcher and predictor."""
    return "\n\n".join(
        f"{title}:\n\n{_table(outcomes, dispatchers, predictors, of, digits)}"
        for title, (of, digits) in FIGURES.items()
    )


def _table(
    outcomes: Mapping[tuple[str, str], Outcome],
    dispatchers: Sequence[str],
    predictors: Sequence[str],
    of: Callable[[Outcome], float],
    digits: str,
) -> str:
    rows = []
    for dispatcher in dispatchers:
        found = [outcomes.get((dispatcher, one)) for one in predictors]
        rows.append(
            [dispatcher, *(MISSING if one is None else format(of(one), digits) for one in found)]
        )
    return Table(["dispatcher", *predictors], rows, words=1).as_markdown()
