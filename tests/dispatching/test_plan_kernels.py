"""Plans on nodes: what they say is free, where they find room, and how they are compiled."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core import plan_kernels
from hpcsched.dispatching.heuristic.allocators import FirstFit, KeepScarce
from hpcsched.dispatching.heuristic.node_profile import NodeProfile
from hpcsched.dispatching.heuristic.releases import available_at, releases_of, units_gained
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.shapes import shape_of
from hpcsched.system.allocation import SlotAllocation, SlotMap
from hpcsched.system.request import Request
from hpcsched.system.space import held_amounts
from hpcsched.system.system import IntArray, NodeGroup, System
from tests.builders import alike, traced
from tests.dispatching.plans import (
    Action,
    Round,
    Seconds,
    busy_rounds,
    idle_problem,
    rounds,
    seconds_of,
    segments_of,
    uncompiled,
    waiting,
)
from tests.strategies import tries
from tests.workload import swf_files


def check_step(
    action: Action, job: WaitingJob, profile: NodeProfile, seconds: Seconds, given: Round
) -> None:
    """Ask a profile for something, and check what it says and what is free afterwards."""
    fits = seconds.fits(job)
    assert profile.fits(job) is fits
    if action == "start":
        expected = (
            seconds.choice(job, seconds.now, given.allocator, given.problem) if fits else None
        )
        allocation = profile.start_now(job)
        assert allocation == expected
        if allocation is not None:
            end = seconds.now + job.predicted_run_time
            seconds.take(job.request, allocation, seconds.now, end)
    elif action == "reserve":
        start = seconds.earliest(job)
        assert start is not None
        assert earliest(profile, job) == start
        found = profile.reserve(job)
        assert found == start
        assert type(found) is int  # compiled or not: it gets into reasons, which take no other
        held = (seconds.free - seconds_of(profile, seconds))[start - seconds.now]
        allocation = seconds.allocation_of(job, start, held)
        assert allocation.nodes == seconds.choice(job, start, KeepScarce()).nodes
        seconds.take(job.request, allocation, start, start + job.predicted_run_time)
    assert np.array_equal(seconds_of(profile, seconds), seconds.free)


def earliest(profile: NodeProfile, job: WaitingJob) -> int:
    """Return when a job could start, as it is found for jobs of any number of units."""
    count = int(profile._state[0])
    shape = profile._workspace.shape(job)
    return plan_kernels.earliest(
        profile._now,
        job.units,
        job.predicted_run_time,
        count,
        *profile._segments,
        *shape,
        profile._capacity,
    )


@tries(200)
@given(given_round=rounds(), data=st.data())
def test_a_plan_against_one_second_by_second(given_round: Round, data: st.DataObject) -> None:
    """A profile finds room where, and only where, a naive plan finds it, and takes it from there.

    It says that a job fits exactly if each unit has room on one node from now to the predicted end,
    and starts it exactly then, where the allocator puts it. Reservations begin in the first second
    from which on the units have room, and are where `KeepScarce` puts them. After each step exactly
    one allocation of the job is taken, for its predicted run time.
    """
    workspace, seconds = given_round.open_workspace()
    profile = NodeProfile(workspace)
    assert np.array_equal(seconds_of(profile, seconds), seconds.free)
    for action, job in given_round.steps:
        check_step(action, job, profile, seconds, given_round)
    begin = data.draw(st.integers(seconds.now, seconds.now + len(seconds.free) - 1))
    end = data.draw(st.integers(begin + 1, seconds.now + len(seconds.free)))
    assert np.array_equal(profile._lowest(begin, end), seconds.lowest(begin, end))


def test_a_plan_against_one_second_by_second_where_much_is_planned() -> None:
    """The same where rounds are larger."""
    for given_round in busy_rounds(seed=1, count=100):
        workspace, seconds = given_round.open_workspace()
        profile = NodeProfile(workspace)
        for action, job in given_round.steps:
            check_step(action, job, profile, seconds, given_round)


@tries(100)
@given(given_round=rounds())
def test_starts_take_room_in_the_workspace_too(given_round: Round) -> None:
    """What is free now in the workspace is less what `start_now` took, and not what is reserved."""
    workspace, _ = given_round.open_workspace()
    profile = NodeProfile(workspace)
    for action, job in given_round.steps:
        free, started = workspace.space.available.copy(), list(workspace.started)
        allocation = None
        if action == "start":
            allocation = profile.start_now(job)
        elif action == "reserve":
            profile.reserve(job)
        if allocation is not None:
            nodes, amounts = held_amounts(given_round.problem.system, allocation, job.request)
            free[:, nodes] -= amounts
            started.append((job, allocation))
        assert np.array_equal(workspace.space.available, free)
        assert workspace.started == started


def units_at(seconds: Seconds, request: Request, time: int) -> int:
    """Return how many units of a request the system can hold in a second."""
    return sum(seconds.units_during(request, time, time + 1))


def impossible(job: WaitingJob, system: System, fault: str) -> WaitingJob:
    """Return a job like another, but for one fault because of which it never fits."""
    seconds = Seconds(system, 0, 0)
    asked = job.request
    match fault:
        case "units":
            asked = asked._replace(units=units_at(seconds, asked, 0) + 1)
        case "request":
            most = np.array(seconds.capacity).max(axis=0)
            larger = [int(amount) + 1 if k == 0 else 0 for k, amount in enumerate(most)]
            asked = asked._replace(unit_request=tuple(larger), units=1)
        case _:
            asked = asked._replace(node_groups=frozenset())
    return job._replace(request=asked, units=asked.units, unit_request=asked.unit_request)


@tries(50)
@given(
    given_round=rounds(6).filter(lambda drawn: len(drawn.steps) > 0),
    fault=st.sampled_from(["units", "request", "groups"]),
)
def test_a_job_that_never_fits(given_round: Round, fault: str) -> None:
    """To reserve room for a job that does not fit on the idle system is an error, and does nothing.

    Neither does it fit now, or start.
    """
    workspace, seconds = given_round.open_workspace()
    profile = NodeProfile(workspace)
    for _, fitting in given_round.steps:
        job = impossible(fitting, given_round.problem.system, fault)
        assert seconds.earliest(job) is None
        assert not profile.fits(job)
        assert profile.start_now(job) is None
        with pytest.raises(ValueError, match=f"^job {job.job_id} does not fit on the system$"):
            profile.reserve(job)
        assert np.array_equal(seconds_of(profile, seconds), seconds.free)
        profile.reserve(fitting)
        seconds.free = seconds_of(profile, seconds)


@tries(100)
@given(given_round=rounds(), data=st.data())
def test_releases_against_seconds(given_round: Round, data: st.DataObject) -> None:
    """What is free at a time, and how many units have come to fit by then, is as in a naive plan.

    The units that each single release adds are those that fit more when it alone is given back.
    """
    workspace, seconds = given_round.open_workspace()
    system, available = given_round.problem.system, workspace.space.available
    releases = workspace.releases()
    assert (np.diff(releases.times) >= 0).all()
    queue = [*given_round.problem.queue, *(job.waiting for job in given_round.problem.running)]
    asked = data.draw(st.sampled_from(queue)).request
    gained = units_gained(system, available, releases, shape_of(system, asked))
    assert (gained >= 0).all()
    for t, free in enumerate(seconds.free):
        time = seconds.now + t
        assert np.array_equal(available_at(time, available, releases), free.T)
        by_then = int(gained[releases.times <= time].sum())
        assert units_at(seconds, asked, seconds.now) + by_then == units_at(seconds, asked, time)
    at_present = Seconds(system, seconds.now, 0)
    at_present.free[0] = seconds.free[0]
    before = units_at(at_present, asked, seconds.now)
    for node, amounts, gain in zip(releases.nodes, releases.amounts, gained, strict=True):
        at_present.free[0, node] += amounts
        after = units_at(at_present, asked, seconds.now)
        assert after - before == gain
        before = after


def test_no_releases() -> None:
    """Where nothing runs, nothing comes free."""
    system = alike(2, core=3, gpu=0)
    releases = releases_of(system, [])
    shape = shape_of(system, traced(1, 0, 1, 1, (1, 0)).job.request)
    assert releases.amounts.shape == (0, 2)
    assert units_gained(system, system.capacity.T, releases, shape).tolist() == []
    assert available_at(9, system.capacity.T, releases).tolist() == [[3, 3], [0, 0]]


def test_releases_of_slots() -> None:
    """Slots 1 to 3, of two on each node, are 1 unit on node 0 and 2 on node 1."""
    system = alike(3, core=4)
    job = traced(1, 0, 3, 1, (2,)).job.request
    allocation = SlotAllocation(((1, 4),), SlotMap(np.array([2, 2, 2])))
    times, nodes, amounts = releases_of(system, [(7, allocation, job)])
    assert times.tolist() == [7, 7]
    assert nodes.tolist() == [0, 1]
    assert amounts.tolist() == [[2], [4]]


def answers(given_round: Round) -> tuple[list[object], tuple[IntArray, ...]]:
    """Return what a profile says at each step, and the segments that come of it."""
    workspace, _ = given_round.open_workspace()
    profile = NodeProfile(workspace)
    said: list[object] = []
    for action, job in given_round.steps:
        said += [profile.fits(job), earliest(profile, job)]
        if action == "start":
            said.append(profile.start_now(job))
        elif action == "reserve":
            said.append(profile.reserve(job))
    return said, segments_of(profile)


@tries(40)
@given(given_round=rounds())
def test_compiled_functions_do_what_they_say(given_round: Round) -> None:
    """Compiled or not, functions give the same answers and make the same segments."""
    said, segments = answers(given_round)
    with uncompiled():
        plainly_said, plain_segments = answers(given_round)
    assert said == plainly_said
    for found, plain in zip(segments, plain_segments, strict=True):
        assert np.array_equal(found, plain)


def reservations(system: System, jobs: list[WaitingJob]) -> Round:
    """Return a round in which all jobs get reservations, in turn."""
    problem = idle_problem(system, tuple(jobs), now=5)
    return Round(problem, FirstFit(), (), tuple(("reserve", job) for job in jobs))


def long_queue() -> Round:
    """Return a round with reservations for many unlike jobs on three nodes."""
    system = System(
        (NodeGroup("a", 2, {"core": 4, "mem": 3}), NodeGroup("b", 1, {"core": 3, "gpu": 1}))
    )
    draws = random.Random(1)
    requests = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1)]
    jobs = []
    for number in range(60):
        request = draws.choice(requests)
        units = 1 if request[2] else draws.randint(1, 2)
        exclusive = draws.random() < 0.2
        job = traced(number, 0, units, draws.randint(1, 6), request, exclusive=exclusive)
        jobs.append(waiting(system, job))
    return reservations(system, jobs)


def wide_jobs() -> Round:
    """Return a round with reservations that take all of many nodes at once."""
    system = alike(30, core=2)
    jobs = [traced(number, 0, units, 2) for number, units in enumerate([30, 59, 60, 1, 31, 60])]
    return reservations(system, [waiting(system, job) for job in jobs])


@pytest.mark.parametrize("how", [nullcontext, uncompiled])
@pytest.mark.parametrize("drawn", [long_queue, wide_jobs])
def test_a_plan_outgrows_its_arrays(
    drawn: Callable[[], Round], how: Callable[[], AbstractContextManager[None]]
) -> None:
    """Plans of many more segments than there is room for at first stay right."""
    given_round = drawn()
    workspace, seconds = given_round.open_workspace()
    with how():
        profile = NodeProfile(workspace)
        size = len(profile._start)
        for action, job in given_round.steps:
            check_step(action, job, profile, seconds, given_round)
    assert profile._state[0] > 1.5 * size


def python(code: str, *, cwd: Path, **environment: str) -> str:
    """Return what a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def nowhere(folder: Path) -> dict[str, str]:
    """Return an environment in which there is no place for a cache of modules in a folder.

    Folders cannot be made in what is a file, whoever one is.
    """
    (folder / "file").touch()
    (folder / "__pycache__").touch()
    inside = str(folder / "file" / "folder")
    return dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"), inside)


