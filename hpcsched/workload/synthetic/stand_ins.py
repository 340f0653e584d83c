"""Trace sources `eurora-like` and `kit-like`: stand-ins for the logs of Eurora and KIT ForHLR II.

Users take up projects and submit them in campaigns: bursts of similar jobs with run times near one
level for long, and then at another. The numbers of jobs by class and run time are handed out
without replacement from tables fitted to published figures. All else is assumed;
`docs/workloads.md` has the list.

Sources: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020 ("thesis"), sections
2.1.4, 4.1, 4.2 and 5.3; Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi, Bridi, *Data-driven job
dispatching in HPC systems*, MOD 2017 ("MOD"), sections 2 and 5.1; the header of the log
KIT-FH2-2016-1 in the Parallel Workloads Archive ("header").
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hpcsched.registration import Context, builtin
from hpcsched.workload.synthetic.campaigns import (
    GIB,
    HOUR,
    MINUTE,
    Figures,
    Habits,
    Kind,
    Shape,
    Stratum,
    Terms,
    WindowParams,
    campaign_source,
)
from hpcsched.workload.synthetic.synthetic_source import Draws, SyntheticSource, Weighted

JOBS = 404_866
"""Thesis, table 2.1."""
MONTHS = (
    (1, 60),  # March 2014
    (30, 2_890),
    (31, 5_480),
    (30, 24_860),
    (31, 31_470),
    (31, 6_210),  # August
    (30, 35_120),
    (31, 43_910),
    (30, 47_230),
    (31, 29_840),
    (31, 38_450),  # January 2015
    (28, 45_380),
    (31, 41_020),
    (30, 35_041),
    (31, 8_730),
    (30, 5_960),
    (31, 2_170),
    (30, 1_045),  # August, without its last day
)
"""Seventeen months. The ten busiest have 372,321 jobs (MOD, section 2); the rest is assumed."""

_RUN_TIMES: tuple[tuple[int, int, float, int | None, int, int, int], ...] = (
    # from, to (s), in a campaign, at limit, CPU, MIC, GPU
    (1, 6, 60.0, None, 19_694, 78, 75_979),
    (6, 20, 60.0, None, 18_933, 201, 82_588),
    (20, 60, 50.0, None, 16_881, 344, 68_823),
    (60, 180, 40.0, None, 12_538, 548, 43_176),
    (180, 600, 25.0, None, 7_088, 565, 16_589),
    (600, 1_800, 15.0, None, 2_463, 363, 3_594),
    (1_800, 3_600, 10.0, None, 700, 88, 645),
    (3_600, 7_200, 8.0, None, 1_788, 58, 699),
    (7_200, 11_520, 8.0, None, 2_104, 69, 822),
    (11_520, 14_400, 8.0, None, 4_523, 147, 1_768),
    (14_400, 18_000, 6.0, None, 2_104, 68, 822),
    (18_000, 25_200, 5.0, None, 667, 18, 277),
    (25_200, 32_400, 5.0, None, 828, 23, 344),
    (32_400, 43_200, 5.0, None, 525, 14, 219),
    (43_200, 86_400, 2.0, None, 80, 1, 40),
    (602, 800, 10.0, 600, 400, 5, 1_095),
    (1_802, 2_000, 10.0, 1_800, 1_100, 15, 2_485),
    (7_202, 7_400, 6.0, 7_200, 300, 10, 170),
    (14_402, 14_600, 8.0, 14_400, 6_500, 190, 2_305),
    (1_800, 1_800, 5.0, 1_800, 45, 0, 110),
    (14_400, 14_400, 4.0, 14_400, 170, 5, 75),
)
"""Run times. The columns add up to 99,431, 2,810 and 302,625 jobs, and to the mean run times of
49:19, 55:42 and 7:26 min (thesis, table 2.1); the rows to 93.15 % below 1 h, 6.10 % from 1 to 5 h
and 0.75 % above (thesis, section 5.3: 93.14, 6.10, 0.75; section 2.1.4 has 92.15, 7.07, 0.78), to
8.7, 70.6 and 20.7 % of the run time (2.1.4: 8.94, 70.43, 20.63), and to 0.03 % above 12 h (MOD,
section 2). 14,575 jobs, 3.6 %, end a little after their limit, and 405, 0.1 %, right at it (thesis,
sections 4.1.2 and 5.3). The steps below 1 h and how many jobs make a campaign are assumed."""


def _column(kind: int) -> tuple[Stratum, ...]:
    return tuple(
        Stratum(jobs[kind], low, high, length, limit)
        for low, high, length, limit, *jobs in _RUN_TIMES
        if jobs[kind]
    )


_CPU, _MIC, _GPU = 0, 1, 2

_Shape = tuple[int, int, int, tuple[int, ...], float]


def _kind(weight: float, run_times: int, accelerator: str, *shapes: _Shape) -> Kind:
    """Return a class of jobs; shapes: cores, GiB and accelerators of a unit, units, weight."""
    return Kind(
        _column(run_times),
        [
            Shape(
                {"core": core, "mem": gib * GIB, **({accelerator: count} if count else {})},
                units,
                share,
            )
            for core, gib, count, units, share in shapes
        ],
        weight,
    )


KINDS = (
    _kind(
        0.46,
        _CPU,
        "",
        (1, 1, 0, (1,), 2.0),
        (4, 3, 0, (1, 2), 1.0),
        (8, 6, 0, (1, 2, 4), 1.5),
        (16, 14, 0, (1, 2, 4, 8), 3.5),
        (16, 8, 0, (4, 8), 1.5),
    ),
    _kind(
        0.06,
        _MIC,
        "mic",
        (4, 4, 1, (1,), 2.0),
        (8, 7, 1, (1, 2), 1.0),
        (16, 14, 2, (1, 2, 4), 1.0),
    ),
    _kind(
        0.48,
        _GPU,
        "gpu",
        (1, 2, 1, (1,), 4.0),
        (4, 4, 1, (1,), 3.0),
        (8, 7, 1, (1, 2), 1.5),
        (8, 7, 2, (1, 2, 4), 1.0),
        (16, 14, 2, (2, 4, 8), 1.0),
    ),
)
"""The classes of jobs: without accelerators, with MICs, with GPUs."""


DEBUG, PARALLEL, LONGPAR = 1, 2, 3
LIMITS = {DEBUG: 30 * MINUTE, PARALLEL: 4 * HOUR, LONGPAR: 24 * HOUR}
"""Queues by number, and the default requested time of their jobs (assumed)."""
OWN_LIMITS = (10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 8 * HOUR, 12 * HOUR, 24 * HOUR)
"""Requested times of users who set them themselves (assumed)."""

# Assumed, and varied until the accuracy of requested times and of the prediction from a user's last
# jobs came out as published (thesis, sections 4.1.2 and 5.3): see docs/workloads.md.
NUMBERED = 0.6
"""Share of projects that name their jobs with a number at the end; others use one name."""
NEW_SERIES = 0.12
"""Probability that a campaign gets a name of its own."""
SCREENING = 0.24
"""Share of campaigns without two jobs of the same name, as when many inputs are screened."""


class Choices(NamedTuple):
    """Probabilities of free choices of campaigns.

    Attributes
    ----------
    in_longpar
        That other work goes to the queue of long jobs.
    """

    in_debug: float
    in_longpar: float
    own_limit: float


SERIES_CHOICES = Choices(0.1, 0.052, 0.08)
SCREENING_CHOICES = Choices(0.5, 0.02, 0.4)

SAME_KIND = 0.8
"""Probability that another project is of the user's main kind (assumed)."""

