"""Lines of `key=value` pairs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.slurm_lines import (
    Line,
    configuration_lines,
    configured_pairs,
    is_state,
    pairs_of,
    state_blocks,
)
from tests.strategies import tries


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", {}),
        ("NodeName=c[1-3] CPUs=4", {"nodename": "c[1-3]", "cpus": "4"}),
        ('Name="a b"\tX=', {"name": "a b", "x": ""}),
        ("A=b=c", {"a": "b=c"}),
        ("CPUTot=8 Reason=CPUTot=99 Down", {"cputot": "8", "reason": "CPUTot=99"}),
        ("A=1 a=2", {"a": "1"}),
        ("no pairs", {}),
    ],
)
def test_pairs(text: str, pairs: dict[str, str]) -> None:
    """Keys are in lower case, and the first value counts."""
    assert pairs_of(text) == pairs


@pytest.mark.parametrize(
    ("text", "pairs", "rest"),
    [
        ("", {}, ""),
        ("A = 1 B+=2\tC -= 3", {"a": "1", "b": "2", "c": "3"}, ""),
        ('A = "x y"  idle', {"a": "x y"}, "idle"),
        ("A=1 a=2", {"a": "2"}, ""),
        ("A = b=c,d=e", {"a": "b=c,d=e"}, ""),
        ("NodeName c1 CPUs=4", {"cpus": "4"}, "NodeName c1"),
    ],
)
def test_configured_pairs(text: str, pairs: dict[str, str], rest: str) -> None:
    """Blanks around the sign are legal, `+=` is `=`, and the last value counts, as for Slurm."""
    assert configured_pairs(text) == (pairs, rest)


def test_configuration() -> None:
    """Comments are gone, a line goes on after a backslash, and begins where it began."""
    text = "# first\nA=1 \\\n  B=2 # more\nC=3\\#4\n"
    found = [line for line in configuration_lines(text) if line.text.strip()]
    assert found == [Line(2, "A=1   B=2 "), Line(4, "C=3\\#4")]


def test_state() -> None:
    """A block is one line."""
    text = "\nNodeName=a\n   CPUAlloc=0 CPUTot=4\n\nNodeName=b CPUAlloc=1\nPartitionName=p\n"
    assert is_state(text)
    assert not is_state("NodeName=a CPUs=4")
    assert [(number, pairs_of(said)) for number, said in state_blocks(text)] == [
        (2, {"nodename": "a", "cpualloc": "0", "cputot": "4"}),
        (5, {"nodename": "b", "cpualloc": "1"}),
        (6, {"partitionname": "p"}),
    ]


KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
VALUES = st.from_regex(r"[A-Za-z0-9:,.()\[\]/-]{0,8}( [a-z]{1,3})?", fullmatch=True)


@tries(100)
@given(pairs=st.dictionaries(KEYS, VALUES, max_size=5))
def test_a_round_trip(pairs: dict[str, str]) -> None:
    """What is written is read as it was; values with blanks are in quotes."""
    text = " ".join(f'{k}="{v}"' if " " in v else f"{k}={v}" for k, v in pairs.items())
    assert pairs_of(text) == pairs
