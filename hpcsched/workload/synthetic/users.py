"""Users of a synthetic workload: time of entry, activity, and projects."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from hpcsched.workload.synthetic.draws import Draws, Weighted

ACTIVITY_SPREAD = 1.2
MOST_ACTIVE = 12.0
"""How much more some users submit than others: the standard deviation of the logarithm of their
activity, and the largest, where 1 is the median (assumed)."""


class User(NamedTuple):
    """User of a synthetic workload.

    Attributes
    ----------
    activity
        Weight in draws of projects; the median is 1.
    enters
        Number of jobs handed out before the user enters.
    """

    number: int
    group: int
    activity: float
    enters: int
    has_one_job: bool


def draw_users(
    draws: Draws, count: int, *, early: int, with_one_job: int, groups: int, last_entry: int
) -> list[User]:
    """Return users in the order of their entry.

    Parameters
    ----------
    early
        Number of users who enter at once.
    with_one_job
        Number of users with a single job, none of them early.
    """
    entries = [0] * early
    entries += sorted(int(last_entry * draws.uniform()) for _ in range(count - early))
    users: list[User] = []
    for k, enters in enumerate(entries):
        # Probability remaining / remaining users: exactly `with_one_job` users in the end.
        has_one_job = k >= early and draws.chance(with_one_job / (count - k))
        with_one_job -= has_one_job
        activity = min(draws.log_normal(1.0, ACTIVITY_SPREAD), MOST_ACTIVE)
        users.append(User(k + 1, 1 + draws.below(groups), activity, enters, has_one_job))
    return users


class HasUser(Protocol):
    """Project of a user, of a kind."""

    @property
    def user(self) -> User:
        """User of the project."""

    @property
    def kind(self) -> int:
        """Number of its kind."""


P = TypeVar("P", bound=HasUser)


class Roster(Generic[P]):
    """Projects of the users who have entered; those of more active users are drawn more often."""

    def __init__(self, kinds: int, to_enter: Sequence[tuple[User, Sequence[P]]]) -> None:
        self._to_enter = list(reversed(to_enter))
        self._known: list[list[P]] = [[] for _ in range(kinds)]
        self._weighted: list[Weighted[P] | None] = [None] * kinds

    def enter(self, handed_out: int) -> P | None:
        """Return the first project of a user who is due to enter, or None without one."""
        if not self._to_enter or self._to_enter[-1][0].enters > handed_out:
            return None
        user, projects = self._to_enter.pop()
        if not user.has_one_job:
            for project in projects:
                self._known[project.kind].append(project)
                self._weighted[project.kind] = None
        return projects[0]

    def draw(self, draws: Draws, kind: int) -> P:
        """Draw a project of a kind."""
        weighted = self._weighted[kind]
        if weighted is None:
            known = self._known[kind]
            weighted = Weighted(known, [project.user.activity for project in known])
            self._weighted[kind] = weighted
        return weighted.draw(draws)