SYLLABLES = tuple(a + b for a in "bdfgklmnprstv" for b in "ao")
WORDS = ("run", "job", "sim", "test", "case", "md", "mesh", "scan", "fit", "opt")
"""Parts of names."""


def _queue(draws: Draws, stratum: Stratum, choices: Choices) -> tuple[int, int]:
    """Draw the queue and the requested time of a campaign with run times of a stratum."""
    # A careful user requests the smallest sufficient round time.
    own = next((limit for limit in OWN_LIMITS if limit > stratum.high), OWN_LIMITS[-1])
    if stratum.limit is not None:
        return DEBUG if stratum.limit == LIMITS[DEBUG] else PARALLEL, stratum.limit
    sets_limit = draws.chance(choices.own_limit)
    if stratum.high > LIMITS[PARALLEL]:
        return LONGPAR, own if sets_limit else LIMITS[LONGPAR]
    if stratum.high <= LIMITS[DEBUG] and draws.chance(choices.in_debug):
        return DEBUG, LIMITS[DEBUG]
    if draws.chance(choices.in_longpar):
        return LONGPAR, LIMITS[LONGPAR]
    return PARALLEL, own if sets_limit and own < LIMITS[PARALLEL] else LIMITS[PARALLEL]


def _habits(_shape: Shape, draws: Draws) -> Habits:
    names = _Names(draws)

    def terms(draws: Draws, stratum: Stratum) -> Terms:
        screens = draws.chance(SCREENING)
        choices = SCREENING_CHOICES if screens else SERIES_CHOICES
        chosen = partial(names.of_campaign, draws, screens=screens)
        return Terms(*_queue(draws, stratum, choices), chosen)

    return terms


