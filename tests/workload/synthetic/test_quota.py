"""Drawing without replacement, with given draws."""

from hpcsched.workload.synthetic.campaigns import Quota, Stratum
from tests.workload.synthetic.scripted import Scripted

STRATA = (Stratum(10, 1, 10, length=5), Stratum(4, 10, 100, length=1))
"""Two campaigns of 5 jobs, and four of one."""


def test_strata_are_drawn_by_their_campaigns() -> None:
    """Six campaigns: a number below 2/6 is the first stratum."""
    quota = Quota(STRATA)
    assert quota.campaigns_left == 6
    assert [quota.draw(Scripted(point)) for point in (0.0, 0.33, 0.34, 0.99)] == [0, 0, 1, 1]


def test_what_is_taken_is_gone() -> None:
    """Of four jobs three are taken, then the last one, then none; 10 of 14 are left."""
    quota = Quota(STRATA)
    assert [quota.take(1, 3) for _ in range(3)] == [3, 1, 0]
    assert quota.left == 10
    assert quota.draw(Scripted(0.99)) == 0


def test_strata_with_enough_jobs() -> None:
    """Only the first has 5 jobs; where none has enough, the fullest is drawn."""
    quota = Quota(STRATA)
    assert quota.draw(Scripted(0.99), shortest=5) == 0
    quota.take(0, 8)
    assert quota.draw(Scripted(0.0), shortest=5) == 1
