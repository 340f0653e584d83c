"""The block `dispatch_latency`: its forms, and the charge that it declares."""

import pytest

from hpcsched.scenario.models import DispatchLatency
from tests.scenario.samples import faults


def test_a_model() -> None:
    """120 ms, 0.1 s a job and 1 ms a variable: 10 jobs and 500 variables are 1.62 s."""
    declared = {"base": "120ms", "per_queued_job": 0.1, "per_variable": "1ms"}
    latency = DispatchLatency.model_validate(declared).build()
    assert latency.base * 1000 == 120
    charge = latency.base + 10 * latency.per_queued_job + 500 * latency.per_variable
    assert charge * 100 == 162


def test_numbers_are_as_they_are_written() -> None:
    """0.7 is seven tenths, so that ten rounds of it are 7 s exactly; 1min30s is a duration."""
    assert DispatchLatency(fixed=0.7).build().base * 10 == 7
    assert DispatchLatency.model_validate({"fixed": "1min30s"}).build().base == 90


@pytest.mark.parametrize(
    ("declared", "key", "message"),
    [
        ({}, "", "found nothing"),
        ({"fixed": 1, "base": 2}, "base", "found base beside fixed"),
        ({"measured": 1, "per_variable": 2}, "measured", "found measured beside per_variable"),
        ({"fixed": -1}, "fixed", "expected a value of at least 0.0, found -1"),
    ],
)
def test_what_is_refused(declared: dict[str, object], key: str, message: str) -> None:
    """More than one form, none, and a charge below 0."""
    ((rule, at, said),) = faults(DispatchLatency, declared)
    assert (rule, at) == ("bad-value", key)
    assert said.endswith(message)
