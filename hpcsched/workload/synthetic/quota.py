"""Quotas: drawing without replacement, so that totals come out exact."""

from collections.abc import Sequence

from hpcsched.portable_math import plain_sum
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.quantiles import Levels, Stratum


class Quota:
    """Jobs of a table that have not been handed out yet, stratum by stratum."""

    def __init__(self, strata: Sequence[Stratum]) -> None:
        self.levels = [Levels(stratum) for stratum in strata]
        self._left = [stratum.jobs for stratum in strata]
        self.left = sum(self._left)
        """How many jobs are left in all."""

    @property
    def campaigns_left(self) -> float:
        """Number of campaigns of usual length that would use up the rest."""
        return plain_sum(
            left / levels.stratum.length
            for left, levels in zip(self._left, self.levels, strict=True)
        )

    def draw(self, draws: Draws, shortest: int = 1) -> int:
        """Draw a stratum, in proportion to the campaigns left in it.

        Parameters
        ----------
        shortest
            Minimum number of jobs left in it, if any stratum has as many.
        """
        weights = [
            left / levels.stratum.length if left >= shortest else 0.0
            for left, levels in zip(self._left, self.levels, strict=True)
        ]
        point = draws.uniform() * plain_sum(weights)
        chosen = 0
        for number, weight in enumerate(weights):
            if weight:
                chosen = number
                point -= weight
                if point < 0:
                    break
        # No stratum has `shortest` jobs left: take the fullest one.
        if not weights[chosen]:
            return max(range(len(weights)), key=lambda number: self._left[number])
        return chosen

    def take(self, number: int, jobs: int) -> int:
        """Hand out jobs of a stratum.

        Parameters
        ----------
        number
            Index of the stratum.
        jobs
            Maximum number of jobs.
        """
        taken = min(jobs, self._left[number])
        self._left[number] -= taken
        self.left -= taken
        return taken
