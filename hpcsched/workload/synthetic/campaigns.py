"""Workloads of campaigns: months and hours, run times by strata, users, and bursts of their jobs.

The weekly and daily cycle is assumed, in the shape that logs of production systems commonly have:
few jobs at night, a morning rise, a dip at noon, a long afternoon, weekends at less than half.

Run times are in narrow strata, within which the quantile function is log-linear. Its mean is known
in closed form, so a table of strata is easy to fit to published means and shares. Jobs of a stratum
are drawn without replacement, so that totals come out exact.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from hpcsched.parameters import Duration, Params, PositiveDuration
from hpcsched.portable_math import exp, log, plain_sum
from hpcsched.registration import Context
from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.synthetic.synthetic_source import (
    Draws,
    SyntheticSource,
    Weighted,
    checked_request,
)

MINUTE, HOUR, DAY, GIB = 60, 3600, 86_400, 1024**3
HOURLY = (3, 2, 2, 2, 2, 2, 2, 3, 6, 11, 13, 13, 11, 10, 13, 14, 14, 12, 9, 7, 6, 5, 5, 4)
"""Weights of the hours of the day, from midnight on (assumed)."""
DAILY = (1.0, 1.05, 1.05, 1.0, 0.9, 0.45, 0.4)
"""Weights of the days of the week, from Monday on (assumed)."""
DAY_SPREAD = 0.5
HOUR_SPREAD = 0.4
"""How far days and hours stray from the cycle: standard deviations of logarithms (assumed)."""
ACTIVITY_SPREAD = 1.2
MOST_ACTIVE = 12.0
"""How much more some users submit than others: the standard deviation of the logarithm of their
activity, and the largest, where 1 is the median (assumed)."""


class Stratum(NamedTuple):
    """Stratum of a distribution of run times, in seconds.

    Attributes
    ----------
    length
        Mean number of jobs of a campaign.
    limit
        Requested time of jobs that end at it or a little later; None: any.
    """

    jobs: int
    low: int
    high: int
    length: float
    limit: int | None = None


class Shape(NamedTuple):
    """Request of a unit, by resource type, with possible numbers of units, and its weight."""

    amounts: Mapping[str, int]
    units: tuple[int, ...]
    weight: float
    queue: int = 1


class Kind(NamedTuple):
    """Class of jobs.

    Attributes
    ----------
    weight
        How often users take up projects of this kind.
    """

    run_times: Sequence[Stratum]
    shapes: Sequence[Shape]
    weight: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a workload of campaigns.

    Attributes
    ----------
    months
        Numbers of days and of submissions of each month.
    began
        Unix time of the beginning, at midnight.
    habits
        Draws the habits of a project: a function that draws the terms of its campaigns.
    numbers_projects
        Whether projects are the applications of their jobs.
    same_kind
        Probability that another project of a user is of the same kind as the first.
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

    source: str
    computer: str
    time_zone: str
    began: int
    jobs: int
    kinds: Sequence[Kind]
    habits: "Callable[[Shape, Draws], Habits]"
    numbers_projects: bool
    same_kind: float
    months: Sequence[tuple[int, int]]
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


def read_figures(source: str, habits: "Callable[[Shape, Draws], Habits]") -> Figures:
    """Read the figures of a trace source from the TOML file of its name, which explains them."""
    file = Path(__file__).with_name(f"{source}.toml")
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    strata = data.pop("run_times")
    data["kinds"] = [
        Kind(
            [
                Stratum(jobs[k], low, high, length, limit or None)
                for low, high, length, limit, *jobs in strata
                if jobs[k]
            ],
            [_shape(kind["accelerator"], *shape) for shape in kind["shapes"]],
            kind["weight"],
        )
        for k, kind in enumerate(data["kinds"])
    ]
    data |= {name: Weighted(*data[name]) for name in ("gaps", "spreads")}
    return Figures(**data, habits=habits)


def _shape(
    accelerator: str, cores: int, gib: int, number: int, units: tuple[int, ...], *others: Any
) -> Shape:
    amounts = {"core": cores, "mem": gib * GIB, accelerator: number}
    return Shape({name: n for name, n in amounts.items() if n}, units, *others)


class WindowParams(Params):
    """Parameters of a part of a synthetic workload.

    The window is cut out first; its density is changed afterwards.
    """

    jobs: int | None = Field(None, ge=1)
    """Maximum number of jobs of the window; all by default."""
    load: float = Field(1.0, gt=0)
    """Factor of the original load: times between submissions are divided by it, so the span shrinks
    as the load grows."""
    start: Duration = 0
    """Begin of the window since the workload's beginning, in seconds or with a unit, before `load`
    is applied; submit times count from there."""
    duration: PositiveDuration | None = None
    """Length of the window, before `load` is applied; to the end if not given."""


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


class Terms(NamedTuple):
    """Queue and requested time of a campaign; `names` begins the names of its jobs."""

    queue: int
    requested_time: int
    names: Callable[[], Callable[[], str | None]]


Habits = Callable[[Draws, Stratum], Terms]


class Project(NamedTuple):
    """Recurrent work of a user: jobs of one kind with the same request."""

    user: User
    kind: int
    request: Request
    application: int | None
    habits: Habits


@dataclass(slots=True)
class _Regime:
    """Jobs with run times near one level, from `low` to `high`, in seconds."""

    left: int
    level: float
    reach: float
    low: int
    high: int


@dataclass(slots=True)
class _Campaign:
    """Similar jobs of a user, submitted in bursts.

    With several regimes each job is of one of them, in random order, until all are used up.
    """

    project: Project
    terms: Terms
    regimes: list[_Regime]
    burst: float
    gap: float
    name: Callable[[], str | None]
    to_submit: int
    to_run: int

    def run_time(self, draws: Draws) -> int:
        """Draw the run time of the next job, in seconds."""
        regime = self.regimes[0]
        if len(self.regimes) > 1:
            point = int(draws.uniform() * self.to_run)
            for regime in self.regimes:
                point -= regime.left
                if point < 0:
                    break
        # Regimes are drawn in proportion to their remaining jobs, so that all end together.
        self.to_run -= 1
        regime.left -= 1
        drawn = int(regime.level + regime.reach * (draws.uniform() - 0.5) + 0.5)
        return min(max(drawn, regime.low), regime.high)

    def job(self, number: int, submit_time: int) -> Job:
        """Return its next job."""
        project, user = self.project, self.project.user
        return Job(
            number,
            submit_time,
            project.request,
            self.terms.requested_time,
            user.number,
            user.group,
            project.application,
            self.terms.queue,
            name=self.name(),
        )


_Asked = tuple[Shape, tuple[int, ...]]
"""Shape of a request, and the amounts of a unit in the system's units."""


