"""Differences of the same jobs, by hand."""

import numpy as np
import pytest

from hpcsched.report.job_breakdown import job_classes
from hpcsched.studies.whatif_study import (
    LEAST_JOBS,
    Variant,
    WhatIfStudy,
    class_differences,
    difference,
    gains_table,
    paired_jobs,
)
from tests.studies.whatif_samples import outcome


def test_pairs_are_the_same_jobs_in_order_of_submission() -> None:
    """Job 2 is submitted first; job 3 runs in the base alone."""
    base = outcome([30, 20, 90], submits=[10, 5, 40])
    variant = outcome([40, 5], submits=[10, 5])
    found = paired_jobs(base, variant, "wait_time")
    assert found.base.tolist() == [15, 20]
    assert found.variant.tolist() == [0, 30]
    assert found.places.tolist() == [1, 0]


def test_a_difference_by_hand() -> None:
    """Waits of 10, 20, 30 and 40 s become 0, 20, 30 and 50 s."""
    found = difference(np.array([10.0, 20, 30, 40]), np.array([0.0, 20, 30, 50]))
    assert (found.base, found.variant, found.mean) == (25, 25, 0)
    assert (found.less, found.more) == (0.25, 0.25)
    assert found.interval is None
    assert found.verdict == "within noise"


@pytest.mark.parametrize(("change", "verdict"), [(-5.0, "lower"), (5.0, "higher")])
def test_all_jobs_change_alike(change: float, verdict: str) -> None:
    """The interval has no width, and leaves out 0."""
    base = np.arange(LEAST_JOBS, dtype=np.float64)
    found = difference(base, base + change)
    assert found.interval == (change, change, change)
    assert found.verdict == verdict


def test_half_gain_what_half_lose() -> None:
    """Within noise: the mean of the differences is 0."""
    base = np.zeros(100)
    found = difference(base, np.where(np.arange(100) % 2, 60.0, -60.0))
    assert found.mean == 0
    assert found.verdict == "within noise"


def test_rounding_is_no_difference() -> None:
    """Of 40 jobs each has 0.1 + 0.2 in one replay and 0.3 in the other."""
    found = difference(np.full(40, 0.3), np.full(40, 0.1) + 0.2)
    assert (found.mean, found.interval, found.verdict) == (0, (0, 0, 0), "within noise")
    assert (found.less, found.more) == (0, 0)


def test_no_jobs() -> None:
    """There is nothing to say of them."""
    found = difference(np.empty(0), np.empty(0))
    assert (found.jobs, found.mean, found.verdict) == (0, None, "within noise")


def test_by_class_and_who_gains() -> None:
    """User 1 waits 60 s less for each of 40 jobs, user 2 waits 10 s longer, user 3 as before."""
    users = [1, 2, 3] * 40
    base = outcome([100] * 120, user=users)
    variant = outcome([40, 110, 100] * 40, user=users)
    found = dict(
        class_differences(base, variant, "wait_time", job_classes("user", base.attributes))
    )
    assert [found[name].mean for name in ("1", "2", "3")] == [-60, 10, 0]
    study = WhatIfStudy("s", Variant("b", "", {}, base, {}), (), ())
    gains = gains_table(study, Variant("v", "", {}, variant, {}))
    assert [(row[0], row[1], row[-1]) for row in gains.rows] == [
        ("user", "1", "lower"),
        ("user", "2", "higher"),
    ]
