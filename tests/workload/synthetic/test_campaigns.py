"""Campaigns of similar jobs and their bursts, with given draws."""

from collections.abc import Sequence

from hpcsched.system.system import Request
from hpcsched.workload.synthetic.campaigns import (
    Asked,
    Campaign,
    Hour,
    Interleaving,
    Levels,
    Regime,
    Stratum,
)
from tests.workload.synthetic.scripted import Scripted

ASKED = Asked(Request(1, (1,)), 3600, 1, 1, None, 0)


def regime(jobs: int, level: float) -> Regime:
    """Return jobs that all run for the same time."""
    return Regime(Levels(Stratum(jobs, 1, 10_000, 1)), jobs, level, 0)


def campaign(jobs: int, burst: float = 2, gap: float = 60) -> Campaign:
    """Return a campaign of jobs of 100 s."""
    return Campaign(ASKED, [regime(jobs, 100)], burst, gap, lambda: None)


def at_once(count: int, campaigns: Sequence[Campaign], *uniform: float) -> Interleaving:
    """Return campaigns that are begun in this order."""
    waiting = iter(campaigns)
    return Interleaving(Scripted(*uniform), lambda: next(waiting, None), count)


def test_regimes_are_mixed_until_all_are_used_up() -> None:
    """One job of 100 s and three of 200 s; shares of what is left: 1/4, then 0/3.

    Numbers of [0, 1/4) mean the first regime: 0.25 is the second, 0.1 the first. Then none of it is
    left, and 0 is the second as well.
    """
    mixed = Campaign(ASKED, [regime(1, 100), regime(3, 200)], 2, 60, lambda: None)
    draws = Scripted(0.25, 0.5, 0.1, 0.5, 0.0, 0.5)
    assert [mixed.run_time(draws) for _ in range(3)] == [200, 100, 200]


def test_bursts_within_an_hour() -> None:
    """Three jobs of one campaign in an hour, as bursts of 1 and 2 with 60 s between their jobs.

    Sizes: 1 - 2 ln(1 - 0) = 1; 1 - 2 ln(1 - 0.8) = 4.2, of which 2 are left. Places 0.25 and 0.5 of
    the hour less the burst: 0.25 (3600 - 60) = 885 and 0.5 (3600 - 120) = 1740.
    """
    one = campaign(3)
    interleaving = at_once(1, [one], 0.0, 0.0, 0.0, 0.8, 0.5, 0.25)
    found = [time for time, _ in interleaving.submissions([Hour(7200, 3)])]
    assert found == [7200 + 885, 7200 + 1740, 7200 + 1800]
    assert one.left == 0


def test_a_campaign_that_is_used_up_makes_room_for_the_next() -> None:
    """Two campaigns of a job each, one at a time; one that has no jobs is passed over."""
    first, none, second = campaign(1), campaign(0), campaign(1)
    interleaving = at_once(1, [first, none, second], *[0.0] * 6)
    found = list(interleaving.submissions([Hour(0, 2)]))
    assert [who for _, who in found] == [first, second]


def test_long_gaps_fit_into_the_hour() -> None:
    """Four jobs with 2 h between them come every 15 minutes instead."""
    interleaving = at_once(1, [campaign(4, gap=7200)], 0.0, 0.99, 0.3)
    found = [time for time, _ in interleaving.submissions([Hour(0, 4)])]
    assert found == [0, 900, 1800, 2700]