class _Quota:
    """Jobs of a table that have not been handed out yet, stratum by stratum."""

    def __init__(self, strata: Sequence[Stratum]) -> None:
        self.strata = strata
        self._left = [stratum.jobs for stratum in strata]

    def campaigns(self, shortest: int = 1) -> list[float]:
        """Return how many campaigns of usual length would use up each stratum.

        Strata with fewer than `shortest` jobs count as used up.
        """
        return [
            left / stratum.length if left >= shortest else 0.0
            for left, stratum in zip(self._left, self.strata, strict=True)
        ]

    def draw(self, draws: Draws, shortest: int = 1) -> int:
        """Draw a stratum with `shortest` jobs, if any has, in proportion to its campaigns."""
        weights = self.campaigns(shortest)
        point = draws.uniform() * plain_sum(weights)
        chosen = 0
        for number, weight in enumerate(weights):
            if weight:
                chosen = number
                point -= weight
                if point < 0:
                    break
        # No stratum has `shortest` jobs left: take the fullest one.
        return chosen if weights[chosen] else self._left.index(max(self._left))

    def take(self, draws: Draws, number: int, jobs: int, spread: float) -> _Regime:
        """Hand out at most `jobs` of a stratum, at a level drawn from it.

        Jobs that end at their limit end anywhere within the stratum, independently.
        """
        jobs = min(jobs, self._left[number])
        self._left[number] -= jobs
        _, low, high, _, limit = self.strata[number]
        if limit is None:
            level = low * exp(log(high / low) * draws.uniform())
        else:
            level = (low + high) / 2
            spread = (high - low) / (2 * level)
        # Strata are half-open, so that a run time belongs to one of them.
        return _Regime(jobs, level, 2 * level * spread, low, max(high - 1, low))


