"""Features of dispatching problems, by hand."""

from math import inf

import pytest

from hpcsched.dispatching.hyper.cp_portfolio import InstanceFeatures, features_of
from hpcsched.testing import make_problem, make_system

JOBS = """
job_id  units  core  gpu  requested_time  start_time
1       2      4     1    100             0
2       3      2     0    10              -
3       1      1     2    20              -
4       3      2     0    30              -
5       1      2     0    30              -
"""
"""On four nodes of four cores and two GPUs; job 1 leaves 8 cores and 6 GPUs."""

ALIKE = """
job_id  units  core  requested_time  start_time
1       3      2     100             0
2       4      2     10              -
3       4      2     20              -
4       4      2     20              -
"""
"""Units of two cores, on two nodes with five; job 1 leaves one slot of four."""


def test_by_hand() -> None:
    """15 of 8 cores and 2 of 6 GPUs are requested, no memory; job 4 requests what job 2 does."""
    features = features_of(make_problem(make_system(4, core=4, gpu=2, mem=8), JOBS))
    assert features == (4, 15 / 8, 2, 1 / 4)


def test_slots() -> None:
    """Where equal units are counted in slots, 12 units are requested and one slot is free."""
    problem = make_problem(make_system(2, core=5), ALIKE, aggregated=True)
    assert features_of(problem) == (3, 12, 1, 2 / 3)
    # Counted in cores, a node's odd core is free as well.
    assert features_of(make_problem(make_system(2, core=5), ALIKE)) == (3, 24 / 4, 1, 2 / 3)


def test_nothing_available() -> None:
    """The load is infinite where a requested resource type is used up."""
    table = ALIKE.replace("3      2     100", "2      5     100")
    assert features_of(make_problem(make_system(2, core=5), table)).load == inf


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ((30, 1.0, 2, 0.49), (False, False, False, False)),
        ((31, 1.0, 2, 0.49), (True, False, False, False)),
        ((30, 1.1, 2, 0.49), (False, True, False, False)),
        ((30, 1.0, 3, 0.49), (False, False, True, False)),
        ((30, 1.0, 2, 0.5), (False, False, False, True)),
    ],
)
def test_classes(
    features: tuple[int, float, int, float], expected: tuple[bool, bool, bool, bool]
) -> None:
    """Each feature parts two classes."""
    assert InstanceFeatures(*features).instance_class == expected
