"""Readers and commands end well on mutations of logs and configurations, in bounded memory."""

import resource
import sys

import pytest

from tests.fuzz.mutations import FORMATS, all_tried, tried

QUICK, SLOW = 40, 2000
"""Number of mutations of each format."""

MOST_GROWTH = 512
"""Maximum growth of the memory of the process, in MiB; no file has more than 64 KiB."""


def peak() -> int:
    """Return the largest memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("format_", FORMATS)
def test_mutations(format_: str) -> None:
    """A few mutations of each format: jobs or a message, and each record in the account."""
    assert sum(1 for _ in tried(format_, QUICK, 1, commands=QUICK)) == QUICK


@pytest.mark.slow
def test_many_mutations(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, no hang, exit code 0, 1 or 2, bounded memory; the counts are printed."""
    before = peak()
    ends = all_tried(SLOW, 2)
    with capsys.disabled():
        sys.stdout.write("\n".join(("", *ends.lines(), "")))
    assert ends.counts.total() == SLOW * len(FORMATS)
    assert {end for _, end in ends.counts} <= {"read", "exit 0", "exit 1", "exit 2"}
    # Both kinds of ends, so that mutations neither break all files nor leave all alone.
    assert all(ends.counts[format_, "exit 0"] > 0 for format_ in FORMATS)
    assert all(ends.counts[format_, "exit 1"] > 0 for format_ in FORMATS)
    assert peak() - before < MOST_GROWTH
