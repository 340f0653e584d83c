"""The choice of the next dispatcher, by the objective of each over the replayed jobs."""

from collections.abc import Mapping, Sequence
from math import sqrt


def better(scores: Mapping[int, float], present: int, hysteresis: float, jobs: int) -> int | None:
    """Return the member of least objective, if it beats the present one by enough.

    Enough is a share of the present objective that falls with the number of jobs, as chance does:
    `hysteresis` over its root. `scores` has the objective over the replayed jobs, by member.
    """
    # Of equal scores the first of the portfolio, in whatever order they were replayed.
    least = min(sorted(scores), key=lambda member: scores[member])
    if scores[least] < scores[present] * (1 - hysteresis / sqrt(jobs)):
        return least
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)
