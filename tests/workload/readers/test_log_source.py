"""Reasons and messages of records that give no job."""

from hpcsched._core import Verdict
from hpcsched.workload.readers.log_source import REASONS
from hpcsched.workload.readers.swf import SwfParams
from tests.workload.readers.record_reference import unusable


def test_each_reason_is_a_policy() -> None:
    """What decides on a record is the parameter that its reason names."""
    assert {reason for reason, _ in REASONS.values()} <= SwfParams.model_fields.keys()


def test_messages_name_the_numbers() -> None:
    """A repeated number, and a submit time with the one before it."""
    assert str(unusable(Verdict.REPEATED_NUMBER, job_id=7)) == "job number 7 was seen before"
    problem = unusable(Verdict.UNSORTED, earliest=9, submit_time=3)
    assert problem.reason == "unsorted"
    assert str(problem) == ("expected a submit time of at least 9, as the job before has, found 3")
