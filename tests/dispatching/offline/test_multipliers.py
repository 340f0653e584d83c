"""Jobs that pay for what they use: costs by hand, and against every start."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched._core import cost_at, least_with_multipliers
from hpcsched.dispatching.offline.bounds import Multipliers
from hpcsched.dispatching.planning.start_time_costs import StartTimeCosts, least_of_each
from tests.strategies import tries


class Paying(NamedTuple):
    """A job: its submission, run time and demand, and its cost per second of waiting after `free`.

    `amount` is its factor in a ratio of sums with α = 1 and λ = 20.
    """

    submit: int
    run_time: int
    demand: int
    weight: float
    free: int | None = None
    amount: float = 0.0


def prices(edges: Sequence[int], rates: Sequence[float]) -> Multipliers:
    """Return the multipliers of pieces of time."""
    lengths = np.diff(edges)
    upto = np.concatenate(([0.0], np.cumsum(np.array(rates) * lengths)))
    return Multipliers(np.array(edges), np.array(rates, dtype=np.float64), upto)


def costs_of(jobs: Sequence[Paying]) -> StartTimeCosts:
    """Return the start-time cost functions of jobs."""
    submit = np.array([job.submit for job in jobs])
    free = [job.submit if job.free is None else job.free for job in jobs]
    return StartTimeCosts(
        np.array([[job.weight for job in jobs]], dtype=np.float64),
        np.array([free], dtype=np.float64),
        0.0,
        1.0,
        20.0,
        np.array([job.amount for job in jobs]),
        submit,
        np.array([job.run_time for job in jobs]),
    )


def least(jobs: Sequence[Paying], multipliers: Multipliers) -> tuple[float, list[float]]:
    """Return the least cost plus price of all jobs, and the use of each piece of time."""
    costs = costs_of(jobs)
    cheapest, _ = least_of_each(costs)
    demands = np.array([job.demand for job in jobs])
    used = np.full(len(multipliers.rates), 99.0)
    total, size = least_with_multipliers(demands, cheapest, costs, *multipliers, used)
    assert size >= abs(total)
    return total, used.tolist()


def price_of(job: Paying, start: int, multipliers: Multipliers) -> float:
    """Return what a job pays at a start, second by second."""
    edges, rates = multipliers.edges, multipliers.rates
    paid = 0.0
    for second in range(start, start + job.run_time):
        piece = int(np.searchsorted(edges, second, side="right")) - 1
        if 0 <= piece < len(rates):
            paid += job.demand * float(rates[piece])
    return paid


FALLING = prices([0, 10, 20, 30], [4, 1, 0])


@pytest.mark.parametrize(
    ("job", "expected", "used"),
    [
        # Two units for 10 s: 80 at once. At 10 it has waited for 30, and pays 20.
        (Paying(0, 10, 2, 3), 50, [0, 20, 0]),
        # With 10 a second it starts at once: at 10 it would cost 100 + 20.
        (Paying(0, 10, 2, 10), 80, [20, 0, 0]),
        # With 1 a second it goes on to where nothing is paid: 20 in place of 10 + 20.
        (Paying(0, 10, 2, 1), 20, [0, 0, 20]),
        # Waiting is free until 10, where it pays 20.
        (Paying(0, 10, 2, 10, free=10), 20, [0, 20, 0]),
        # After the last edge nothing is paid or counted: from 40 on.
        (Paying(40, 10, 2, 1), 0, [0, 0, 0]),
    ],
)
def test_by_hand(job: Paying, expected: float, used: list[float]) -> None:
    """A second of a unit costs 4 up to 10, 1 up to 20, and nothing from then on."""
    assert least([job], FALLING) == (expected, used)


def test_what_is_before_the_first_edge_is_free() -> None:
    """From 10 to 20 a second of a unit costs 5: one job is over by then, one waits until 20.

    A third one waits at 100 a second: it pays 3 · 5 · 5 from 15 to 20, and nothing until 25.
    """
    rise = prices([10, 20], [5])
    assert least([Paying(0, 10, 1, 1)], rise) == (0, [0])
    assert least([Paying(15, 10, 3, 1)], rise) == (5, [0])
    assert least([Paying(15, 10, 3, 100)], rise) == (75, [15])
    # From 5 to 25 it would use all of the piece; it pays for its 10 s there.
    assert least([Paying(5, 20, 1, 100)], rise) == (50, [10])


def test_jobs_add_up() -> None:
    """Costs and uses are sums over jobs, each by itself, however little there is."""
    assert least([Paying(0, 10, 2, 3), Paying(0, 10, 2, 10)], FALLING) == (130, [20, 20, 0])


MULTIPLIERS = st.builds(
    lambda begin, pieces: prices(
        [begin, *(begin + int(at) for at in np.cumsum([length for length, _ in pieces]))],
        [rate for _, rate in pieces],
    ),
    st.integers(0, 8),
    st.lists(st.tuples(st.integers(1, 7), st.integers(0, 5)), min_size=1, max_size=5),
)


@tries(60)
@given(
    MULTIPLIERS, st.integers(0, 20), st.integers(1, 12), st.integers(1, 3), st.integers(0, 9),
    st.integers(0, 15), st.sampled_from([0.0, 0.0, 0.25, 2.0]),
)  # fmt: skip
def test_no_start_is_cheaper(
    multipliers: Multipliers,
    submit: int,
    run_time: int,
    demand: int,
    weight: int,
    patience: int,
    amount: float,
) -> None:
    """The least over all starts where a cost is linear, and elsewhere a bound of it."""
    job = Paying(submit, run_time, demand, weight, submit + patience, amount)
    costs = costs_of([job])
    found, used = least([job], multipliers)
    last = int(multipliers.edges[-1]) + 80
    best = min(
        float(cost_at(costs, 0, start)) + price_of(job, start, multipliers)
        for start in range(submit, last)
    )
    if amount:
        assert found <= best + 1e-9 * abs(best)
    else:
        assert found == pytest.approx(best)
    assert sum(used) <= demand * run_time
