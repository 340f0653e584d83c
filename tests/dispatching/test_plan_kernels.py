"""Plans on nodes: what they say is free, where they find room, and how they are compiled."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hpcsched.dispatching.core import plan_kernels, plan_reservation_kernels
from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.planning.counted_units import counted_units
from hpcsched.dispatching.planning.releases import releases_of
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.allocators import FirstFit, KeepScarce
from hpcsched.system.allocation import SlotAllocation, SlotMap
from hpcsched.system.request import Request
from hpcsched.system.space import allocated_amounts
from hpcsched.system.system import NodeGroup, System
from tests.builders import alike, traced
from tests.dispatching.plans import (
    Action,
    Round,
    RoundPlan,
    Seconds,
    busy_rounds,
    idle_problem,
    rounds,
    seconds_of,
    waiting,
)
from tests.strategies import tries
from tests.workload.readers import swf_files


def check_step(
    action: Action, job: WaitingJob, plan: RoundPlan, seconds: Seconds, given: Round
) -> None:
    """Ask a plan for something, and check what it says and what is free afterwards."""
    fits = seconds.fits(job)
    assert plan.fits(job) is fits
    if action == "start":
        expected = (
            seconds.choice(job, seconds.now, given.allocator, given.problem) if fits else None
        )
        allocation = plan.start_now(job)
        assert allocation == expected
        if allocation is not None:
            end = seconds.now + job.predicted_run_time
            seconds.take(job.request, allocation, seconds.now, end)
    elif action == "reserve":
        start = seconds.earliest(job)
        assert start is not None
        assert plan.earliest(job) == start
        assert plan.reserve(job) == start
        allocated = (seconds.free - seconds_of(plan, seconds))[start - seconds.now]
        allocation = seconds.allocation_of(job, start, allocated)
        assert allocation.nodes == seconds.choice(job, start, KeepScarce()).nodes
        seconds.take(job.request, allocation, start, start + job.predicted_run_time)
    assert np.array_equal(seconds_of(plan, seconds), seconds.free)


@tries(200)
@given(given_round=rounds(), data=st.data())
def test_a_plan_against_one_second_by_second(given_round: Round, data: st.DataObject) -> None:
    """A plan finds room where, and only where, a naive plan finds it, and takes it from there.

    It says that a job fits exactly if each unit has room on one node from now to the predicted end,
    and starts it exactly then, where the allocator puts it. Reservations begin in the first second
    from which on the units have room, and are where `KeepScarce` puts them. After each step exactly
    one allocation of the job is taken, for its predicted run time.
    """
    plan, seconds = given_round.open_plan()
    assert np.array_equal(seconds_of(plan, seconds), seconds.free)
    for action, job in given_round.steps:
        check_step(action, job, plan, seconds, given_round)
    begin = data.draw(st.integers(seconds.now, seconds.now + len(seconds.free) - 1))
    end = data.draw(st.integers(begin + 1, seconds.now + len(seconds.free)))
    expected = seconds.lowest(begin, end)
    lowest = np.empty_like(expected)
    plain(plan_kernels.find_lowest)(begin, end, *plan.segments, lowest)
    assert np.array_equal(lowest, expected)


def test_a_plan_against_one_second_by_second_where_much_is_planned() -> None:
    """The same where rounds are larger."""
    for given_round in busy_rounds(seed=1, count=100):
        plan, seconds = given_round.open_plan()
        for action, job in given_round.steps:
            check_step(action, job, plan, seconds, given_round)


@tries(100)
@given(given_round=rounds())
def test_starts_take_room_that_is_free_now(given_round: Round) -> None:
    """What is free now is less what starts took, and not what is reserved."""
    plan, _ = given_round.open_plan()
    available, rows = plan.filled.tables.available, plan.filled.started
    for action, job in given_round.steps:
        free, started = available.copy(), [plan.queue[row].job_id for row, _ in rows()]
        allocation = None
        if action == "start":
            allocation = plan.start_now(job)
        elif action == "reserve":
            plan.reserve(job)
        if allocation is not None:
            nodes, amounts = allocated_amounts(given_round.problem.system, allocation, job.request)
            free[:, nodes] -= amounts
            started.append(job.job_id)
        assert np.array_equal(available, free)
        assert [plan.queue[row].job_id for row, _ in rows()] == started


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
    """For a job that does not fit on the idle system there is no reservation, and nothing is taken.

    Neither does it fit now, or start.
    """
    problem = given_round.problem
    made = [
        impossible(job, problem.system, fault)._replace(job_id=1000 + job.job_id)
        for _, job in given_round.steps
    ]
    problem = problem._replace(queue=(*problem.queue, *made))
    plan, seconds = given_round._replace(problem=problem).open_plan()
    for job, (_, fitting) in zip(made, given_round.steps, strict=True):
        assert seconds.earliest(job) is None
        assert not plan.fits(job)
        assert plan.start_now(job) is None
        assert plan.reserve(job) == NEVER
        assert np.array_equal(seconds_of(plan, seconds), seconds.free)
        plan.reserve(fitting)
        seconds.free = seconds_of(plan, seconds)


@tries(100)
@given(given_round=rounds(), data=st.data())
def test_counted_units_against_seconds(given_round: Round, data: st.DataObject) -> None:
    """How many units of a job fit now, after each end, and in the end is as in a naive plan."""
    problem, seconds = given_round.problem, given_round.in_seconds()
    jobs = [*problem.queue, *(job.waiting for job in problem.running)]
    countable = [
        job for job in jobs if not (job.request.exclusive or job.request.one_unit_per_node)
    ]
    assume(countable)
    job = data.draw(st.sampled_from(countable))
    counted = counted_units(problem._replace(queue=(job,)), overdue=True)
    assert counted.free == units_at(seconds, job.request, seconds.now)
    for t in range(len(seconds.free)):
        more = sum(units for at, units in counted.allocated if at <= t)
        assert counted.free + more == units_at(seconds, job.request, seconds.now + t)
    assert counted.total == units_at(seconds, job.request, seconds.now + len(seconds.free) - 1)
    assert counted.remaining == sum(job.predicted_end_time - problem.now for job in problem.running)


def test_releases_of_slots() -> None:
    """Slots 1 to 3, of two on each node, are 1 unit on node 0 and 2 on node 1."""
    system = alike(3, core=4)
    job = traced(1, 0, 3, 1, (2,)).job.request
    allocation = SlotAllocation(((1, 4),), SlotMap(np.array([2, 2, 2])))
    times, nodes, amounts = releases_of(system, [(7, allocation, job)])
    assert times.tolist() == [7, 7]
    assert nodes.tolist() == [0, 1]
    assert amounts.tolist() == [[2], [4]]


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


@pytest.mark.parametrize("drawn", [long_queue, wide_jobs])
def test_a_plan_outgrows_its_arrays(drawn: Callable[[], Round]) -> None:
    """Plans of many more segments than there is room for at first stay right."""
    given_round = drawn()
    plan, seconds = given_round.open_plan()
    assert plan.profile is not None
    size = len(plan.profile.start)
    for action, job in given_round.steps:
        check_step(action, job, plan, seconds, given_round)
    assert plan.profile.used[0] > 1.5 * size


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
    shutil.copy(plan_reservation_kernels.__file__, tmp_path)
    code = (
        "import plan_reservation_kernels as kernels\n"
        "print(kernels.earliest.machine.stats.cache_path)\n"
    )
    assert python(code, cwd=tmp_path, **environment) == "None\n"


def test_plans_where_the_chosen_cache_cannot_be_written(tmp_path: Path) -> None:
    """Where the folder of NUMBA_CACHE_DIR cannot be made, plans are kept elsewhere."""
    (tmp_path / "file").touch()
    code = "from hpcsched.dispatching.core import codes, plan_kernels; print(codes.NEVER)"
    printed = python(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "file" / "folder"))
    assert printed == f"{NEVER}\n"


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
