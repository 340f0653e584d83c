"""What a policy sees, by hand."""

import math

import pytest

from hpcsched.testing import make_problem, make_system
from hpcsched_learned.policy_order import FEATURES, job_features

TABLE = """
job_id  submit_time  units  requested_time  predicted_run_time  start_time
1       0            3      7200            3600                0
2       0            2      7200            3600                -
3       3600         1      100             100                 -
"""


@pytest.mark.parametrize("aggregated", [False, True])
def test_features_by_hand(aggregated: bool) -> None:
    """Of four nodes one is free; two jobs wait, one for an hour."""
    problem = make_problem(make_system(4, core=1), TABLE, now=3600, aggregated=aggregated)
    rows = job_features(problem, 4)
    first, second = (dict(zip(FEATURES, row.tolist(), strict=True)) for row in rows[:2])
    month = math.log1p(30 * 86_400)
    assert first == pytest.approx(
        {
            "wait": 0.5, "predicted_run_time": math.log1p(3600) / month,
            "requested_time": math.log1p(7200) / month, "share": 0.5, "fits_now": 0,
            "free_share": 0.25, "queue_length": 1 / 3, "present": 1,
        },
        rel=1e-6,
    )  # fmt: skip
    assert (second["wait"], second["share"], second["fits_now"]) == (0, 0.25, 1)
    assert not rows[2:].any()


def test_the_window() -> None:
    """Jobs that arrived later are not seen; the queue has its length all the same."""
    problem = make_problem(make_system(4, core=1), TABLE, now=3600)
    rows = job_features(problem, 1)
    assert rows.shape == (1, len(FEATURES))
    assert rows[0, FEATURES.index("queue_length")] == pytest.approx(2 / 3)


def test_room_on_no_single_node() -> None:
    """One core is free on each of two nodes: a unit of two cores does not fit."""
    table = """
    job_id  submit_time  units  core  requested_time  start_time
    1       0            1      2     100             0
    2       0            1      2     100             0
    3       0            1      2     100             -
    """
    problem = make_problem(make_system(2, core=3), table)
    assert job_features(problem, 2)[0, FEATURES.index("fits_now")] == 0
