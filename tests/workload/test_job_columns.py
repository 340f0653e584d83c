"""Columns of job records in files, by hand."""

from hpcsched.system.system import Request
from hpcsched.workload.job import (
    BOUNDS,
    FLAGS,
    JOB_ID,
    NUMBERED,
    UNIT_REQUEST,
    bounded_request,
)
from tests.builders import traced

REQUEST = Request(
    3,
    (2, 50),
    node_groups=frozenset({"gpu", "cpu"}),
    allowed_nodes=frozenset({10, 9}),
    exclusive=True,
    shared_requests=(("licence", 1),),
)


def test_sets_are_sorted_lists_in_files() -> None:
    """Files of one replay are equal byte by byte, whatever the order of a set."""
    groups, nodes, *_ = BOUNDS
    assert groups.told(REQUEST.node_groups) == ["cpu", "gpu"]
    assert nodes.told(REQUEST.allowed_nodes) == [9, 10]
    assert nodes.taken([9, 10]) == frozenset({10, 9})
    assert (nodes.told(None), nodes.taken(None)) == (None, None)
    assert JOB_ID.told(7) == JOB_ID.taken(7) == 7


def test_a_request_comes_back_as_it_was_written() -> None:
    """Each restriction from its column."""
    told = {column.name: column.told(column.get(REQUEST)) for column in BOUNDS}
    assert told == {
        "node_groups": ["cpu", "gpu"],
        "allowed_nodes": [9, 10],
        "exclusive": True,
        "one_unit_per_node": False,
    }
    assert bounded_request(3, (2, 50), told, (("licence", 1),)) == REQUEST


def test_what_a_column_takes_from_a_record() -> None:
    """By the name that it has in the file."""
    job = traced(7, 0, 1, 60, (2, 50), user=5, queue=1).job
    assert (JOB_ID.get(job), UNIT_REQUEST.get(job)) == (7, (2, 50))
    assert [getattr(job, name) for name in NUMBERED] == [5, None, None, 1, None]
    assert FLAGS == ("exclusive", "one_unit_per_node")