class _Generator:
    """Generator of a workload; its state consists of the users and the current campaigns."""

    def __init__(self, draws: Draws, figures: Figures, shapes: Sequence[Weighted[_Asked]]) -> None:
        self.draws = draws
        self._figures, self._shapes = figures, shapes
        kinds = figures.kinds
        self._kinds = Weighted(range(len(kinds)), [kind.weight for kind in kinds])
        self._quotas = [_Quota(kind.run_times) for kind in kinds]
        self._handed_out = self._projects_made = 0
        self._to_enter = [self._projects(user) for user in self._users()][::-1]
        self._entered: list[list[Project]] = [[] for _ in kinds]
        self._weighted: list[Weighted[Project] | None] = [None for _ in kinds]

    def jobs(self, params: WindowParams) -> Iterator[TracedJob]:
        """Yield the jobs of a window.

        Jobs are numbered from 1 at the beginning of the workload, and are the same in every window:
        those before it are drawn as well.
        """
        start, left = params.start, params.jobs
        end = None if params.duration is None else start + params.duration
        for number, (time, campaign) in enumerate(self._submissions(), 1):
            if end is not None and time >= end:
                return
            # Drawn before the test of the window: later jobs must not depend on its begin.
            run_time = campaign.run_time(self.draws)
            job = campaign.job(number, int((time - start) / params.load))
            if time >= start:
                yield TracedJob(job, run_time)
                left = left and left - 1
                if left == 0:
                    return

    def _users(self) -> list[User]:
        """Return users in the order of their entry; no early one has a single job."""
        draws, figures = self.draws, self._figures
        early, with_one_job = figures.early_users, figures.users_with_one_job
        last_entry = int(figures.last_entry * figures.jobs)
        entries = [0] * early
        entries += sorted(int(last_entry * draws.uniform()) for _ in range(figures.users - early))
        users: list[User] = []
        for k, enters in enumerate(entries):
            # Probability remaining / remaining users: exactly `with_one_job` users in the end.
            has_one_job = k >= early and draws.chance(with_one_job / (figures.users - k))
            with_one_job -= has_one_job
            activity = min(draws.log_normal(1.0, ACTIVITY_SPREAD), MOST_ACTIVE)
            group = 1 + draws.below(figures.groups)
            users.append(User(k + 1, group, activity, enters, has_one_job))
        return users

    def _projects(self, user: User) -> list[Project]:
        draws, figures, several = self.draws, self._figures, len(self._shapes) > 1
        main = 0
        if several:
            # The first users see to it that there is work of each kind from the beginning on.
            first = user.number <= len(self._shapes)
            main = user.number - 1 if first else self._kinds.draw(draws)
        projects = [self._project(user, main)]
        most = 1 if user.has_one_job else figures.most_projects
        while len(projects) < most and draws.chance(figures.another_project):
            same = not several or draws.chance(figures.same_kind)
            projects.append(self._project(user, main if same else self._kinds.draw(draws)))
        return projects

    def _project(self, user: User, kind: int) -> Project:
        draws, figures, shapes = self.draws, self._figures, self._shapes[kind]
        self._projects_made += 1
        number = self._projects_made if figures.numbers_projects else None
        shape, unit = shapes.draw(draws)
        several = any(len(one.units) > 1 for one, _ in shapes.items)
        units = shape.units[draws.below(len(shape.units)) if several else 0]
        habits = figures.habits(shape, draws)
        return Project(user, kind, Request(units, unit), number, habits)

    def _submissions(self) -> Iterator[tuple[int, _Campaign]]:
        """Yield submit times, ascending, each with the campaign of the job."""
        begun = iter(self._begin, None)
        active = [
            campaign for _, campaign in zip(range(self._figures.at_once), begun, strict=False)
        ]
        for start, jobs in self._hours():
            bursts = list(self._bursts(jobs, active, begun))
            # Bursts begin in this order and may overlap.
            places = sorted(self.draws.uniform() for _ in bursts)
            found: list[tuple[int, _Campaign]] = []
            for place, (campaign, size) in zip(places, bursts, strict=True):
                gap = min(campaign.gap, HOUR / size)
                first = start + place * (HOUR - gap * size)
                found += [(int(first + gap * k), campaign) for k in range(size)]
            yield from sorted(found, key=itemgetter(0))

    def _hours(self) -> Iterator[tuple[int, int]]:
        """Yield begin and number of jobs of every hour with submissions, exact by month."""
        draws, first_day = self.draws, 0
        zone = ZoneInfo(self._figures.time_zone)
        weekday = datetime.fromtimestamp(self._figures.began, zone).weekday()
        for days, jobs in self._figures.months:
            weights: list[float] = []
            for day in range(first_day, first_day + days):
                busy = DAILY[(weekday + day) % 7] * draws.log_normal(1.0, DAY_SPREAD)
                weights += [busy * weight * draws.log_normal(1.0, HOUR_SPREAD) for weight in HOURLY]
            whole, upto, made = plain_sum(weights), 0.0, 0
            for hour, weight in enumerate(weights, 1):
                upto += weight
                # Cumulative rounding: hours add up to exactly the month's jobs.
                due = jobs if hour == len(weights) else int(jobs * (upto / whole))
                if due > made:
                    yield first_day * DAY + (hour - 1) * HOUR, due - made
                    made = due
            first_day += days

    def _bursts(
        self, missing: int, active: list[_Campaign], begun: Iterator[_Campaign]
    ) -> Iterator[tuple[_Campaign, int]]:
        """Yield campaigns with the sizes of their bursts, `missing` jobs in all."""
        while missing and active:
            k = self.draws.below(len(active))
            campaign = active[k]
            size = 1 + int(self.draws.exponential(campaign.burst))
            size = min(size, campaign.to_submit, missing)
            missing -= size
            campaign.to_submit -= size
            if not campaign.to_submit:
                del active[k]
                active += [following for following in (next(begun, None),) if following]
            yield campaign, size

    def _begin(self) -> _Campaign | None:
        """Return another campaign, or None if all jobs have been handed out."""
        if self._to_enter and self._to_enter[-1][0].user.enters <= self._handed_out:
            entering = self._to_enter.pop()
            if entering[0].user.has_one_job:
                return self._campaign(entering[0], shortest=1, longest=1)
            for project in entering:
                self._entered[project.kind].append(project)
                self._weighted[project.kind] = None
            return self._campaign(entering[0], shortest=2)
        weights = [plain_sum(quota.campaigns()) for quota in self._quotas]
        if not any(weights):
            return None
        several = len(weights) > 1
        kind = Weighted(range(len(weights)), weights).draw(self.draws) if several else 0
        weighted = self._weighted[kind]
        if weighted is None:
            known = self._entered[kind]
            weighted = Weighted(known, [project.user.activity for project in known])
            self._weighted[kind] = weighted
        return self._campaign(weighted.draw(self.draws), shortest=1)

    def _campaign(self, project: Project, shortest: int, longest: int | None = None) -> _Campaign:
        draws, quota, figures = self.draws, self._quotas[project.kind], self._figures
        number = quota.draw(draws, shortest)
        stratum = quota.strata[number]
        # Half a job more, since rounding down takes half a job on average.
        length = shortest + int(draws.exponential(stratum.length - shortest + 0.5))
        length = min(length, longest or length)
        terms = project.habits(draws, stratum)
        regimes = [quota.take(draws, number, length, figures.spreads.draw(draws))]
        if longest is None and draws.chance(figures.mixed):
            trials = 1 + draws.below(figures.most_trials) if figures.most_trials > 1 else 1
            for _ in range(trials):
                number = quota.draw(draws)
                other = quota.strata[number]
                highest = min(HOUR, terms.requested_time - figures.trial_reserve)
                if other.limit is None and other.high <= highest:
                    jobs = 1 + int(length * draws.between(*figures.trial_jobs))
                    regimes.append(quota.take(draws, number, jobs, figures.spreads.draw(draws)))
        name = terms.names()
        jobs = sum(regime.left for regime in regimes)
        self._handed_out += jobs
        regimes = [regime for regime in regimes if regime.left]
        gap = figures.gaps.draw(draws)
        return _Campaign(project, terms, regimes, figures.burst * jobs, gap, name, jobs, jobs)


def campaign_source(figures: Figures, params: WindowParams, context: Context) -> SyntheticSource:
    """Return the trace source of a window of a workload of campaigns."""
    whose, seed = f"the trace source {figures.source!r}", context.seed
    shapes = [
        Weighted(
            [(one, checked_request(context.system, one.amounts, whose)) for one in kind.shapes],
            [one.weight for one in kind.shapes],
        )
        for kind in figures.kinds
    ]
    return SyntheticSource(
        lambda: _Generator(Draws(seed), figures, shapes).jobs(params),
        context.system,
        comments=(
            f"Computer: {figures.computer}",
            f"Note: made up by hpcsched's {figures.source}; no real log is behind it",
            f"UnixStartTime: {figures.began + params.start}",
            f"TimeZoneString: {figures.time_zone}",
        ),
        count=None if params.start or params.duration else params.jobs or figures.jobs,
    )