class _Names:
    """Names of the jobs of a project."""

    def __init__(self, draws: Draws) -> None:
        self._numbers_jobs = draws.chance(NUMBERED)
        syllables = "".join(SYLLABLES[draws.below(len(SYLLABLES))] for _ in range(2))
        self._stem = self._series = syllables + WORDS[draws.below(len(WORDS))]
        self._words = self._runs = 0

    def of_campaign(self, draws: Draws, *, screens: bool) -> Callable[[], str]:
        """Return the function that names the jobs of a campaign."""
        if screens:
            return self._new_word
        if draws.chance(NEW_SERIES):
            self._series = self._new_word()
        return self._next_of_series

    def _next_of_series(self) -> str:
        """Return the name of the next job: the same as before, or with the next number."""
        if not self._numbers_jobs:
            return self._series
        self._runs += 1
        return f"{self._series}{self._runs}"

    def _new_word(self) -> str:
        """Return an unused name that does not end in a digit."""
        rest, letters = self._words, ""
        self._words += 1
        for _ in range(4):
            rest, letter = divmod(rest, 26)
            letters = chr(ord("a") + letter) + letters
        return self._stem + letters


FIGURES = Figures(
    source="eurora-like",
    computer="like Eurora: 64 nodes of 16 cores, half with 2 GPUs, half with 2 MICs",
    time_zone="Europe/Rome",
    # Monday, 31 March 2014, 0:00. From March 2014 to August 2015 (thesis, 2.1.4); the day is
    # assumed.
    began=1_396_216_800,
    jobs=JOBS,
    kinds=KINDS,
    habits=_habits,
    numbers_projects=True,
    same_kind=SAME_KIND,
    months=MONTHS,
    users=360,  # thesis, section 4.2
    users_with_one_job=29,  # 8 %: 92 % submitted more than one job (thesis, section 4.2)
    early_users=40,
    groups=45,
    last_entry=0.9,
    another_project=0.65,
    most_projects=8,
    at_once=12,
    burst=0.25,
    gaps=Weighted((0.2, 1.0, 5.0, 30.0), (1.0, 1.0, 1.0, 1.0)),
    spreads=Weighted((0.0, 0.02, 0.1, 0.4), (0.02, 0.13, 0.6, 0.25)),
    mixed=0.3,
    most_trials=2,
    trial_jobs=(0.2, 1.0),
    trial_reserve=1,
)
"""Jobs, months and users as above; the rest is assumed. Gaps are those of scripts and by hand."""


