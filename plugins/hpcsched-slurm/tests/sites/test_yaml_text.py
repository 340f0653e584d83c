"""Values of Slurm's files as text of YAML."""

import pytest
import yaml

from hpcsched_slurm.site.yaml_text import duration, one_line, scalar


@pytest.mark.parametrize(
    "text", ["main", "on", "No", "7", "1e3", "a: b", "", "é", 'a"b', "~", "x\ny"]
)
def test_a_text_stays_a_text(text: str) -> None:
    """Whatever YAML could take it for."""
    assert yaml.safe_load(f"{{key: {scalar(text)}}}") == {"key": text}


def test_comments_have_one_line() -> None:
    """Characters that end a line are spaces."""
    assert one_line("a\x85b\u2028c\rd e") == "a b c d e"


def test_durations() -> None:
    """Units that do not divide it are left out; nothing is 0."""
    assert [duration(seconds) for seconds in (0, 59, 60, 3600, 86_400, 90_000)] == [
        "0", "59", "1min", "1h", "1d", "25h",
    ]  # fmt: skip
