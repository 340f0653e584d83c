"""The tables of a comparison, as Markdown: dispatchers by predictors."""

from collections.abc import Callable, Mapping
from operator import attrgetter

from experiments.predictors.declaration import Comparison, label_of
from experiments.predictors.distributions import Outcome

MISSING = "–"

FIGURES: Mapping[str, tuple[Callable[[Outcome], float], str]] = {
    "Mean bounded slowdown (`tau` = 10 s)": (attrgetter("bounded_slowdown"), ".2f"),
    "Mean wait time, s": (attrgetter("wait_time"), ".0f"),
    "Jobs that wait, mean over time": (attrgetter("waiting"), ".1f"),
}
"""What is shown of an outcome, by title, and how many digits of it."""


def as_markdown(comparison: Comparison, outcomes: Mapping[str, Outcome]) -> str:
    """Return the tables of one trace; a dash stands for a run that is not there."""
    return "\n\n".join(
        f"{title}:\n\n{_table(comparison, outcomes, of, digits)}"
        for title, (of, digits) in FIGURES.items()
    )


def _table(
    comparison: Comparison,
    outcomes: Mapping[str, Outcome],
    of: Callable[[Outcome], float],
    digits: str,
) -> str:
    lines = [
        ["dispatcher", *(one.label for one in comparison.predictors)],
        ["---", *["---:"] * len(comparison.predictors)],
    ]
    for policy in comparison.dispatchers:
        found = [outcomes.get(label_of(policy, one)) for one in comparison.predictors]
        lines.append(
            [policy.label, *(MISSING if one is None else format(of(one), digits) for one in found)]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