DOUBLING = """\
from hpcsched.dispatching.core.compiled import compiled

@compiled()
def _twice(number):
    return 2 * number

@compiled()
def four_times(number):
    return _twice(_twice(number))
"""


def test_without_a_place_for_a_cache(tmp_path: Path) -> None:
    """Where numba refuses to keep what it compiles, functions are compiled all the same."""
    environment = nowhere(tmp_path)
    (tmp_path / "doubling.py").write_text(DOUBLING)
    code = (
        "import numba, doubling\n"
        "try: numba.njit(cache=True)(doubling.four_times.py_func)\n"
        "except RuntimeError as error: print(error)\n"
        "print(doubling.four_times(3), doubling.four_times.machine.signatures)\n"
    )
    refused, done = python(code, cwd=tmp_path, **environment).splitlines()
    assert "no locator available" in refused
    assert done == "12 [(int64,)]"


@pytest.mark.slow
def test_plans_without_a_place_for_a_cache(tmp_path: Path) -> None:
    """The same of plans."""
    environment = nowhere(tmp_path)
    shutil.copy(plan_kernels.__file__, tmp_path)
    code = "import plan_kernels; print(plan_kernels.earliest.machine.stats.cache_path)"
    assert python(code, cwd=tmp_path, **environment) == "None\n"


