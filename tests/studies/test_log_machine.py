"""Machines for logs, by hand."""

import pytest

from hpcsched.studies.first_look import (
    Machine,
    Need,
    Needs,
    machine_for,
    machine_from_header,
    need_of,
)
from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob


@pytest.mark.parametrize(
    ("comments", "nodes", "cores"),
    [
        (["MaxNodes: 100", "MaxProcs: 100"], 100, 1),
        (["MaxNodes: 144", "MaxProcs: 1152"], 144, 8),
        (["MaxProcs: 430"], 430, 1),
        (["MaxNodes: 16"], 16, 1),
        (["MaxNodes: 8", "MaxProcs: 3"], 3, 1),
    ],
)
def test_from_a_header(comments: list[str], nodes: int, cores: int) -> None:
    """Processors are split evenly among nodes, where that can be done."""
    machine = machine_from_header(comments)
    assert machine is not None
    assert machine[:2] == (nodes, cores)
    assert comments[0] in machine.basis


def test_processors_that_nodes_do_not_share_evenly() -> None:
    """Curie has 93,312 = 936 × 16 + 4,608 × 17 processors on 5,544 nodes."""
    machine = machine_from_header(["MaxNodes: 5544", "MaxProcs: 93312"])
    assert machine is not None
    assert list(machine.groups) == [("node", 936, {"core": 16}), ("larger", 4608, {"core": 17})]


def test_a_header_without_a_machine() -> None:
    """Nothing is made up from it."""
    assert machine_from_header(["Computer: unknown", "MaxJobs: 7"]) is None


def job(number: int, submit: int, units: int, cores: int, run_time: int) -> TracedJob:
    """Return a job."""
    return TracedJob(Job(number, submit, Request(units, (cores,)), 100), run_time)


def test_what_jobs_need() -> None:
    """Two jobs of 4 and 6 cores run together from second 5 on; a third begins as one ends."""
    jobs = [job(1, 0, 2, 2, 20), job(2, 0, 6, 1, 10), job(3, 15, 5, 1, 10)]
    assert need_of(jobs, {1: 0, 2: 5, 3: 0}) == Needs({"core": Need(2, 6, 10)})
    assert need_of(jobs, None) == Needs({"core": Need(2, 6, None)})


@pytest.mark.parametrize(
    ("need", "machine", "words"),
    [
        (Need(2, 6, 10), (5, 2), "used at a time, 10 cores"),
        (Need(1, 6, None), (6, 1), "the largest job, 6 cores"),
        (Need(4, 6, 5), (2, 4), "the largest job, 6 cores"),
    ],
)
def test_a_machine_that_is_large_enough(need: Need, machine: tuple[int, int], words: str) -> None:
    """Units fit on nodes, and jobs on the machine."""
    found = machine_for(Needs({"core": need}))
    assert found[:2] == machine
    assert words in found.basis


def test_several_resource_types() -> None:
    """Jobs of 8 cores with 2 GPUs and of 24 cores without any overlap from second 5 to 10."""
    jobs = [
        TracedJob(Job(1, 0, Request(2, (4, 1)), 100), 10),
        TracedJob(Job(2, 0, Request(3, (8, 0)), 100), 10),
    ]
    needs = need_of(jobs, {1: 0, 2: 5}, ("core", "gpu"))
    assert needs == Needs({"core": Need(8, 24, 32), "gpu": Need(1, 2, 2)})
    machine = machine_for(needs)
    assert machine == Machine(
        4, 8, "assumed: the most that the log's jobs used at a time, 32 cores, 2 gpu", (("gpu", 1),)
    )
    assert machine.resources == {"core": 8, "gpu": 1}
    assert machine_for(Needs({"core": Need(0, 0, None), "gpu": Need(2, 4, None)})).resources == {
        "core": 1, "gpu": 2,
    }  # fmt: skip


def test_a_node_for_each_unit() -> None:
    """Five units of one core need five nodes, though one node of eight cores has room for them."""
    jobs = [
        TracedJob(Job(1, 0, Request(5, (1,), one_unit_per_node=True), 100), 10),
        TracedJob(Job(2, 0, Request(1, (8,)), 100), 10),
    ]
    needs = need_of(jobs, None)
    assert needs == Needs({"core": Need(8, 8, None)}, 5)
    assert machine_for(needs)[:2] == (5, 8)
