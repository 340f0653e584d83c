"""Systems, jobs and problems from short texts."""

import pytest

from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.testing import make_jobs, make_problem, make_system
from hpcsched.workload.job import Job, TracedJob

RUNNING_AND_WAITING = """
    job_id  submit_time  start_time  units  requested_time
    1       0            0           2      60
    2       3            5           1      20
    3       10           -           4      30
    4       20           -           1      15
"""


def test_system() -> None:
    """A system is one group, of one core each unless resources are given."""
    assert make_system(3).totals == (3,)
    assert make_system(2, core=4, mem=8).resource_types == ("core", "mem")


def test_jobs_with_defaults() -> None:
    """A job number and one of the times are enough."""
    jobs = make_jobs(make_system(), "job_id run_time\n7 60\n")
    assert jobs == [TracedJob(Job(7, 0, Request(1, (1,)), 60), 60)]


def test_jobs_with_everything() -> None:
    """Columns come in any order, resource types are columns, and a dash is not given."""
    jobs = make_jobs(
        System((NodeGroup("cpu", 1, {"core": 8}), NodeGroup("gpu", 1, {"core": 8, "gpu": 2}))),
        """
        gpu  core  job_id  submit_time  units  run_time  requested_time  node_groups  exclusive
        1    2     5       10           3      60        100             cpu,gpu      yes
        -    1     6       11           -      -         30              -            no
        """,
    )
    groups = frozenset({"cpu", "gpu"})
    assert jobs == [
        TracedJob(Job(5, 10, Request(3, (2, 1), groups, exclusive=True), 100), 60),
        TracedJob(Job(6, 11, Request(1, (1, 0)), 30), 30),
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("job_id runtime\n1 60\n", "unknown column 'runtime'; there are: job_id, run_time"),
        ("job_id run_time\n1\n", "expected 2 values, found '1'"),
        ("job_id units\n1 2\n", "expected a job_id, and a run_time or a requested_time: '1 2'"),
        ("job_id run_time\n1 long\n", "invalid literal"),
    ],
)
def test_tables_that_cannot_be_read(table: str, message: str) -> None:
    """What is wrong with a table is said."""
    with pytest.raises(ValueError, match=message):
        make_jobs(make_system(), table)


@pytest.mark.parametrize("aggregated", [False, True])
def test_problem(aggregated: bool) -> None:
    """Jobs with a start run on the lowest nodes, by predicted end; the others wait."""
    problem = make_problem(make_system(4), RUNNING_AND_WAITING, aggregated=aggregated)
    assert problem.now == 20
    assert [job.job_id for job in problem.queue] == [3, 4]
    assert problem.predicted_run_times.tolist() == [30, 15]
    assert [(job.job_id, job.predicted_end_time) for job in problem.running] == [(2, 25), (1, 60)]
    assert [job.allocation.nodes for job in problem.running] == [(2,), (0, 1)]
    assert problem.availability[:, 0].tolist() == [0, 0, 0, 1]
    assert (problem.free_units is not None) == aggregated


def test_problem_at_a_later_time() -> None:
    """A running job that has outlived its prediction ends one second from now."""
    problem = make_problem(make_system(4), RUNNING_AND_WAITING, now=40)
    assert [(job.job_id, job.predicted_end_time) for job in problem.running] == [(2, 41), (1, 60)]


def test_predictions_of_a_problem() -> None:
    """A prediction may differ from what was requested."""
    problem = make_problem(
        make_system(), "job_id requested_time predicted_run_time\n1 60 7\n2 30 -\n"
    )
    assert problem.predicted_run_times.tolist() == [7, 30]


def test_problem_without_room() -> None:
    """Running jobs have to fit beside each other."""
    with pytest.raises(ValueError, match="job 2 has no room"):
        make_problem(make_system(2), RUNNING_AND_WAITING)


def test_aggregated_needs_equal_requests() -> None:
    """Slots are for jobs that all ask for the same."""
    with pytest.raises(ValueError, match="all ask for the same"):
        make_problem(make_system(), "job_id core run_time\n1 1 5\n2 2 5\n", aggregated=True)
