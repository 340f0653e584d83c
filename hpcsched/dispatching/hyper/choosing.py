"""What is moved to, given the objective of each dispatcher over the jobs that were replayed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """The objective over a window of `jobs` under each of some `members` of a portfolio."""

    jobs: int
    members: Sequence[int]
    scores: Sequence[float]

    def of(self, members: Collection[int]) -> "Comparison":
        """Return the comparison of some of the members."""
        kept = [member for member in self.members if member in members]
        return Comparison(self.jobs, kept, [self.score(member) for member in kept])

    def score(self, member: int) -> float:
        """Return the objective under a member."""
        return self.scores[self.members.index(member)]


def together(comparisons: Sequence[Comparison]) -> Comparison:
    """Return one comparison in place of several of the same members: by the mean over all jobs."""
    jobs = [one.jobs for one in comparisons]
    scores = [
        sum(one.scores[k] * weight for one, weight in zip(comparisons, jobs, strict=True))
        / sum(jobs)
        for k in range(len(comparisons[0].members))
    ]
    return Comparison(sum(jobs), comparisons[0].members, scores)


def better(comparison: Comparison, present: int, hysteresis: float, window: int) -> int | None:
    """Return the member of least objective, if it is less by enough than that of the present one.

    Enough is the share `hysteresis` of the objective in a full window. In a window of fewer jobs
    chance has more of a say: the share grows with one over the number of jobs.
    """
    least = min(range(len(comparison.members)), key=lambda k: comparison.scores[k])
    share = hysteresis * max(window / comparison.jobs, 1)
    if comparison.scores[least] < comparison.score(present) * (1 - share):
        return comparison.members[least]
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)
