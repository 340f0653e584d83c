"""Trace source `kit-like`: a stand-in for the log of KIT's ForHLR II where it is not at hand.

As `eurora-like`, with other figures: one class of jobs, most of them on whole nodes,
without names. All else is assumed; `docs/workloads.md` has the list.

Sources: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020 ("thesis"), section 2.1.4;
the header of the log KIT-FH2-2016-1 in the Parallel Workloads Archive ("header").
"""

from pydantic import Field

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
from hpcsched.workload.synthetic.draws import Draws, Weighted
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource

JOBS = 114_355
"""Thesis, section 2.1.4; header."""
MONTHS = (
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

RUN_TIMES = (
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


def _shape(units: int, cores: int, mem_gib: int, weight: float, queue: int = DEFAULT) -> Shape:
    return Shape({"core": cores, "mem": mem_gib * GIB}, (units,), weight, queue)


_PARTS = [(processors, _largest_part(processors), weight) for processors, weight in _PROCESSORS]
SHAPES = (
    *(_shape(nodes, NODE_CORES, NODE_MEM_GIB, weight) for nodes, weight in _NODES),
    *(_shape(n // cores, cores, cores * MEM_GIB_OF_CORE, weight) for n, cores, weight in _PARTS),
    *(_shape(*fat, VISU) for fat in _FAT),
)
"""Mostly whole nodes; other numbers of processors in units that divide them, as thesis and PCP'21
split them; a few fat nodes. How common each is, is assumed."""


LIMITS = (
    *(count * MINUTE for count in (10, 30)),
    *(count * HOUR for count in (1, 2, 4, 6, 8, 12, 18, 24, 36, 48, 72)),
)
"""Requested times of users (assumed)."""

MOST_STEPS = 4
"""Maximum number of limits above the smallest sufficient one (assumed)."""


class KitLikeParams(WindowParams):
    """Parameters of `kit-like`: part of the workload, and its density."""

    jobs: int = Field(
        JOBS, ge=1, le=JOBS, description="Maximum number of jobs of the window; all by default."
    )


def _habits(shape: Shape, draws: Draws) -> Habits:
    steps = draws.below(MOST_STEPS + 1)

    def terms(_draws: Draws, stratum: Stratum) -> Terms:
        limit = stratum.limit
        if limit is None:
            enough = next(k for k, longest in enumerate(LIMITS) if longest >= stratum.high)
            limit = LIMITS[min(enough + steps, len(LIMITS) - 1)]
        return Terms(shape.queue, limit, lambda: lambda: None)

    return terms


FIGURES = Figures(
    source="kit-like",
    computer="like KIT ForHLR II: 1,152 nodes of 20 cores, 21 of 48",
    time_zone="Europe/Berlin",
    # Wednesday, 1 June 2016, 0:00. The header has the first job at 2:12 of that day.
    began=1_464_732_000,
    jobs=JOBS,
    kinds=[Kind(RUN_TIMES, SHAPES)],
    habits=_habits,
    numbers_projects=False,
    same_kind=1.0,
    months=MONTHS,
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
    KitLikeParams,
    summary="synthetic: stands in for the log of KIT's ForHLR II, most jobs on whole nodes",
)
def make_kit_like(params: KitLikeParams, context: Context) -> SyntheticSource:
    """Make the source."""
    return campaign_source(FIGURES, params, context)
