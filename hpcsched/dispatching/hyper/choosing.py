"""What is moved to, given the objective of each dispatcher over the jobs that were replayed."""

from collections.abc import Mapping, Sequence
from math import sqrt


def better(scores: Mapping[int, float], present: int, hysteresis: float, jobs: int) -> int | None:
    """Return the member of least objective, if it is less by enough than that of the present one.

    `scores` has the objective over so many jobs, by member. Enough is a share of it that falls as
    chance has less of a say: `hysteresis` over the root of the number of jobs.
    """
    least = min(sorted(scores), key=lambda member: scores[member])
    if scores[least] < scores[present] * (1 - hysteresis / sqrt(jobs)):
        return least
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)
