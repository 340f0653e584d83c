"""Records of accounting logs of PBS, by hand."""

import pytest

from hpcsched.workload.readers.pbs_accounting import parse_end
from hpcsched.workload.readers.policies import SetAsideError


def end(text: str) -> tuple[int, dict[str, str]]:
    """Return the record of a line that begins with a date."""
    return parse_end(f"03/01/2024 12:00:00;{text}")


def test_an_end() -> None:
    """A value may be in quotes, have `=`, `;` and words of its own."""
    record = end('E;123.server;user=ann jobname="a b" comment=x=1; two words queue=')
    assert record == (
        123,
        {"user": "ann", "jobname": "a b", "comment": "x=1; two words", "queue": ""},
    )


def test_tasks_of_an_array() -> None:
    """Task 4 of job 123 is 5000000123, as PBS and as TORQUE write it."""
    assert end("E;123[4].server;user=ann")[0] == 5_000000123
    assert end("E;123-4;user=ann")[0] == 5_000000123


@pytest.mark.parametrize(
    ("text", "reason"), [("Q;123.server;queue=a", "record_Q"), ("E;123[].server;", "whole_array")]
)
def test_what_is_set_aside(text: str, reason: str) -> None:
    """Records of something else than a job that ran are counted by what they are."""
    with pytest.raises(SetAsideError) as caught:
        end(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2024-03-01;E;123;", "expected a record such as 03/01/2024 12:00:00;E;123"),
        ("03/01/2024 12:00:00;E;job;", "expected a job id such as 123.server, found 'job'"),
        ("03/01/2024 12:00:00;E;1;word", "expected attributes such as user=…, found 'word'"),
        ("03/01/2024 12:00:00;E;1[9999999];", "a part of it below 4000001"),
    ],
)
def test_what_is_no_record(line: str, message: str) -> None:
    """The line counts as malformed, and the message says what was expected."""
    with pytest.raises(ValueError, match=message):
        parse_end(line)
