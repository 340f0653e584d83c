"""Run times near a level, with given draws."""

from hpcsched.workload.synthetic.campaigns import Levels, Quota, Regime, Stratum, take_regime
from tests.workload.synthetic.scripted import Scripted


def test_run_times_near_a_level() -> None:
    """100 s, 10 % up or down: 90 s for a draw of 0, 105 s for 0.75."""
    regime = Regime(Levels(Stratum(9, 1, 1000, 1)), 9, 100, 0.1)
    assert [regime.run_time(Scripted(point)) for point in (0.0, 0.5, 0.75)] == [90, 100, 105]


def test_run_times_stay_in_their_stratum() -> None:
    """It has 95 to 103 s: its upper bound belongs to the next."""
    regime = Regime(Levels(Stratum(9, 95, 104, 1)), 9, 100, 0.1)
    assert [regime.run_time(Scripted(point)) for point in (0.0, 0.999)] == [95, 103]


def test_a_regime_takes_its_jobs_and_its_level() -> None:
    """Half way from 1 to 10,000 s on a logarithmic scale are 100 s; of 3 jobs it takes 3."""
    quota = Quota([Stratum(3, 1, 10_000, 1)])
    regime = take_regime(Scripted(0.5), quota, 0, 5, 0.0)
    assert (regime.left, quota.left) == (3, 0)
    assert regime.run_time(Scripted(0.9)) == 100


def test_jobs_that_end_at_their_limit_end_anywhere_in_the_stratum() -> None:
    """From 100 to 199 s, whatever the spread; no level is drawn."""
    quota = Quota([Stratum(3, 100, 200, 1, limit=150)])
    regime = take_regime(Scripted(), quota, 0, 3, 0.0)
    assert [regime.run_time(Scripted(point)) for point in (0.0, 0.5, 0.999)] == [100, 150, 199]
