"""Users of a synthetic workload, with given draws."""

from typing import NamedTuple

from hpcsched.workload.synthetic.campaigns import Roster, User, draw_users
from tests.workload.synthetic.scripted import Scripted


class Project(NamedTuple):
    """A project of a user."""

    user: User
    kind: int


def user(number: int, enters: int, activity: float = 1.0, *, one: bool = False) -> User:
    """Return a user of group 1."""
    return User(number, 1, activity, enters, one)


def test_users() -> None:
    """Four users, one of them early, one of the others with a single job.

    Entries: 0.5, 0.1 and 0.9 of 100 jobs. User 1 is early, and draws a group alone: 0.6 of 2 is
    the second. User 2 has one job with 1/3: 0.4 is not. User 3 with 1/2: 0.4 is. User 4 with 0.
    """
    draws = Scripted(0.5, 0.1, 0.9, 0.6, 0.4, 0.0, 0.4, 0.0, 0.0, 0.6)
    found = draw_users(draws, 4, early=1, with_one_job=1, groups=2, last_entry=100)
    assert found == [
        User(1, 2, 1.0, 0, False),
        User(2, 1, 1.0, 10, False),
        User(3, 1, 1.0, 50, True),
        User(4, 2, 1.0, 90, False),
    ]


def test_users_enter_when_enough_jobs_are_handed_out() -> None:
    """The second after 10 jobs; then there is none any more."""
    first, second = Project(user(1, 0), 0), Project(user(2, 10), 0)
    roster = Roster(1, [(first.user, [first]), (second.user, [second])])
    assert roster.enter(0) == first
    assert roster.enter(9) is None
    assert roster.enter(10) == second
    assert roster.enter(99) is None


def test_active_users_are_drawn_more_often() -> None:
    """Weights of 1 and 3 from those who have entered; numbers from 1/4 on are the second."""
    first, second = Project(user(1, 0), 0), Project(user(2, 0, activity=3.0), 0)
    roster = Roster(1, [(first.user, [first]), (second.user, [second])])
    roster.enter(0)
    assert roster.draw(Scripted(0.9), 0) == first
    roster.enter(0)
    assert roster.draw(Scripted(0.24), 0) == first
    assert roster.draw(Scripted(0.26), 0) == second


def test_a_single_job_is_all() -> None:
    """A user with one job is never drawn after entering."""
    first, single = Project(user(1, 0), 0), Project(user(2, 0, one=True), 0)
    roster = Roster(1, [(first.user, [first]), (single.user, [single])])
    roster.enter(0)
    assert roster.enter(0) == single
    assert roster.draw(Scripted(0.99), 0) == first