@builtin(
    "trace_source",
    "eurora-like",
    WindowParams,
    summary="synthetic: stands in for the log of Eurora, with cores, memory, GPUs and MICs",
)
def make_eurora_like(params: WindowParams, context: Context) -> SyntheticSource:
    """Make the source."""
    return campaign_source(FIGURES, params, context)


KIT_JOBS = 114_355
"""Thesis, section 2.1.4; header."""
KIT_MONTHS = (
    (30, 3_900),  # June 2016
    (31, 4_600),
    (31, 4_300),
    (30, 5_200),
    (31, 5_900),
    (30, 6_500),
    (31, 4_800),
    (31, 6_100),  # January 2017
    (28, 6_400),
    (31, 7_600),
    (30, 6_200),
    (31, 7_100),
    (30, 6_600),
    (31, 6_900),
    (31, 5_400),
    (30, 6_300),
    (31, 7_200),
    (30, 7_400),
    (31, 5_500),
    (4, 455),  # until 4 January 2018
)
"""From 1 June 2016 to 4 January 2018 (header); the shares of the months are assumed."""

KIT_RUN_TIMES = (
    Stratum(10_871, 1, 6, 12.0),
    Stratum(12_018, 6, 20, 12.0),
    Stratum(10_947, 20, 60, 12.0),
    Stratum(11_287, 60, 180, 12.0),
    Stratum(10_881, 180, 600, 12.0),
    Stratum(9_627, 600, 1_800, 12.0),
    Stratum(9_040, 1_800, 3_600, 12.0),
    Stratum(200, 600, 600, 6.0, 600),
    Stratum(900, 1_800, 1_800, 6.0, 1_800),
    Stratum(2_275, 3_600, 5_400, 6.0),
    Stratum(2_051, 5_400, 7_200, 6.0),
    Stratum(3_013, 7_200, 10_800, 6.0),
    Stratum(2_401, 10_800, 14_400, 6.0),
    Stratum(1_906, 14_400, 18_000, 6.0),
    Stratum(500, 3_600, 3_600, 3.0, 3_600),
    Stratum(350, 7_200, 7_200, 3.0, 7_200),
    Stratum(300, 14_400, 14_400, 3.0, 14_400),
    Stratum(6_754, 18_000, 28_800, 5.0),
    Stratum(4_657, 28_800, 43_200, 5.0),
    Stratum(3_198, 43_200, 64_800, 5.0),
    Stratum(2_284, 64_800, 86_400, 5.0),
    Stratum(1_811, 86_400, 129_600, 5.0),
    Stratum(863, 129_600, 172_800, 5.0),
    Stratum(821, 172_800, 259_200, 5.0),
    Stratum(500, 28_800, 28_800, 2.0, 28_800),
    Stratum(600, 43_200, 43_200, 2.0, 43_200),
    Stratum(2_200, 86_400, 86_400, 2.0, 86_400),
    Stratum(800, 172_800, 172_800, 2.0, 172_800),
    Stratum(1_300, 259_200, 259_200, 2.0, 259_200),
)
"""Run times: 66.26 % of the jobs below 1 h, 11.19 % from 1 to 5 h, 22.55 % above, with 2.0, 5.9 and
92.1 % of 562,772 hours (thesis, section 2.1.4: 2.04, 5.88, 92.08). The steps between, how many jobs
make a campaign, how many end at their limit, and that none runs for more than three days, are
assumed."""


DEFAULT, VISU = 1, 2
"""The queues by number: 1,152 nodes of 20 cores, 21 of 48 (header)."""
NODE_CORES, NODE_MEM_GIB, MEM_GIB_OF_CORE = 20, 56, 2
"""A whole node's cores, and what memory jobs ask for: a node's or a core's share (assumed)."""

