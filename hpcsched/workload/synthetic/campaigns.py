"""Workloads of campaigns: months and hours, run times by strata, users, and bursts of their jobs.

The weekly and daily cycle is assumed, in the shape that logs of production systems commonly have:
few jobs at night, a morning rise, a dip at noon, a long afternoon, weekends at less than half.

Run times are in narrow strata, within which the quantile function is log-linear. Its mean is known
in closed form, so a table of strata is easy to fit to published means and shares. Jobs of a stratum
are drawn without replacement, so that totals come out exact.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import Field

from hpcsched.parameters import Duration, Params, PositiveDuration
from hpcsched.portable_math import exp, log, plain_sum
from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.draws import Draws, Weighted

HOUR = 3600
DAY = 24 * HOUR
HOURLY = (3, 2, 2, 2, 2, 2, 2, 3, 6, 11, 13, 13, 11, 10, 13, 14, 14, 12, 9, 7, 6, 5, 5, 4)
"""Weights of the hours of the day, from midnight on (assumed)."""
DAILY = (1.0, 1.05, 1.05, 1.0, 0.9, 0.45, 0.4)
"""Weights of the days of the week, from Monday on (assumed)."""
DAY_SPREAD = 0.5
HOUR_SPREAD = 0.4
"""How far days and hours stray from the cycle: standard deviations of logarithms (assumed)."""


class Month(NamedTuple):
    """Number of days and of submissions of a month."""

    days: int
    jobs: int


class Hour(NamedTuple):
    """Hour with submissions.

    Attributes
    ----------
    start
        Begin of the hour, in seconds since the beginning of the workload.
    """

    start: int
    jobs: int


def hours(draws: Draws, months: Sequence[Month], weekday: int) -> Iterator[Hour]:
    """Yield every hour with submissions; each month has exactly its number of jobs.

    Parameters
    ----------
    weekday
        Day of the week of the first day; Monday is 0.
    """
    first_day = 0
    for month in months:
        weights: list[float] = []
        for day in range(first_day, first_day + month.days):
            busy = DAILY[(weekday + day) % 7] * draws.log_normal(1.0, DAY_SPREAD)
            weights += [busy * weight * draws.log_normal(1.0, HOUR_SPREAD) for weight in HOURLY]
        whole, upto, made = plain_sum(weights), 0.0, 0
        for hour, weight in enumerate(weights):
            upto += weight
            last = hour == len(weights) - 1
            # Cumulative rounding: hours add up to exactly the month's jobs.
            due = month.jobs if last else int(month.jobs * (upto / whole))
            if due > made:
                yield Hour(first_day * DAY + hour * HOUR, due - made)
                made = due
        first_day += month.days


class Stratum(NamedTuple):
    """Stratum of a distribution of run times.

    Attributes
    ----------
    low
        Shortest run time, in seconds.
    high
        Longest run time, in seconds.
    limit
        Requested time of jobs that end at it or a little later; None: any.
    """

    jobs: int
    low: int
    high: int
    length: float
    limit: int | None = None

    def mean(self) -> float:
        """Return the mean run time in seconds."""
        if self.high == self.low:
            return float(self.low)
        return (self.high - self.low) / log(self.high / self.low)


class Levels:
    """Quantile function of a stratum."""

    def __init__(self, stratum: Stratum) -> None:
        self.stratum = stratum

    @cached_property
    def _width(self) -> float:
        return log(self.stratum.high / self.stratum.low)

    def at(self, place: float) -> float:
        """Return the quantile of a probability from 0 to 1, in seconds."""
        return self.stratum.low * exp(self._width * place)


def mean_of(strata: tuple[Stratum, ...]) -> float:
    """Return the mean run time of a table, in seconds."""
    jobs = sum(stratum.jobs for stratum in strata)
    return sum(stratum.jobs * stratum.mean() for stratum in strata) / jobs


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


class Regime:
    """Run times near one level, all within one stratum.

    Parameters
    ----------
    level
        The level, in seconds.
    spread
        Maximum deviation from the level, as a share of it.
    """

    __slots__ = ("_high", "_level", "_low", "_reach", "left")

    def __init__(self, levels: Levels, left: int, level: float, spread: float) -> None:
        stratum = levels.stratum
        self.left = left
        self._level = level
        self._reach = 2 * level * spread
        self._low = stratum.low
        # Strata are half-open, so that a run time belongs to one of them.
        self._high = max(stratum.high - 1, stratum.low)

    def run_time(self, draws: Draws) -> int:
        """Draw a run time in seconds."""
        drawn = int(self._level + self._reach * (draws.uniform() - 0.5) + 0.5)
        return min(max(drawn, self._low), self._high)


def take_regime(draws: Draws, quota: Quota, number: int, jobs: int, spread: float) -> Regime:
    """Return a regime of jobs from a stratum, at a level drawn from it.

    Jobs that end at their limit end anywhere within the stratum, independently.

    Parameters
    ----------
    number
        Index of the stratum.
    jobs
        Maximum number of jobs.
    spread
        Maximum deviation from the level, as a share of it.
    """
    levels = quota.levels[number]
    stratum = levels.stratum
    taken = quota.take(number, jobs)
    if stratum.limit is not None:
        middle = (stratum.low + stratum.high) / 2
        return Regime(levels, taken, middle, (stratum.high - stratum.low) / (2 * middle))
    return Regime(levels, taken, levels.at(draws.uniform()), spread)


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


class WindowParams(Params):
    """Parameters of a part of a synthetic workload.

    The window is cut out first; its density is changed afterwards.
    """

    jobs: int = Field(ge=1, description="Maximum number of jobs of the window; all by default.")
    load: float = Field(
        1.0,
        gt=0,
        description="Factor of the original load: times between submissions are divided"
        " by it, so the span shrinks as the load grows.",
    )
    start: Duration = Field(
        0,
        description="Begin of the window since the workload's beginning, in seconds or with a"
        " unit, before `load` is applied; submit times count from there.",
    )
    duration: PositiveDuration | None = Field(
        None,
        description="Length of the window, before `load` is applied; to the end if not given.",
    )

    @property
    def expected_jobs(self) -> int | None:
        """Number of jobs, if known beforehand."""
        return self.jobs if self.start == 0 and self.duration is None else None

    def comments(self, computer: str, source: str, began: int, time_zone: str) -> Sequence[str]:
        """Return header comments of the trace."""
        return (
            f"Computer: {computer}",
            f"Note: made up by hpcsched's {source}; no real log is behind it",
            f"UnixStartTime: {began + self.start}",
            f"TimeZoneString: {time_zone}",
        )


def jobs_within(
    params: WindowParams, draws: Draws, submissions: Iterable[tuple[int, Campaign]]
) -> Iterator[TracedJob]:
    """Yield the jobs of a window.

    Jobs are numbered from 1 at the beginning of the workload, and are the same in every window:
    those before it are drawn as well.

    Parameters
    ----------
    submissions
        Submit times in seconds, ascending, with the campaigns of the jobs.
    """
    start, left = params.start, params.jobs
    end = None if params.duration is None else start + params.duration
    for number, (time, campaign) in enumerate(submissions, 1):
        if end is not None and time >= end:
            return
        # Drawn before the test of the window: later jobs must not depend on its begin.
        run_time, name = campaign.run_time(draws), campaign.name()
        if time >= start:
            submit_time = int((time - start) / params.load)
            yield TracedJob(Job(number, submit_time, *campaign.asked, name=name), run_time)
            left -= 1
            if not left:
                return


class Figures(NamedTuple):
    """Figures of a workload of campaigns.

    Attributes
    ----------
    last_entry
        Share of the jobs after which the last user enters.
    another_project, most_projects
        Probability that a user has one more project, and how many at most.
    at_once
        Number of simultaneous campaigns.
    burst
        Mean size of bursts, as a share of the campaign.
    gaps
        Seconds between the jobs of a burst.
    spreads
        Deviation of run times from the level of a campaign, as a share of it.
    mixed
        Probability that a campaign has several levels at the same time: failures, short trials.
    most_trials
        Number of these other levels, at most 2.
    trial_jobs
        Range of their jobs, as a share of those of the campaign.
    trial_reserve
        Seconds by which they stay below the requested time.
    """

    jobs: int
    months: Sequence[Month]
    weekday: int
    users: int
    users_with_one_job: int
    early_users: int
    groups: int
    last_entry: float
    another_project: float
    most_projects: int
    at_once: int
    burst: float
    gaps: Weighted[float]
    spreads: Weighted[float]
    mixed: float
    most_trials: int
    trial_jobs: tuple[float, float]
    trial_reserve: int


class Project(HasUser, Protocol):
    """Recurrent work of a user: jobs of one kind with the same request."""

    @property
    def request(self) -> Request:
        """Request of its jobs."""

    @property
    def application(self) -> int | None:
        """Number of its application."""


class Terms(NamedTuple):
    """Queue and requested time of a campaign; `names` begins the names of its jobs."""

    queue: int
    requested_time: int
    names: Callable[[], Callable[[], str | None]]


Q = TypeVar("Q", bound=Project)


class Generator(ABC, Generic[Q]):
    """Generator of a workload; its state consists of the users and the current campaigns.

    Parameters
    ----------
    kinds
        Run times of each kind of jobs.
    """

    def __init__(self, draws: Draws, figures: Figures, kinds: Sequence[Sequence[Stratum]]) -> None:
        self.draws = draws
        self._figures = figures
        self._quotas = [Quota(run_times) for run_times in kinds]
        self._handed_out = 0
        self._roster = self._make_roster()

    @abstractmethod
    def project(self, user: User, kind: int) -> Q:
        """Draw a project of a user."""

    @abstractmethod
    def terms(self, project: Q, stratum: Stratum) -> Terms:
        """Draw the terms of a campaign with run times of a stratum."""

    def main_kind(self, user: User) -> int:
        """Draw the kind of a user's first project."""
        return 0

    def further_kind(self, main: int) -> int:
        """Draw the kind of another project."""
        return 0

    def jobs(self, params: WindowParams) -> Iterator[TracedJob]:
        """Yield the jobs of a window."""
        figures = self._figures
        campaigns = Interleaving(self.draws, self._begin, figures.at_once)
        of_hours = hours(self.draws, figures.months, figures.weekday)
        return jobs_within(params, self.draws, campaigns.submissions(of_hours))

    def _make_roster(self) -> Roster[Q]:
        draws, figures = self.draws, self._figures
        roster = []
        users = draw_users(
            draws,
            figures.users,
            early=figures.early_users,
            with_one_job=figures.users_with_one_job,
            groups=figures.groups,
            last_entry=int(figures.last_entry * figures.jobs),
        )
        for user in users:
            main = self.main_kind(user)
            projects = [self.project(user, main)]
            most = 1 if user.has_one_job else figures.most_projects
            while len(projects) < most and draws.chance(figures.another_project):
                projects.append(self.project(user, self.further_kind(main)))
            roster.append((user, projects))
        return Roster(len(self._quotas), roster)

    def _begin(self) -> Campaign | None:
        """Return another campaign, or None if all jobs have been handed out."""
        project = self._roster.enter(self._handed_out)
        if project is not None:
            if project.user.has_one_job:
                return self._campaign(project, shortest=1, longest=1)
            return self._campaign(project, shortest=2)
        weights = [quota.campaigns_left for quota in self._quotas]
        if not any(weights):
            return None
        several = len(weights) > 1
        kind = Weighted(range(len(weights)), weights).draw(self.draws) if several else 0
        return self._campaign(self._roster.draw(self.draws, kind), shortest=1)

    def _campaign(self, project: Q, shortest: int, longest: int | None = None) -> Campaign:
        draws, quota, figures = self.draws, self._quotas[project.kind], self._figures
        number = quota.draw(draws, shortest)
        stratum = quota.levels[number].stratum
        # Half a job more, since rounding down takes half a job on average.
        length = shortest + int(draws.exponential(stratum.length - shortest + 0.5))
        length = min(length, longest or length)
        terms = self.terms(project, stratum)
        regimes = [take_regime(draws, quota, number, length, figures.spreads.draw(draws))]
        if longest is None and draws.chance(figures.mixed):
            trials = 1 + draws.below(figures.most_trials) if figures.most_trials > 1 else 1
            for _ in range(trials):
                number = quota.draw(draws)
                other = quota.levels[number].stratum
                highest = min(HOUR, terms.requested_time - figures.trial_reserve)
                if other.limit is None and other.high <= highest:
                    jobs = 1 + int(length * draws.between(*figures.trial_jobs))
                    spread = figures.spreads.draw(draws)
                    regimes.append(take_regime(draws, quota, number, jobs, spread))
        name = terms.names()
        jobs = sum(regime.left for regime in regimes)
        self._handed_out += jobs
        user = project.user
        return Campaign(
            Asked(
                project.request,
                terms.requested_time,
                user.number,
                user.group,
                project.application,
                terms.queue,
            ),
            [regime for regime in regimes if regime.left],
            figures.burst * jobs,
            figures.gaps.draw(draws),
            name,
        )
