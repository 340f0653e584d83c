"""In which order each queue order serves seven jobs, with their keys."""

import pytest

from hpcsched.testing import make_problem
from tests.builders import alike
from tests.golden.declared import declared, in_turn

NODE = alike(1, core=8)
NOW = 20
# Job 9 has the node until 30. The others are alone on it, one after the other.
TABLE = """
    job_id  submit_time  units  requested_time  queue  user  start_time  exclusive
    9       0            8      30              -      1     0           no
    1       0            2      10              -      2     -           yes
    2       5            1      10              1      1     -           yes
    3       8            4      5               2      1     -           yes
    4       10           1      20              1      2     -           yes
    5       12           5      4               2      2     -           yes
    6       15           2      5               1      2     -           yes
    7       16           1      10              3      2     -           yes
"""


def served(order: str, *overrides: str) -> list[int]:
    """Return the jobs in an order that is written in YAML."""
    dispatcher = declared(NODE, f"{{name: list, order: {order}}}", *overrides)
    return in_turn(dispatcher, make_problem(NODE, TABLE, now=NOW))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fcfs", [1, 2, 3, 4, 5, 6, 7]),
        # Run times are 10, 10, 5, 20, 4, 5 and 10; of equal ones the smaller or larger demand.
        ("sjf", [5, 6, 3, 2, 7, 1, 4]),
        ("ljf", [4, 1, 2, 7, 3, 6, 5]),
        # Areas, units × run time, are 20, 10, 20, 20, 20, 10 and 10; equal ones by arrival.
        ("saf", [2, 6, 7, 1, 3, 4, 5]),
        ("laf", [1, 3, 4, 5, 2, 6, 7]),
        # Area × run time is 200, 100, 100, 400, 80, 50 and 100; of the hundreds 3 has the area 20.
        ("spf", [6, 5, 2, 7, 3, 1, 4]),
        # (wait + run time) / run time is 30/10, 25/10, 17/5, 30/20, 12/4, 10/5 and 14/10.
        ("slowdown", [3, 1, 5, 2, 6, 4, 7]),
        # wait / expected wait is 20/10, 15/5, 12/20, 10/5, 8/20, 5/5 and 4/10; 7 has less area
        # than 5, and 1 as much as 4.
        ("{name: expected-wait, other: 10, by_queue: {1: 5, 2: 20}}", [2, 1, 4, 6, 3, 7, 5]),
        # By units it is 20/20, 15/5, 12/20, 10/5, 8/10, 5/20 and 4/5; 7 has less area than 5.
        (
            "{name: expected-wait, other: 9, by_units: {2: 20, 1: 5, 5: 10}}",
            [2, 4, 1, 7, 5, 3, 6],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_queue_orders(order, expected):
    """The comments have the keys of the jobs 1 to 7."""
    assert served(order) == expected


WEIGHTS = "age: 100, size: 50, qos: 40, partition: 0"
COMMON = "max_age: 12, half_life: null, fair_share: classic"


@pytest.mark.parametrize(
    ("fair_share", "more", "expected"),
    [
        (0, "", [2, 3, 4, 5, 1, 6, 7]),
        (40, "", [4, 5, 2, 3, 1, 6, 7]),
        (40, "users: {1: 0, 2: 3}", [4, 5, 1, 2, 3, 6, 7]),
        (0, "favor_small: true", [2, 4, 3, 1, 6, 5, 7]),
    ],
    ids=["no fair share", "fair share", "no share", "small jobs first"],
)
def test_multifactor(fair_share, more, expected):
    """Age is the wait / 12, at most 1; size the share of 8 cores; `qos` 1 for queue 1, ½ for 2.

    | job | age × 100 | size × 50 | qos × 40 | sum | small, sum |
    | 1 | 100 | 12.5 | 0 | 112.5 | 37.5: 137.5 |
    | 2 | 100 | 6.25 | 40 | 146.25 | 43.75: 183.75 |
    | 3 | 100 | 25 | 20 | 145 | 25: 145 |
    | 4 | 83.3 | 6.25 | 40 | 129.6 | 43.75: 167.1 |
    | 5 | 66.7 | 31.25 | 20 | 117.9 | 18.75: 105.4 |
    | 6 | 41.7 | 12.5 | 40 | 94.2 | 37.5: 119.2 |
    | 7 | 33.3 | 6.25 | 0 | 39.6 | 43.75: 77.1 |

    All usage is of user 1, whose are 2 and 3, and who has one of two shares: 2^(−1 / ½) = ¼. Of 40,
    that is 10, and 40 for all others: 152.5, 156.25, 155, 169.6, 157.9, 134.2 and 79.6. With a
    share of 0 it is 0, and 2 and 3 come to 146.25 and 145.
    """
    weights = f"weights: {{{WEIGHTS}, fair_share: {fair_share}}}"
    users = more if more.startswith("users") else ""
    options = ", ".join(part for part in (weights, COMMON, "" if users else more) if part)
    policies = (
        "qos: {1: {priority: 4}, 2: {priority: 2}}",
        f"accounts: {{all: {{shares: parent, other_users: true, {users or 'users: {}'}}}}}",
    )
    assert served(f"{{name: multifactor, {options}}}", *policies) == expected
