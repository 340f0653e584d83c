"""Formats of logs by their names, and the example."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.studies.first_look.log_files import (
    LogSource,
    example_log,
    format_of,
    is_scenario,
    source_of,
)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.swf", LogSource.SWF), ("a.swf.gz", LogSource.SWF), ("a.json.gz", LogSource.BATSIM),
        ("a.csv", LogSource.TABLE), ("a.parquet", LogSource.TABLE),
    ],
)  # fmt: skip
def test_by_the_ending(name: str, source: LogSource) -> None:
    """Packed or not."""
    assert source_of(Path(name)) == source


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz"])
def test_unknown_endings(name: str) -> None:
    """Those that are known are named."""
    with pytest.raises(InputError, match=r"\.swf, \.json"):
        source_of(Path(name))


def test_files_to_write() -> None:
    """Tables are written as Parquet alone."""
    assert format_of(Path("a.swf.gz")) == LogSource.SWF
    with pytest.raises(InputError, match=r"or \.parquet"):
        format_of(Path("a.csv"))


def test_scenarios() -> None:
    """By their endings."""
    assert is_scenario(Path("a.yaml"))
    assert not is_scenario(Path("a.swf"))


def test_the_example_is_there() -> None:
    """With a checkout, and with a wheel (tests/release)."""
    assert example_log().name == "small-cluster.swf.gz"
