"""Sort keys put jobs in the order that the queue order itself puts them in."""

import numpy as np
import pytest

from hpcsched.dispatching.problem import waiting_job
from hpcsched.dispatching.rules.orders import (
    KEYS,
    ArrivalOrder,
    ColumnKeyOrder,
    ExpectedWaitOrder,
    slowdown_order,
)
from hpcsched.simulation.replay_choices import Considered, halves, keys_of, set_key, unit_demands
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
from tests.builders import ORDERS, alike, traced

SYSTEM = alike(8, core=2)
JOBS = [
    traced(1, 0, 3, 50), traced(2, 0, 1, 70, (2,)), traced(3, 5, 4, 20), traced(4, 6, 1, 50),
    traced(5, 6, 2, 20, (2,)),
]  # fmt: skip


def columns() -> JobColumns:
    """Return the jobs as one batch."""
    (batch,) = columns_of(JOBS, RequestNumbers())
    return batch


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "fcfs"])
def test_as_the_order_sorts(name: str) -> None:
    """Keys are compared column by column; ties keep the order of arrival."""
    order = ORDERS[name]
    assert isinstance(order, ColumnKeyOrder)
    batch = columns()
    keys = keys_of(order, batch, batch.run_time, SYSTEM)
    by_keys = [JOBS[k].job.job_id for k in np.lexsort(keys.T[::-1])]
    queue = [waiting_job(job, run_time, SYSTEM) for job, run_time in JOBS]
    assert by_keys == [job.job_id for job in sorted(queue, key=order.key)]


def test_demands() -> None:
    """With one resource type the demand is the amount: units of one core, and of two."""
    assert unit_demands(columns(), SYSTEM) == [1, 2]


def test_numbers_of_more_than_64_bits() -> None:
    """They are halved, and compare as before."""
    order = ColumnKeyOrder(lambda job: job.demand)
    small, large = (halves(order, Considered(0, 1, 1 << bits)) for bits in (61, 100))
    assert small == [0, 1 << 61]
    assert large == [1 << 38, 0]
    assert small < large


def test_expected_run_times() -> None:
    """Their keys are those of a run time of 1, also where the prediction comes later."""
    order = ColumnKeyOrder(KEYS["spf"], (2, 1, 0))
    batch = columns()
    keys = keys_of(order, batch, batch.run_time, SYSTEM)
    # Demands are 3, 2, 4, 1 and 4; the last number is the submit time.
    assert keys[:, 1::2].tolist() == [[3, 3, 0], [2, 2, 0], [4, 4, 5], [1, 1, 6], [4, 4, 6]]
    set_key(order, keys[0], Considered(5, 20, 4))
    assert keys[0].tolist() == keys[2].tolist()


def test_arrival_has_no_key() -> None:
    """Jobs are in its order already."""
    batch = columns()
    assert keys_of(ArrivalOrder(), batch, batch.run_time, SYSTEM).shape == (5, 0)


def test_divisors_of_waits() -> None:
    """The run time for the slowdown, the expected wait for its order; then maybe the area."""
    batch = columns()
    assert keys_of(slowdown_order(), batch, batch.run_time, SYSTEM)[:, 0].tolist() == [
        50, 70, 20, 50, 20,
    ]  # fmt: skip
    keys = keys_of(ExpectedWaitOrder(600), batch, batch.run_time, SYSTEM)
    assert keys[:, 0].tolist() == [600] * 5
    assert keys[:, 2].tolist() == [150, 140, 80, 50, 80]


@pytest.mark.parametrize(
    "order", [ORDERS["spf"], slowdown_order(then_area=True), ExpectedWaitOrder(600)]
)
def test_a_prediction_that_comes_later(order: object) -> None:
    """It is written into the key, which then is the one that it would have been."""
    batch = columns()
    known = keys_of(order, batch, batch.run_time, SYSTEM)  # type: ignore[arg-type]
    key = keys_of(order, batch, np.zeros(5, dtype=np.int64), SYSTEM)[2]  # type: ignore[arg-type]
    set_key(order, key, Considered(5, 20, 4))  # type: ignore[arg-type]
    assert key.tolist() == known[2].tolist()