def test_plans_where_the_chosen_cache_cannot_be_written(tmp_path: Path) -> None:
    """Where the folder of NUMBA_CACHE_DIR cannot be made, plans are kept elsewhere."""
    (tmp_path / "file").touch()
    code = "from hpcsched.dispatching.core.plan_kernels import NEVER; print(NEVER)"
    printed = python(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "file" / "folder"))
    assert printed == f"{plan_kernels.NEVER}\n"


SCENARIO = """\
name: %s
system: {groups: [{name: node, count: 4, resources: {core: 2}}]}
trace: {source: swf, path: log.swf}
dispatcher: %s
"""


def test_a_run_that_needs_no_compiled_code_does_not_import_numba(tmp_path: Path) -> None:
    """Where all jobs ask alike, runs do without numba, which takes time to import."""
    swf_files.write(tmp_path, (swf_files.record(n, n, units=1 + n % 5) for n in range(1, 20)))
    code = "import sys; from hpcsched import cli\n"
    for name in ("easy", "list"):
        (tmp_path / f"{name}.yaml").write_text(SCENARIO % (name, name))
        code += f"code = cli.main(['run', '{name}.yaml']); print(code, 'numba' in sys.modules)\n"
    lines = python(code, cwd=tmp_path).splitlines()
    assert [line for line in lines if line.endswith(("True", "False"))] == ["0 False"] * 2


def test_help_does_not_import_numba(tmp_path: Path) -> None:
    """Neither does `hpcsched --help`."""
    code = (
        "import sys; from hpcsched import cli; cli.main(['--help']); print('numba' in sys.modules)"
    )
    assert python(code, cwd=tmp_path).splitlines()[-1] == "False"
