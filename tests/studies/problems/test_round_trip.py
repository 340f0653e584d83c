"""A problem that is written and read back is the same."""

import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import waiting_job
from hpcsched.scenario import load_scenario
from hpcsched.studies.problems.problem_files import (
    Decoder,
    Encoder,
    InstancesFile,
    Selection,
    record,
    write_instances,
)
from hpcsched.testing import make_problem, make_system
from tests.builders import NoObjective, Spy, Told, changed_request, easy, replay
from tests.strategies import mixed_workloads, tries, uniform_workloads
from tests.studies.problems.samples import RUN_TIMES, plain, small, tiny

OBJECTIVE = NoObjective()


def problems_of(workload, uniform_request=None):
    """Return the problems that EASY meets, with wrong predictions and so with overdue jobs."""
    seen = []
    replay(
        workload.system,
        Spy(easy(), lambda problem, _: seen.append(problem)),
        workload.jobs,
        predictor=Told(workload.predictions),
        uniform_request=uniform_request,
        objective=OBJECTIVE,
    )
    return seen


def check(problems, system, uniform_request=None):
    """Write problems and read them again, one after another."""
    encoder = Encoder()
    decoder = Decoder(system, uniform_request, OBJECTIVE)
    for problem in problems:
        assert plain(decoder.decode(encoder.encode(problem))) == plain(problem)


@given(mixed_workloads(), st.data())
@tries(150)
def test_node_level(workload, data):
    """Unlike, bound and exclusive jobs: all problems, and any of them in any order."""
    problems = problems_of(workload)
    check(problems, workload.system)
    check(data.draw(st.lists(st.sampled_from(problems), max_size=8)), workload.system)


@given(uniform_workloads(), st.data())
@tries(150)
def test_aggregated(workload, data):
    """Equal jobs on slots: all problems, and any of them in any order."""
    problems = problems_of(workload, workload.request)
    check(problems, workload.system, workload.request)
    some = data.draw(st.lists(st.sampled_from(problems), max_size=8))
    check(some, workload.system, workload.request)


@given(st.text(), st.integers(-(2**53), 2**53))
@tries(50)
def test_names_and_numbers(name, number):
    """Whatever a job is called, and whoever submitted it."""
    problem = make_problem(make_system(), "job_id run_time\n1 9\n")
    (waiting,) = problem.queue
    named = {"name": name, "queue_name": name[::-1], "partition_name": name or None}
    job = waiting.job._replace(**named, user=number, queue=number)
    changed = problem._replace(queue=(waiting._replace(job=job),), objective=OBJECTIVE)
    check([problem._replace(objective=OBJECTIVE), changed], problem.system)


def test_a_job_that_changes():
    """A prediction that is made anew, and a job that is moved, are told again."""
    table = "job_id run_time units start_time\n1 90 1 0\n2 50 2 0\n3 80 2 -\n4 70 1 -\n"
    problem = make_problem(make_system(), table, now=5)._replace(objective=OBJECTIVE)
    first, second = problem.running
    later = first._replace(
        waiting=first.waiting._replace(predicted_run_time=333), predicted_end_time=400
    )
    moved = make_problem(make_system(), table.replace("1 90 1 0\n", "").replace(" -", " -"), now=5)
    changed = problem._replace(running=(second, later), round=2)
    check([problem, changed, moved._replace(objective=OBJECTIVE), problem], problem.system)


def test_numbers_of_numpy():
    """Plugins may bring them; in the file they are whole numbers."""
    problem = make_problem(make_system(), "job_id run_time\n1 9\n")._replace(objective=OBJECTIVE)
    (waiting,) = problem.queue
    one = np.int64(1)
    job = changed_request(waiting.job, units=one, unit_request=(one,))._replace(group=one)
    changed = waiting_job(job, waiting.predicted_run_time, problem.system)
    check([problem._replace(queue=(changed,))], problem.system)


@pytest.mark.parametrize("make", [lambda folder: load_scenario(tiny(folder)), lambda _: small()])
def test_a_file(make, tmp_path):
    """What a replay meets is what the file says, with the objective of its scenario or another."""
    scenario = make(tmp_path)
    path = tmp_path / "x.jsonl.gz"
    done = record(scenario, path)
    file = InstancesFile(path)
    problems = list(file.problems())
    assert len(problems) == done.saved == done.rounds == done.matching
    assert done.size == path.stat().st_size
    assert file.fraction_read == 1
    assert file.scenario == scenario
    assert file.header.scenario_name == scenario.name
    assert file.header.selection == Selection()
    assert file.system == scenario.system.build()
    assert {problem.objective for problem in problems} == {problems[0].objective}
    assert problems[0].objective.tau == 10
    mine = NoObjective()
    assert [problem.objective for problem in file.problems(mine, limit=2)] == [mine, mine]
    aggregated = scenario.name == "tiny"
    assert (file.header.uniform_request is not None) == aggregated
    assert all((problem.free_units is not None) == aggregated for problem in problems)

    again = tmp_path / "again.jsonl.gz"
    with write_instances(again, file.header) as writer:
        for problem in problems:
            writer.add(problem)
    assert again.read_bytes() == path.read_bytes()


def test_run_times_are_not_in_the_file(tmp_path):
    """No number in it is a run time, or an end that is to come."""
    path = tmp_path / "x.jsonl.gz"
    record(load_scenario(tiny(tmp_path)), path)
    header, *lines = gzip.decompress(path.read_bytes()).splitlines()
    secrets = set(RUN_TIMES.values()) | {9 + run_time for run_time in RUN_TIMES.values()}
    assert not secrets & set(map(int, re.findall(rb"\d+", header)))
    # The starts of what waited tell what has ended by then, which a dispatcher saw as well.
    first = [line for line in lines if json.loads(line)["now"] <= 10]
    assert len(first) == 3
    for line in first:
        assert not secrets & set(map(int, re.findall(rb"\d+", line)))


def test_jobs_are_told_once(tmp_path):
    """However long they wait and run, which keeps the file small."""
    path = tmp_path / "x.jsonl.gz"
    done = record(small(), path)
    _, *lines = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    told = [job["job_id"] for line in lines for job in line.get("jobs", ())]
    placed = [place["job_id"] for line in lines for place in line.get("placed", ())]
    assert sorted(told) == sorted(set(told))
    assert len(told) == 300
    assert sorted(placed) == sorted(set(placed))
    assert done.size < 100 * done.saved
