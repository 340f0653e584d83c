"""Requests, sizes and times as PBS and TORQUE write them, by hand."""

from fractions import Fraction

import pytest

from hpcsched.workload.readers.pbs_accounting import (
    Chunk,
    parse_nodes,
    parse_select,
    parse_size,
    parse_time,
)

RESOURCES = frozenset({"mem", "ngpus"})


def test_chunks_of_pbs() -> None:
    """Two parts of 8 cores, 16 GiB and a GPU, then one of a core; `mpiprocs` is not read."""
    text = "2:ncpus=8:mem=16gb:ngpus=1:mpiprocs=4+mem=1kb"
    assert parse_select(text, RESOURCES) == [
        Chunk(2, {"ncpus": 8, "mem": 16 * 2**30, "ngpus": 1}),
        Chunk(1, {"ncpus": 1, "mem": 1024}),
    ]


def test_nodes_of_torque() -> None:
    """`ppn` and `gpus` have PBS's names; a node's name is one node, and `#excl` is about all."""
    assert parse_nodes("2:ppn=8:gpus=1:fast+node07#excl", RESOURCES) == [
        Chunk(2, {"ncpus": 8, "ngpus": 1}),
        Chunk(1, {"ncpus": 1}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:ncpus=1", "expected chunks such as 2:ncpus=8, found '0:ncpus=1'"),
        ("node07", "expected chunks such as 2:ncpus=8, found 'node07'"),
        ("1:fast", "expected resources such as ncpus=8, found 'fast'"),
        ("1:ncpus=x", "expected a number of ncpus, found 'x'"),
        ("1:mem=lots", "expected an amount of memory such as 16gb, found 'lots'"),
    ],
)
def test_what_is_no_request_of_pbs(text: str, message: str) -> None:
    """The part that is wrong is named."""
    with pytest.raises(ValueError, match=message):
        parse_select(text, RESOURCES)


def test_sizes() -> None:
    """A word has 8 bytes; prefixes are powers of 1024, in letters of either case."""
    assert [parse_size(text) for text in ("512", "3kb", "2w", "1MW", "1TB")] == [
        512,
        3072,
        16,
        8 * 2**20,
        2**40,
    ]


def test_a_size_beyond_all() -> None:
    """9 PiB are more than 2^53 bytes, which are 8 PiB."""
    assert parse_size("8pb") == 2**53
    with pytest.raises(ValueError, match="expected at most 9007199254740992 bytes"):
        parse_size("9pb")


def test_times() -> None:
    """Parts count from the last: seconds, minutes, hours, days; fractions are cut off."""
    assert parse_time("3600") == 3600
    assert parse_time("02:03") == 123
    assert parse_time("1:00:00:01.9") == 86_401 + Fraction(9, 10)
    with pytest.raises(ValueError, match="expected a time such as 12:00:00, found '1h'"):
        parse_time("1h")
