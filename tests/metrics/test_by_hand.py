"""Every figure of a run of three jobs by hand, and those of shared resources and outages."""

import numpy as np
import pytest

from hpcsched.dispatching import objectives
from hpcsched.metrics.capacity import loss_of_capacity_by_resource, utilization_by_resource
from hpcsched.metrics.metric import DownAmounts, RunTables, whole_column
from hpcsched.parameters import Params
from hpcsched.runs.resource_records import shared_resource_figures
from tests.metrics.tables import MemoryTable, jobs_table

NONE = Params()

# Job 1 came at 2, waited 0 s, ran 20 s on 2 cores; job 2 came at 4, waited 18 s, ran 5 s on 4 cores
# and 1 GPU; job 3 came at 12, waited 15 s, ran 0 s on 1 core. The last end is 27.
JOBS = MemoryTable(
    {
        "submit_time": [2, 4, 12],
        "start_time": [2, 22, 27],
        "end_time": [22, 27, 27],
        "run_time": [20, 5, 0],
        "units": [2, 4, 1],
        "unit_request.core": [1, 1, 1],
        "unit_request.gpu": [0, 1, 0],
        "demand": [2, 4, 1],
    },
    batch=2,
)
# At 2 nothing waits once it is carried out. The round at 4 takes 3 s, in which 6 core seconds are
# lost; from 7 to 12 then 4 wait and 2 are free, 10 more. From 12 to 22, 5 wait and 2 are free: 20.
ROUNDS = MemoryTable(
    {
        "now": [2, 4, 12, 22],
        "latency": [0, 3, 0, 0],
        "waiting_amounts.core": [0, 4, 5, 1],
        "free_amounts.core": [2, 2, 2, 0],
        "lost_amounts.core": [0.0, 6.0, 0.0, 0.0],
        "waiting_amounts.gpu": [0, 4, 4, 0],
        "free_amounts.gpu": [5, 5, 5, 1],
        "lost_amounts.gpu": [0.0, 0.0, 0.0, 0.0],
    },
    batch=3,
)
RAN = "all jobs that ran"
WINDOW = "all jobs that ran, first submission to last end"


def run(**down: DownAmounts) -> RunTables:
    """Return the run on 4 cores and 5 GPUs."""
    return RunTables(JOBS, ROUNDS, {"core": 4, "gpu": 5}, down)


@pytest.mark.parametrize(
    ("made", "unit", "population", "value"),
    [
        (objectives.WaitTime, "s", RAN, (0 + 18 + 15) / 3),
        (objectives.AF, "s", RAN, (20 + 23 + 15) / 3),
        # The job of no run time is none of these two.
        (
            objectives.Slowdown,
            "",
            "jobs that ran for at least 1 s",
            (20 / 20 + 23 / 5) / 2,
        ),
        # The bound is 10 s unless given: 20/20, 23/10 and 15/10.
        (
            lambda: objectives.BoundedSlowdown.build(objectives.TauParams(), None),
            "",
            RAN,
            (1 + 2.3 + 1.5) / 3,
        ),
        # Areas 2·20 = 40, 4·5 = 20 and 0.
        (
            objectives.AWF,
            "s",
            RAN,
            (40 * 20 + 20 * 23) / 60,
        ),
        # α is 2 unless given: 3/4 · Σ r·(F⁴ − Q⁴) / Σ r·(F³ − Q³).
        (
            lambda: objectives.PSF.build(objectives.AlphaParams(), None),
            "s",
            RAN,
            0.75 * (2 * 20**4 + 4 * (23**4 - 18**4)) / (2 * 20**3 + 4 * (23**3 - 18**3)),
        ),
        # Cores: (2·20 + 4·5) of 4·25; GPUs are used less: 4·5 of 5·25.
        (objectives.Utilization, "", WINDOW, 60 / 100),
        (objectives.Makespan, "s", WINDOW, 27 - 2),
        # Of the type that is used most: 6 + 10 + 20 of the 100 core seconds.
        (
            objectives.LossOfCapacity,
            "",
            f"{WINDOW}; all jobs while they waited",
            36 / 100,
        ),
    ],
)
def test_figures(made, unit: str, population: str, value: float) -> None:
    """Each has its unit, its population and its value."""
    figure = made()
    assert (figure.unit, figure.population) == (unit, population)
    assert figure.measure(run()) == pytest.approx(value, rel=1e-14)


def test_by_resource() -> None:
    """The GPUs: 20 used of 125; 4 wait beside 5 free ones, from 7 to 12 and from 12 to 22."""
    assert utilization_by_resource(run()) == {"core": 60 / 100, "gpu": 20 / 125}
    assert loss_of_capacity_by_resource(run()) == {"core": 36 / 100, "gpu": 60 / 125}


def test_out_of_service() -> None:
    """What is down counts as far as it lies between the first submission, 2, and the last end, 27.

    2 cores from 0 to 12 are 20 core seconds of it, 1 from 20 to 40 is 7; what is over before 2 or
    begins at 27 is none: 100 − 27 = 73 are left. All 5 GPUs are down from 0 to 30: there are none.
    """
    cores = DownAmounts(np.array([0, 20, 0, 27]), np.array([12, 40, 1, 30]), np.array([2, 1, 4, 4]))
    gpus = DownAmounts(np.array([0]), np.array([30]), np.array([5]))
    assert cores.within(2, 27) == 27
    assert cores.within(11, 12) == 2  # a single second counts
    assert utilization_by_resource(run(core=cores, gpu=gpus)) == {"core": 60 / 73}
    assert loss_of_capacity_by_resource(run(core=cores, gpu=gpus)) == {"core": 36 / 73}
    # One GPU second that is left is enough for a share.
    assert utilization_by_resource(RunTables(JOBS, ROUNDS, {"core": 1}, {"core": DownAmounts(
        np.array([2]), np.array([26]), np.array([1])
    )})) == {"core": 60.0}  # fmt: skip


def test_a_shared_resource() -> None:
    """3 are drawn for 4 s, 8 for 2 s, 1 for 10 s; 5 are offered, then 6, then none.

    Energy 12 + 16 + 10 = 38 over 16 s. Over the cap: 8 − 6 = 2 for 2 s, and 1 for 10 s.
    """
    found = shared_resource_figures(
        np.array([0, 4, 6, 16]), np.array([3, 8, 1, 99]), np.array([5, 6, 0, 0])
    )
    assert found == (38, 38 / 16, 8, 12, 14, 2)
    assert shared_resource_figures(np.array([7]), np.array([1]), np.array([0])) == (
        0,
        None,
        0,
        0,
        0,
        0,
    )
    nothing = np.empty(0, np.int64)
    assert shared_resource_figures(nothing, nothing, nothing) == (0, None, 0, 0, 0, 0)


def test_a_whole_column() -> None:
    """All batches one after the other; whole numbers also where there is no batch."""
    assert whole_column(JOBS, "end_time").tolist() == [22, 27, 27]
    nothing = whole_column(jobs_table([]), "end_time")
    assert (len(nothing), nothing.dtype) == (0, np.int64)
