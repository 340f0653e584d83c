"""Which partition a job belongs to."""

import pytest

from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions

SHORT = Partition("short", {"partition": frozenset({1}), "queue": frozenset({2, 3})}, priority=7)
DEBUG = Partition("debug", {"queue": frozenset({3, 4}), "application": frozenset({9})})
PROJECT = Partition("project", {"group": frozenset({5})}, priority=3)
REST = Partition("rest")


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ({"partition": 1}, "short"),
        ({"queue": 2}, "short"),
        ({"queue": 3}, "short"),  # debug names it too, but comes later
        ({"queue": 4}, "debug"),
        ({"application": 9}, "debug"),
        ({"group": 5}, "project"),
        ({"partition": 3}, "rest"),  # a partition's number, not a queue's
        ({"user": 1}, "rest"),
        ({}, "rest"),
    ],
)
def test_a_job_belongs_to_the_first_that_names_one_of_its_numbers(
    numbers: dict[str, int], name: str
) -> None:
    """The rest go to the partition that names none, wherever it is declared."""
    job = Job(1, 0, Request(1, (1,)), 10, **numbers)
    for partitions in ((SHORT, DEBUG, PROJECT, REST), (REST, SHORT, DEBUG, PROJECT)):
        declared = Partitions(partitions)
        for _ in range(2):  # the answer is remembered
            found = declared.of(job)
            assert found is not None and found.name == name


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"partition": 9, "partition_name": "gpu"}, "gpu"),
        ({"partition": 3, "partition_name": "cpu"}, "gpu"),  # by its number
        ({"queue": 9, "queue_name": "night"}, "gpu"),
        ({"queue": 9, "queue_name": "gpu"}, "rest"),  # a queue's name, not a partition's
        ({"partition": 9, "partition_name": "cpu"}, "rest"),
        ({"name": "gpu"}, "rest"),
    ],
)
def test_names_are_as_good_as_numbers(told: dict[str, int | str], name: str) -> None:
    """Where a trace tells names, a partition can claim jobs by them; equal numbers may differ."""
    gpu = Partition("gpu", {"partition": frozenset({"gpu", 3}), "queue": frozenset({"night"})})
    declared = Partitions((gpu, REST))
    plain = Job(1, 0, Request(1, (1,)), 10, partition=9, queue=9)
    assert declared.of(plain) == REST
    found = declared.of(plain._replace(**told))
    assert found is not None and found.name == name


def test_a_job_may_belong_to_none() -> None:
    """Without a partition for the rest, a job that none names is in none."""
    assert Partitions((SHORT, DEBUG)).of(Job(1, 0, Request(1, (1,)), 10, queue=8)) is None
    assert NO_PARTITIONS.of(Job(1, 0, Request(1, (1,)), 10)) is None


def test_largest_priority() -> None:
    """The largest priority is that over all partitions, and 0 of none."""
    assert Partitions((SHORT, DEBUG, PROJECT)).largest_priority == 7
    assert NO_PARTITIONS.largest_priority == 0


def test_binding_nodes() -> None:
    """Only a partition that leaves out a group binds its jobs to nodes."""
    system = System((NodeGroup("a", 1, {"core": 1}), NodeGroup("b", 1, {"core": 1})))
    everywhere = Partition("all", groups=frozenset({"a", "b"}))
    assert not Partitions((SHORT, everywhere)).bind_nodes(system)
    assert Partitions((SHORT, Partition("one", groups=frozenset({"a"})))).bind_nodes(system)
    assert not NO_PARTITIONS.bind_nodes(system)
