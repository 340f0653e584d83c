"""What a dispatcher is shown: all that it may know, no more, and nothing that it can change."""

import gc
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
import pytest

from tests.builders import Spy, Told, alike, easy, replay, traced

SYSTEM = alike(2, core=2, mem=4)
REQUEST = (1, 2)
FORMS = pytest.mark.parametrize(
    "uniform_request", [REQUEST, None], ids=["aggregated", "node level"]
)

RUN_TIMES = {1: 7919, 2: 6131, 3: 5003, 4: 4007}
"""Numbers that turn up nowhere else."""

JOBS = tuple(
    traced(job_id, submit_time, units, RUN_TIMES[job_id], REQUEST, requested_time=9000)
    for job_id, submit_time, units in ((1, 0, 2), (2, 1, 1), (3, 2, 3), (4, 3, 1))
)


def problems(uniform_request, jobs=JOBS):
    """Return the problems of a replay, each as it was when it was asked."""
    seen = []
    replay(
        SYSTEM,
        Spy(easy(), lambda problem, _: seen.append(problem)),
        jobs,
        predictor=Told(dict.fromkeys(RUN_TIMES, 8000)),
        uniform_request=uniform_request,
    )
    return seen


def reachable(root):
    """Return every object that can be reached from one, through attributes of any kind."""
    found, pending = {}, [root]
    while pending:
        thing = pending.pop()
        code = (type, ModuleType, FunctionType, BuiltinFunctionType)
        if id(thing) not in found and not isinstance(thing, code):
            found[id(thing)] = thing
            pending += gc.get_referents(thing)
    return list(found.values())


def numbers_in(root):
    """Return all whole numbers that can be reached from an object."""
    numbers = set()
    for thing in reachable(root):
        if isinstance(thing, int):
            numbers.add(thing)
        elif isinstance(thing, np.ndarray):
            numbers.update(thing.ravel().tolist())
    return numbers


@FORMS
def test_run_times_are_hidden(uniform_request):
    """No number that can be reached from a problem is a run time, or an end that is to come."""
    for problem in problems(uniform_request):
        starts = {running.job_id: running.start_time for running in problem.running}
        secrets = {RUN_TIMES[job.job_id] for job in problem.queue}
        secrets |= {RUN_TIMES[job_id] for job_id in starts}
        secrets |= {start + RUN_TIMES[job_id] for job_id, start in starts.items()}
        assert 9000 in numbers_in(problem)
        assert not secrets & numbers_in(problem)


@FORMS
def test_arrays_are_read_only(uniform_request):
    """Every array of a problem is read-only, those behind its properties too."""
    for problem in problems(uniform_request):
        arrays = [
            problem.capacity,
            problem.availability,
            problem.units,
            problem.unit_requests,
            problem.predicted_run_times,
            problem.submit_times,
            *(thing for thing in reachable(problem) if isinstance(thing, np.ndarray)),
        ]
        assert [array for array in arrays if array.flags.writeable] == []


@FORMS
def test_sequences_are_tuples(uniform_request):
    """The queue and the running jobs are tuples, of tuples."""
    for problem in problems(uniform_request):
        assert isinstance(problem, tuple)
        assert type(problem.queue) is type(problem.running) is tuple
        assert all(isinstance(job, tuple) for job in (*problem.queue, *problem.running))


@FORMS
def test_a_problem_stays_as_it_was(uniform_request):
    """A problem that is kept says the same after the run as during it."""
    during = []

    def look(problem, _):
        during.append((problem, problem.queue, problem.running, problem.availability.tolist()))

    replay(SYSTEM, Spy(easy(), look), JOBS, uniform_request=uniform_request)
    for problem, queue, running, availability in during:
        assert (problem.queue, problem.running) == (queue, running)
        assert problem.availability.tolist() == availability


@FORMS
def test_contents(uniform_request):
    """At 3 jobs 1 and 2 run, job 3 has no room, and job 4 has just come."""
    *_, problem = [p for p in problems(uniform_request) if p.now == 3]
    assert problem.round == 4
    assert [job.job_id for job in problem.queue] == [3, 4]
    assert problem.units.tolist() == [3, 1]
    assert problem.unit_requests.tolist() == [[1, 2], [1, 2]]
    assert problem.submit_times.tolist() == [2, 3]
    assert problem.predicted_run_times.tolist() == [8000, 8000]
    assert [job.area for job in problem.queue] == [
        SYSTEM.demand(3, REQUEST) * 8000,
        SYSTEM.demand(1, REQUEST) * 8000,
    ]
    assert [(run.job_id, run.start_time, run.predicted_end_time) for run in problem.running] == [
        (1, 0, 8000),
        (2, 1, 8001),
    ]
    assert problem.capacity.tolist() == [[2, 4], [2, 4]]
    assert problem.availability.tolist() == [[0, 0], [1, 2]]


@FORMS
def test_shapes_are_kept_without_jobs(uniform_request):
    """The arrays of a problem have their two dimensions even where nothing waits or runs."""
    problem = problems(uniform_request)[0]._replace(queue=(), running=())
    assert problem.unit_requests.shape == (0, 2)
    assert problem.units.shape == (0,)
    assert problem.availability.shape == (2, 2)
