"""Counts, durations, sizes and trackable resources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.gres import counted_in_total, parse_tres
from hpcsched_slurm.syntax.values import (
    parse_requested_memory,
    parse_scaled_count,
    parse_size,
    parse_time_limit,
)
from tests.strategies import tries

KIB, MIB, GIB = 2**10, 2**20, 2**30


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400),
        ("03:04", 184),
        ("02:03:04", 7384),
        ("1-02", 93600),
        ("1-02:03", 93780),
        ("1-02:03:04", 93784),
        (" 5 ", 300),
        ("0", 0),
        *((text, None) for text in ("UNLIMITED", "Partition_Limit", "INFINITE", "N/A", "", "None")),
    ],
)
def test_time_limits(text: str, seconds: int | None) -> None:
    """Minutes, or days, hours, minutes and seconds; None without a limit."""
    assert parse_time_limit(text) == seconds


@pytest.mark.parametrize("text", ["soon", "-5", "1:2:3:4", "1-", "1.5", "\u0665"])
def test_no_time_limits(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(ValueError, match="expected a time limit such as 1-02:03:04, found"):
        parse_time_limit(text)


@tries(100)
@given(seconds=st.integers(0, 10**9))
def test_durations_there_and_back(seconds: int) -> None:
    """What is written with days is read as it was."""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    assert parse_time_limit(f"{day}-{hour:02}:{minute:02}:{second:02}") == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16", 16 * MIB),
        ("4000M", 4000 * MIB),
        ("16g", 16 * GIB),
        ("1.50G", 3 * GIB // 2),
        ("8K", 8 * KIB),
        ("2GB", 2 * GIB),
        ("0.001K", 2),
        ("0", 0),
    ],
)
def test_sizes(text: str, size: int) -> None:
    """Without a unit they are in MiB; a part of a byte is rounded up: 0.001 KiB is 1.024 bytes."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1G", "1,5G", "9999999999E", "4 G"])
def test_no_sizes(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(ValueError, match="expected"):
        parse_size(text)


@tries(100)
@given(amount=st.integers(0, 2**20), unit=st.sampled_from("KMGkmg"))
def test_sizes_there_and_back(amount: int, unit: str) -> None:
    """Units are powers of 1024."""
    assert parse_size(f"{amount}{unit}") == amount * 1024 ** ("KMG".index(unit.upper()) + 1)


@pytest.mark.parametrize(
    ("text", "size"),
    [("16Gn", 32 * GIB), ("4000Mc", 32000 * MIB), ("16G", 16 * GIB), ("0", None), ("", None)],
)
def test_requested_memory(text: str, size: int | None) -> None:
    """On 2 nodes with 8 cores: per node, per core, or in all; 0 is all that there is."""
    assert parse_requested_memory(text, 2, 8) == size


def test_scaled_counts() -> None:
    """Suffixes are powers of 1024."""
    assert [parse_scaled_count(text, "x") for text in ("3", "2K", "1m")] == [3, 2048, MIB]
    for text in ("K", "1.5K", "9999999P"):
        with pytest.raises(ValueError, match="expected"):
            parse_scaled_count(text, "x")


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        *((nothing, {}) for nothing in ("", "N/A", "(null)")),
        ("cpu=8,mem=32G,node=2,billing=8", {"cpu": 8, "mem": 32 * GIB, "node": 2}),
        ("cpu=1, mem=512M", {"cpu": 1, "mem": 512 * MIB}),
        ("gres/gpu=4,gres/gpu:2080ti=4", {"gres/gpu": 4, "gres/gpu:2080ti": 4}),
        ("gres/bandwidth=4G,energy=99", {"gres/bandwidth": 4 * GIB}),
        ("fs/disk=1,license/matlab=2", {}),
    ],
)
def test_tres(text: str, amounts: dict[str, int]) -> None:
    """What is of nodes is taken."""
    assert parse_tres(text) == amounts


@pytest.mark.parametrize("text", ["cpu", "cpu=many", "=4", "mem=lots", "cpu=1,,mem=1G"])
def test_no_tres(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(ValueError, match="expected"):
        parse_tres(text)


def test_totals_of_types() -> None:
    """An amount of one type is in the total, where there is one."""
    assert counted_in_total("gres/gpu:a", {"gres/gpu", "gres/gpu:a"})
    assert not counted_in_total("gres/gpu:a", {"gres/gpu:a"})
    assert not counted_in_total("gres/gpu", {"gres/gpu"})