_NODES = (
    (1, 24.0), (2, 13.0), (3, 3.0), (4, 13.0), (5, 3.0), (6, 2.0), (8, 10.0), (10, 4.0),
    (12, 2.0), (16, 7.0), (20, 3.0), (25, 1.0), (32, 4.0), (50, 1.2), (64, 2.0), (100, 0.5),
    (128, 0.8), (256, 0.2), (400, 0.05),
)  # fmt: skip
_PROCESSORS = ((1, 2.0), (4, 0.7), (8, 0.8), (10, 0.5), (16, 1.2), (24, 0.3), (32, 0.6), (48, 0.2),
    (64, 0.6), (96, 0.1), (128, 0.3), (256, 0.2), (512, 0.1))  # fmt: skip
_FAT = ((1, 24, 240, 0.6), (1, 48, 480, 0.6), (2, 48, 480, 0.2))


def _largest_part(processors: int) -> int:
    """Return the largest number of cores that divides a request and fits on a node."""
    return max(cores for cores in range(1, NODE_CORES + 1) if processors % cores == 0)


def _kit_shape(units: int, cores: int, mem_gib: int, weight: float, queue: int = DEFAULT) -> Shape:
    return Shape({"core": cores, "mem": mem_gib * GIB}, (units,), weight, queue)


_PARTS = [(n, _largest_part(n), weight) for n, weight in _PROCESSORS]
KIT_SHAPES = (
    *(_kit_shape(nodes, NODE_CORES, NODE_MEM_GIB, weight) for nodes, weight in _NODES),
    *(
        _kit_shape(n // cores, cores, cores * MEM_GIB_OF_CORE, weight)
        for n, cores, weight in _PARTS
    ),
    *(_kit_shape(*fat, VISU) for fat in _FAT),
)
"""Mostly whole nodes; other numbers of processors in units that divide them, as thesis and PCP'21
split them; a few fat nodes. How common each is, is assumed."""


KIT_LIMITS = (
    *(count * MINUTE for count in (10, 30)),
    *(count * HOUR for count in (1, 2, 4, 6, 8, 12, 18, 24, 36, 48, 72)),
)
"""Requested times of users (assumed)."""

MOST_STEPS = 4
"""Maximum number of limits above the smallest sufficient one (assumed)."""


def _kit_habits(shape: Shape, draws: Draws) -> Habits:
    steps = draws.below(MOST_STEPS + 1)

    def terms(_draws: Draws, stratum: Stratum) -> Terms:
        limit = stratum.limit
        if limit is None:
            enough = next(k for k, longest in enumerate(KIT_LIMITS) if longest >= stratum.high)
            limit = KIT_LIMITS[min(enough + steps, len(KIT_LIMITS) - 1)]
        return Terms(shape.queue, limit, lambda: lambda: None)

    return terms


KIT_FIGURES = Figures(
    source="kit-like",
    computer="like KIT ForHLR II: 1,152 nodes of 20 cores, 21 of 48",
    time_zone="Europe/Berlin",
    # Wednesday, 1 June 2016, 0:00. The header has the first job at 2:12 of that day.
    began=1_464_732_000,
    jobs=KIT_JOBS,
    kinds=[Kind(KIT_RUN_TIMES, KIT_SHAPES)],
    habits=_kit_habits,
    numbers_projects=False,
    same_kind=1.0,
    months=KIT_MONTHS,
    users=170,
    users_with_one_job=10,
    early_users=50,
    groups=40,
    last_entry=0.9,
    another_project=0.6,
    most_projects=6,
    at_once=25,
    burst=0.4,
    gaps=Weighted((1.0, 10.0, 60.0), (1.0, 1.0, 1.0)),
    spreads=Weighted((0.02, 0.1, 0.4), (0.2, 0.4, 0.4)),
    mixed=0.35,
    most_trials=1,
    trial_jobs=(0.0, 1.0),
    trial_reserve=0,
)
"""Jobs and months as above; the rest is assumed."""


@builtin(
    "trace_source",
    "kit-like",
    WindowParams,
    summary="synthetic: stands in for the log of KIT's ForHLR II, most jobs on whole nodes",
)
def make_kit_like(params: WindowParams, context: Context) -> SyntheticSource:
    """Make the source."""
    return campaign_source(KIT_FIGURES, params, context)
