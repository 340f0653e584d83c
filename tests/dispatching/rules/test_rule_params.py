"""Parameters of rules that depend on each other."""

from typing import Any

import pytest
from pydantic import ValidationError

from hpcsched.dispatching.rules.rule_params import (
    ExpectedWaitParams,
    ListParams,
    ScarceResourceParams,
    review_scarce_types,
)
from hpcsched.workload.job import WaitClass
from tests.builders import alike


def test_expected_waits_have_one_criterion() -> None:
    """Keys are texts in scenarios; two criteria contradict each other."""
    given: dict[str, Any] = {"other": 60, "by_units": {"1": 20, "8": 100}}
    params = ExpectedWaitParams(**given)
    assert (params.by, params.waits) == (WaitClass.UNITS, {1: 20, 8: 100})
    with pytest.raises(ValidationError, match="found by_queue and by_units"):
        ExpectedWaitParams(**given, by_queue={1: 30})


def test_without_classes_all_jobs_wait_alike() -> None:
    """No queue is listed, so that each has the wait of others."""
    params = ExpectedWaitParams(other=60)
    assert (params.by, dict(params.waits), params.other) == (WaitClass.QUEUE, {}, 60)


def test_depth_is_for_backfill_alone() -> None:
    """No other option makes reservations that could be limited."""
    assert ListParams(option="backfill", depth=2).depth == 2
    with pytest.raises(ValidationError, match="'greedy' makes none"):
        ListParams(option="greedy", depth=2)


def test_scarce_types_that_the_system_lacks() -> None:
    """Of two names one is a type of the system; the error names the other, and its key."""
    params = ScarceResourceParams(scarce_resources=("gpu", "core"))
    (caution,) = review_scarce_types(params, alike(1, core=4))
    assert caution.message.startswith("gpu cannot be scarce")
    assert (caution.key, caution.severity) == ("scarce_resources", "error")
    assert list(review_scarce_types(ScarceResourceParams(), alike(1, core=4))) == []
