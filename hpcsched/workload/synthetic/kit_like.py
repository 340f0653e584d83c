"""Trace source `kit-like`: a stand-in for the log of KIT's ForHLR II where it is not at hand.

As `eurora-like`, with the figures of `kit_figures`: one class of jobs, most of them on whole nodes,
without names. All else is assumed; `docs/workloads.md` has the list.
"""

from collections.abc import Iterator, Sequence

from pydantic import Field

from hpcsched.context import Context
from hpcsched.registration import builtin
from hpcsched.system.request import Request
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.campaigns import Asked, Campaign, Interleaving
from hpcsched.workload.synthetic.cycles import hours
from hpcsched.workload.synthetic.draws import Draws, Weighted
from hpcsched.workload.synthetic.generation_window import WindowParams, jobs_within
from hpcsched.workload.synthetic.kit_figures import (
    BEGAN,
    GIB,
    HOUR,
    JOBS,
    MINUTE,
    MONTHS,
    RUN_TIMES,
    SHAPES,
    USERS,
    USERS_WITH_ONE_JOB,
    WEEKDAY,
    Shape,
)
from hpcsched.workload.synthetic.quantiles import Stratum
from hpcsched.workload.synthetic.quota import Quota
from hpcsched.workload.synthetic.regimes import take_regime
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource, checked_request
from hpcsched.workload.synthetic.users import Roster, User, draw_users

LIMITS = (
    *(count * MINUTE for count in (10, 30)),
    *(count * HOUR for count in (1, 2, 4, 6, 8, 12, 18, 24, 36, 48, 72)),
)
"""Requested times of users (assumed)."""

# Assumed, all of it.
AT_ONCE = 25
"""Number of simultaneous campaigns."""
BURST = 0.4
"""Mean size of bursts, as a share of the campaign."""
GAPS = Weighted((1.0, 10.0, 60.0), (1.0, 1.0, 1.0))
"""Seconds between the jobs of a burst."""
SPREADS = Weighted((0.02, 0.1, 0.4), (0.2, 0.4, 0.4))
"""Deviation of run times from the level of a campaign, as a share of it."""
MIXED = 0.35
"""Probability that a campaign has several levels at the same time."""
MOST_STEPS = 4
"""Maximum number of limits above the smallest sufficient one."""
EARLY_USERS, LAST_ENTRY, GROUPS = 50, 0.9, 40
"""How many users are there from the beginning, after which share of the jobs the last user enters,
and in how many groups they are."""
ANOTHER_PROJECT, MOST_PROJECTS = 0.6, 6
"""How likely a user has one more project, and how many at most."""


class KitLikeParams(WindowParams):
    """Parameters of `kit-like`: part of the workload, and its density."""

    jobs: int = Field(
        JOBS, ge=1, le=JOBS, description="Maximum number of jobs of the window; all by default."
    )


@builtin(
    "trace_source",
    "kit-like",
    KitLikeParams,
    summary="synthetic: stands in for the log of KIT's ForHLR II, most jobs on whole nodes",
)
def make_kit_like(params: KitLikeParams, context: Context) -> SyntheticSource:
    """Make the source.

    Raises
    ------
    InputError
        If the system lacks a resource type of the jobs.
    """
    system, seed = context.system, context.seed
    requests = [
        checked_request(
            system,
            {"core": shape.core, "mem": shape.mem_gib * GIB},
            "the trace source 'kit-like'",
        )
        for shape in SHAPES
    ]
    return SyntheticSource(
        lambda: _Kit(seed, requests).jobs(params),
        system,
        comments=params.comments(
            "like KIT ForHLR II: 1,152 nodes of 20 cores, 21 of 48",
            "kit-like",
            BEGAN,
            "Europe/Berlin",
        ),
        count=params.expected_jobs,
    )


class _Project:
    """Recurrent work of a user: jobs with the same request and the same reserve of time."""

    kind = 0

    def __init__(self, user: User, shape: Shape, request: tuple[int, ...], draws: Draws) -> None:
        self.user = user
        self.shape = shape
        self.request = request
        self.steps = draws.below(MOST_STEPS + 1)

    def limit(self, stratum: Stratum) -> int:
        """Return the requested time of jobs with run times of a stratum."""
        if stratum.limit is not None:
            return stratum.limit
        enough = next(k for k, limit in enumerate(LIMITS) if limit >= stratum.high)
        return LIMITS[min(enough + self.steps, len(LIMITS) - 1)]


class _Kit:
    """Generator of the workload; its state consists of the users and the current campaigns."""

    def __init__(self, seed: int, requests: Sequence[tuple[int, ...]]) -> None:
        self._draws = Draws(seed)
        self._quota = Quota(RUN_TIMES)
        self._handed_out = 0
        self._roster = self._make_roster(requests)

    def jobs(self, params: KitLikeParams) -> Iterator[TracedJob]:
        """Yield the jobs of a window."""
        draws = self._draws
        campaigns = Interleaving(draws, self._begin, AT_ONCE)
        return jobs_within(params, draws, campaigns.submissions(hours(draws, MONTHS, WEEKDAY)))

    def _make_roster(self, requests: Sequence[tuple[int, ...]]) -> Roster[_Project]:
        draws = self._draws
        shapes = Weighted(
            list(zip(SHAPES, requests, strict=True)), [shape.weight for shape in SHAPES]
        )
        roster = []
        users = draw_users(
            draws,
            USERS,
            early=EARLY_USERS,
            with_one_job=USERS_WITH_ONE_JOB,
            groups=GROUPS,
            last_entry=int(LAST_ENTRY * JOBS),
        )
        for user in users:
            projects = [_Project(user, *shapes.draw(draws), draws)]
            most = 1 if user.has_one_job else MOST_PROJECTS
            while len(projects) < most and draws.chance(ANOTHER_PROJECT):
                projects.append(_Project(user, *shapes.draw(draws), draws))
            roster.append((user, projects))
        return Roster(1, roster)

    def _begin(self) -> Campaign | None:
        """Return another campaign, or None if all jobs have been handed out."""
        project = self._roster.enter(self._handed_out)
        if project is None:
            if not self._quota.left:
                return None
            return self._campaign(self._roster.draw(self._draws, 0), shortest=1)
        if project.user.has_one_job:
            return self._campaign(project, shortest=1, longest=1)
        return self._campaign(project, shortest=2)

    def _campaign(self, project: _Project, shortest: int, longest: int | None = None) -> Campaign:
        draws, quota = self._draws, self._quota
        number = quota.draw(draws, shortest)
        stratum = quota.levels[number].stratum
        # Half a job more, since rounding down takes half a job on average.
        length = shortest + int(draws.exponential(stratum.length - shortest + 0.5))
        length = min(length, longest or length)
        limit = project.limit(stratum)
        regimes = [take_regime(draws, quota, number, length, SPREADS.draw(draws))]
        if longest is None and draws.chance(MIXED):
            number = quota.draw(draws)
            other = quota.levels[number].stratum
            if other.limit is None and other.high <= min(HOUR, limit):
                jobs = 1 + int(length * draws.uniform())
                regimes.append(take_regime(draws, quota, number, jobs, SPREADS.draw(draws)))
        jobs = sum(regime.left for regime in regimes)
        self._handed_out += jobs
        user, shape = project.user, project.shape
        return Campaign(
            Asked(
                Request(shape.units, project.request),
                limit,
                user.number,
                user.group,
                None,
                shape.queue,
            ),
            [regime for regime in regimes if regime.left],
            BURST * jobs,
            GAPS.draw(draws),
            _no_name,
        )


def _no_name() -> None:
    return None
