"""Limits that a live run saw, as a file."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.group_limits import LimitedJob, SeenLimits, limits_line, read_limits

LIMIT = ClusterLimit("QOS small", "cpu", 8, "QOS small: GrpTRES cpu=8")
SEEN = SeenLimits(LimitedJob("7", ("QOS small",), (LIMIT,), {"cpu": 2}), {"license_a": 1})


def test_round_trip(tmp_path: Path) -> None:
    """What is written is read again."""
    path = tmp_path / "limits.jsonl"
    path.write_text(limits_line(7, SEEN))
    assert read_limits(path) == {7: SEEN}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("rubbish", r"limits.jsonl:2: error: expected the limits of a job: Expecting value"),
        (
            '{"job_id": 8}',
            r"limits.jsonl:2: error: expected the limits of a job: no field 'limits'",
        ),
        ("[]", r"limits.jsonl:2: error: expected the limits of a job: list indices"),
    ],
)
def test_damage(tmp_path: Path, line: str, told: str) -> None:
    """The message has the line."""
    path = tmp_path / "limits.jsonl"
    path.write_text(limits_line(7, SEEN) + line)
    with pytest.raises(InputError, match=told):
        read_limits(path)


def test_no_file(tmp_path: Path) -> None:
    """The message has the path."""
    with pytest.raises(InputError, match=r"limits.jsonl: error: it cannot be read"):
        read_limits(tmp_path / "limits.jsonl")
