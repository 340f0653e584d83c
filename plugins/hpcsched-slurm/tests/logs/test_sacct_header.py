"""Headers of dumps of `sacct`, and first lines that are none."""

import pytest

from hpcsched_slurm.logs.sacct_rows import parse_header, what_it_is

NAMES = ("jobid", "submit", "alloctres")


@pytest.mark.parametrize(
    ("text", "has_end"),
    [
        ("JobID|Submit|AllocTRES", False),
        ("JobID|Submit|AllocTRES|", True),
        ("JobIDRaw|Submit|AllocTRES", False),
    ],
)
def test_headers(text: str, has_end: bool) -> None:
    """Those of --parsable2 and --parsable; JobIDRaw stands in for JobID."""
    assert parse_header(text) == (NAMES, has_end)


def test_both_numbers() -> None:
    """With JobID, JobIDRaw is one of the columns that are not read."""
    assert parse_header("JobIDRaw|JobID").names == ("jobidraw", "jobid")


@pytest.mark.parametrize("text", ["JobID   Submit  Start", "JobID Submit", "rubbish", "a;b,c", ""])
def test_no_header(text: str) -> None:
    """It is one column: the table for people has blanks in its values, too."""
    assert parse_header(text) == ((text.strip().lower(),), False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("       JobID    JobName  Partition", "the table that sacct prints for people"),
        ("17|2024-03-01T10:00:00|x", "call sacct without --noheader"),
        ("17_3|2024-03-01T10:00:00|x", "call sacct without --noheader"),
        ('{"meta": {}, "jobs": []}', "it is JSON, which the trace source slurm-history"),
        ("JobId=5 UserId=ann(1001)", "it is a file of jobcomp/filetxt"),
        ("JobID,Submit,AllocTRES", "call sacct without --delimiter"),
        ("JobIDRaw;Submit", "call sacct without --delimiter"),
        ("JobID|Submit", ""),
        ("rubbish", ""),
        ("3 bags", ""),
    ],
)
def test_what_else_it_is(text: str, told: str) -> None:
    """Each says what to do; nothing is guessed of other lines."""
    found = what_it_is(text)
    assert told in found
    assert bool(found) == bool(told)
