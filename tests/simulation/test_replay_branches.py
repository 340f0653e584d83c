"""Continuations of a replay: as it goes on itself, and with other run times, by hand."""

import numpy as np
import pytest

from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.replaying import read_workload, replay
from hpcsched.scenario import load_scenario
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_branches import LaterJobs, branches
from hpcsched.workload.job_batches import joined_columns
from tests.builders import easy, one_type, parts
from tests.studies.forecast.columns import jobs_of

DISPATCHERS = [
    "easy",
    "{name: easy, order: saf}",
    "{name: list, option: backfill}",
    "{name: joint-now, queue_length: 5}",
    "conservative",
    "{name: easy, order: multifactor}",
]
FEWER = {"{name: joint-now, queue_length: 5}": (110, [41, 100])}
"""Jobs, and the numbers submitted where replays branch, of a dispatcher that takes long."""


LIMITS = (
    "accounts={all: {other_users: true,"
    " limits: {per_user: {core: 16}, running_minutes: {core: 9000}}}}"
)


@pytest.mark.parametrize("limits", [(), (LIMITS,)])
@pytest.mark.parametrize("dispatcher", DISPATCHERS)
def test_the_real_future_is_the_replay(dispatcher: str, limits: tuple[str, ...]) -> None:
    """With real run times and the jobs that follow, jobs start when they do in the replay."""
    jobs, points = FEWER.get(dispatcher, (160, [40, 41, 100, 150]))
    overrides = f"trace.jobs={jobs}", f"dispatcher={dispatcher}", *limits
    scenario = load_scenario("scenarios/small-easy.yaml", overrides)
    workload = read_workload(scenario)
    ran = parts_of(assemble(scenario).build_all(), ())
    columns = joined_columns(tuple(admitted(workload.columns, ran)))
    starts = replay(scenario, workload).start_times
    checked = 0
    for submitted, branch, _ in branches(ran, columns, points):
        waiting = np.sort(branch.present.sequence[branch.present.waits])

        later = LaterJobs([columns.take(np.arange(submitted, len(columns.job_id)))])
        run_times = columns.run_time[branch.present.sequence]
        (found,) = branch.start_times(run_times[np.newaxis], [later], waiting)
        assert found.tolist() == [starts[number] for number in columns.job_id[waiting].tolist()]
        checked += len(waiting)
    assert checked > 8


def test_other_run_times_by_hand() -> None:
    """On 2 cores the first job has both; the second starts when it ends, whenever that is.

    Both are submitted at 0 s and 10 s; the first asks for 100 s. If it takes 30 s, the second
    starts at 30 s; a run time that is over already ends it in the next second.
    """
    columns = jobs_of([(0, 2, 100, 60, 1), (10, 2, 100, 5, 1)])
    ((submitted, branch, ended),) = branches(parts(one_type(2), easy()), columns, [2])
    assert (submitted, branch.now, ended.tolist()) == (2, 10, [])
    assert branch.present.sequence.tolist() == [0, 1]
    assert branch.present.start_time.tolist() == [0, -1]
    assert branch.present.waits.tolist() == [1]
    wanted = np.array([1])
    for run_time, start in ((30, 30), (100, 100), (4, 11)):
        found = branch.start_times(np.array([[run_time, 5]]), [LaterJobs()], wanted)
        assert found.tolist() == [[start]]


def test_later_jobs_by_hand() -> None:
    """A job that may pass another by backfilling does; no batch is read once all have started.

    On 2 cores a job has one core until 100 s and another waits for both. A job of 50 s that comes
    at 20 s fits beside the first and ends before 100 s.
    """
    columns = jobs_of([(0, 1, 100, 100, 1), (10, 2, 100, 5, 1), (20, 1, 50, 50, 1)])
    ((_, branch, _),) = branches(parts(one_type(2), easy()), columns, [2])
    run_times = np.array([[100, 5]])
    assert branch.start_times(run_times, [LaterJobs()], np.array([1])).tolist() == [[100]]
    # The job that comes later is wanted, so that the waiting one is not the only one.
    found = branch.start_times(
        run_times, [LaterJobs([columns.take(np.array([2]))])], np.array([1, 2])
    )
    assert found.tolist() == [[100, 20]]


def test_ended_jobs_come_with_the_branch_that_follows() -> None:
    """The first job ends at 60 s, before the third is submitted."""
    columns = jobs_of([(0, 2, 100, 60, 1), (10, 2, 100, 5, 1), (70, 1, 10, 10, 1)])
    found = list(branches(parts(one_type(2), easy()), columns, [1, 2, 3]))
    assert [one.ended.tolist() for one in found] == [[], [], [0, 1]]
    assert [one.branch.now for one in found] == [0, 10, 70]
