"""Policies for records that cannot be used as they are, and their errors."""

import pytest
from pydantic import ValidationError

from hpcsched.workload.readers.policies import RecordPolicies, SetAsideError, UnusableError


def test_what_is_strict_and_what_is_not() -> None:
    """Nothing that a log should have is guessed by default; what no job can be is left out."""
    policies = RecordPolicies(path="log.swf")
    assert (policies.missing_requested_time, policies.unsorted, policies.malformed) == (
        ("error",) * 3
    )
    assert (policies.zero_run_time, policies.missing_run_time, policies.larger_than_system) == (
        ("skip",) * 3
    )
    assert policies.over_requested_time == "clip"


@pytest.mark.parametrize(("given", "expected"), [("2h", 7200), (90, 90), ("run_time", "run_time")])
def test_a_requested_time_in_place_of_a_missing_one(given: object, expected: object) -> None:
    """A policy's name, or a time: 2 h are 7200 s."""
    policies = RecordPolicies.model_validate({"path": "a", "missing_requested_time": given})
    assert policies.missing_requested_time == expected


def test_a_policy_that_there_is_not() -> None:
    """A run time that is missing cannot be kept."""
    with pytest.raises(ValidationError, match=r"Input should be 'skip' or 'error'"):
        RecordPolicies.model_validate({"path": "a", "missing_run_time": "keep"})


def test_errors_name_the_policy_that_decides() -> None:
    """A record that is set aside is one that gives no job, so that one handler counts both."""
    with pytest.raises(UnusableError, match="a job step") as caught:
        raise SetAsideError("job_step", "a job step")
    assert caught.value.reason == "job_step"
