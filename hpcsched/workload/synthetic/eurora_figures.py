"""Figures of the Eurora workload: published ones, and assumptions.

Sources: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020 ("thesis"), sections
2.1.4, 4.1, 4.2 and 5.3; Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi, Bridi, *Data-driven job
dispatching in HPC systems*, MOD 2017 ("MOD"), sections 2 and 5.1.
"""

from typing import NamedTuple

from hpcsched.workload.synthetic.cycles import Month
from hpcsched.workload.synthetic.quantiles import Stratum

MINUTE, HOUR, GIB = 60, 3600, 1024**3

JOBS = 404_866
"""Thesis, table 2.1."""
USERS = 360
"""Thesis, section 4.2."""
USERS_WITH_ONE_JOB = 29
"""8 % of the users: 92 % submitted more than one job (thesis, section 4.2)."""

BEGAN = 1_396_216_800
"""Monday, 31 March 2014, 0:00 in Rome. From March 2014 to August 2015 (thesis, 2.1.4); the day is
assumed."""
WEEKDAY = 0
MONTHS = (
    Month(1, 60),  # March 2014
    Month(30, 2_890),
    Month(31, 5_480),
    Month(30, 24_860),
    Month(31, 31_470),
    Month(31, 6_210),  # August
    Month(30, 35_120),
    Month(31, 43_910),
    Month(30, 47_230),
    Month(31, 29_840),
    Month(31, 38_450),  # January 2015
    Month(28, 45_380),
    Month(31, 41_020),
    Month(30, 35_041),
    Month(31, 8_730),
    Month(30, 5_960),
    Month(31, 2_170),
    Month(30, 1_045),  # August, without its last day
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


class Shape(NamedTuple):
    """Request of a unit with the possible numbers of units, and its weight (assumed)."""

    core: int
    mem_gib: int
    accelerators: int
    units: tuple[int, ...]
    weight: float


class Kind(NamedTuple):
    """Class of jobs by the resources they need; `accelerator` is the type, if any."""

    name: str
    accelerator: str | None
    shapes: tuple[Shape, ...]
    run_times: tuple[Stratum, ...]
    projects: float
    """The weight of this kind when a user takes up a project (assumed)."""


KINDS = (
    Kind(
        "cpu",
        None,
        (
            Shape(1, 1, 0, (1,), 2.0),
            Shape(4, 3, 0, (1, 2), 1.0),
            Shape(8, 6, 0, (1, 2, 4), 1.5),
            Shape(16, 14, 0, (1, 2, 4, 8), 3.5),
            Shape(16, 8, 0, (4, 8), 1.5),
        ),
        _column(_CPU),
        0.46,
    ),
    Kind(
        "mic",
        "mic",
        (Shape(4, 4, 1, (1,), 2.0), Shape(8, 7, 1, (1, 2), 1.0), Shape(16, 14, 2, (1, 2, 4), 1.0)),
        _column(_MIC),
        0.06,
    ),
    Kind(
        "gpu",
        "gpu",
        (
            Shape(1, 2, 1, (1,), 4.0),
            Shape(4, 4, 1, (1,), 3.0),
            Shape(8, 7, 1, (1, 2), 1.5),
            Shape(8, 7, 2, (1, 2, 4), 1.0),
            Shape(16, 14, 2, (2, 4, 8), 1.0),
        ),
        _column(_GPU),
        0.48,
    ),
)
