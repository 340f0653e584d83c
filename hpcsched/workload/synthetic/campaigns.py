"""Campaigns: bursts of many similar jobs that a user submits within a while."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from hpcsched.system.request import Request
from hpcsched.workload.synthetic.cycles import HOUR, Hour
from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.regimes import Regime


class Asked(NamedTuple):
    """Common request of all jobs of a campaign, in the order of the fields of `Job`."""

    request: Request
    requested_time: int
    user: int
    group: int
    application: int | None
    queue: int


class Campaign:
    """Similar jobs of a user, submitted in bursts.

    With several regimes each job is of one of them, in random order, until all are used up.

    Parameters
    ----------
    gap
        Seconds between the jobs of a burst.

    Attributes
    ----------
    left
        Number of jobs without a submit time.
    """

    __slots__ = ("_regimes", "_to_run", "asked", "burst", "gap", "left", "name")

    def __init__(
        self,
        asked: Asked,
        regimes: Sequence[Regime],
        burst: float,
        gap: float,
        name: Callable[[], str | None],
    ) -> None:
        self.asked = asked
        self.burst = burst
        self.gap = gap
        self.name = name
        self.left = self._to_run = sum(regime.left for regime in regimes)
        self._regimes = regimes

    def run_time(self, draws: Draws) -> int:
        """Draw the run time of the next job, in seconds."""
        regime = self._regimes[0]
        if len(self._regimes) > 1:
            point = int(draws.uniform() * self._to_run)
            for regime in self._regimes:
                point -= regime.left
                if point < 0:
                    break
        # Regimes are drawn in proportion to their remaining jobs, so that all end together.
        self._to_run -= 1
        regime.left -= 1
        return regime.run_time(draws)


class Interleaving:
    """Distribution of campaigns over the hours, with several campaigns at a time.

    Parameters
    ----------
    begin
        Starts another campaign, or returns None when all have begun.
    """

    def __init__(self, draws: Draws, begin: Callable[[], Campaign | None], at_once: int) -> None:
        self._draws = draws
        self._begin = begin
        self._at_once = at_once

    def submissions(self, hours: Iterable[Hour]) -> Iterator[tuple[int, Campaign]]:
        """Yield submit times, ascending, each with the campaign of the job."""
        active: list[Campaign] = []
        for _ in range(self._at_once):
            self._add_to(active)
        for hour in hours:
            yield from self._spread(hour.start, list(self._bursts(hour.jobs, active)))

    def _bursts(self, missing: int, active: list[Campaign]) -> Iterator[tuple[Campaign, int]]:
        """Yield campaigns with the sizes of their bursts, `missing` jobs in all."""
        while missing and active:
            k = self._draws.below(len(active))
            campaign = active[k]
            size = 1 + int(self._draws.exponential(campaign.burst))
            size = min(size, campaign.left, missing)
            missing -= size
            campaign.left -= size
            if not campaign.left:
                del active[k]
                self._add_to(active)
            yield campaign, size

    def _add_to(self, active: list[Campaign]) -> None:
        campaign = self._begin()
        while campaign is not None and not campaign.left:
            campaign = self._begin()
        if campaign is not None:
            active.append(campaign)

    def _spread(
        self, start: int, bursts: Sequence[tuple[Campaign, int]]
    ) -> list[tuple[int, Campaign]]:
        """Return the jobs of an hour: bursts begin in the given order and may overlap."""
        places = sorted(self._draws.uniform() for _ in bursts)
        found: list[tuple[int, Campaign]] = []
        for place, (campaign, size) in zip(places, bursts, strict=True):
            gap = min(campaign.gap, HOUR / size)
            first = start + place * (HOUR - gap * size)
            found += [(int(first + gap * k), campaign) for k in range(size)]
        found.sort(key=_submit_time)
        return found


def _submit_time(submission: tuple[int, Campaign]) -> int:
    return submission[0]
