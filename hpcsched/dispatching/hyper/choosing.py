"""What is moved to, given the objective of each dispatcher over the jobs that were replayed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Comparison:
    """The objective over a window of `jobs` under each of some `members` of a portfolio."""

    jobs: int
    members: Sequence[int]
    scores: Sequence[float]

    def score(self, member: int) -> float:
        """Return the objective under a member."""
        return self.scores[self.members.index(member)]


def better(comparison: Comparison, present: int, hysteresis: float, window: int) -> int | None:
    """Return the member of least objective, if it is less by enough than that of the present one.

    Enough is the share `hysteresis` of the objective in a full window. In a window of fewer jobs
    chance has more of a say: the share grows with one over the root of the number of jobs.
    """
    least = min(range(len(comparison.members)), key=lambda k: comparison.scores[k])
    share = hysteresis * sqrt(max(window / comparison.jobs, 1))
    if comparison.scores[least] < comparison.score(present) * (1 - share):
        return comparison.members[least]
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)
