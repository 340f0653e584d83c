"""Lists of host names against those of Slurm itself, and GRES against their parts."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.host_lists import expand
from hpcsched_slurm.syntax.gres import Gres, parse_gres
from hpcsched_slurm.syntax.host_names import fold
from tests.strategies import tries

LISTS = 500
AT_ONCE = 30


def a_range(draw: random.Random) -> str:
    """Return a number or a range of numbers, some with leading zeros."""
    first = draw.randrange(120)
    width = draw.choice([0, 0, 2, 3, 4])
    if draw.random() < 0.4:
        return f"{first:0{width}d}"
    return f"{first:0{width}d}-{first + draw.randrange(1, 12):0{width}d}"


def a_name(draw: random.Random) -> str:
    """Return a name, mostly with one or two brackets."""
    base = draw.choice(["c", "gpu", "node-", "r1n", "cn0", "x"])
    kind = draw.randrange(6)
    if kind < 2:
        return f"{base}{draw.randrange(200)}{'' if kind else '-ib'}"
    # No text behind the last bracket, which Slurm 22.05 refuses.
    ranges = ",".join(a_range(draw) for _ in range(draw.randrange(1, 4)))
    if kind < 5:
        return f"{base}[{ranges}]"
    return f"{base}[{a_range(draw)}]s[{a_range(draw)}]"


def a_list(draw: random.Random) -> str:
    """Return a list of one to four names."""
    return ",".join(a_name(draw) for _ in range(draw.randrange(1, 5)))


@pytest.fixture(scope="module")
def unfolded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """The names in a list as Slurm shows them; it reads a configuration, and asks no cluster."""
    program = shutil.which("scontrol")
    if program is None:
        pytest.skip("scontrol of Slurm is not installed")
    configuration = tmp_path_factory.mktemp("slurm") / "slurm.conf"
    configuration.write_text("ClusterName=tested\nSlurmctldHost=localhost\nNodeName=localhost\n")
    environment = {**os.environ, "SLURM_CONF": str(configuration)}

    def show(text: str) -> list[str]:
        done = subprocess.run(
            [program, "show", "hostnames", text],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        return done.stdout.split()

    return show


def lists() -> Iterator[str]:
    """Yield the same random lists every time."""
    draw = random.Random(1)
    for _ in range(LISTS):
        yield a_list(draw)


def test_names_are_those_of_slurm(unfolded: Callable[[str], list[str]]) -> None:
    """Of 500 random lists, many at a time: joined lists have the names of their parts."""
    every = list(lists())
    for begin in range(0, LISTS, AT_ONCE):
        some = every[begin : begin + AT_ONCE]
        names = [name for text in some for name in expand(text)]
        assert unfolded(",".join(some)) == names


def test_slurm_reads_folded_lists(unfolded: Callable[[str], list[str]]) -> None:
    """What is folded here is unfolded there to the same names."""
    every = list(lists())
    for begin in range(0, LISTS, AT_ONCE):
        names = [name for text in every[begin : begin + AT_ONCE] for name in expand(text)]
        assert unfolded(fold(names)) == names
        assert list(expand(fold(names))) == names


TYPES = st.one_of(
    st.just(""),
    st.from_regex(r"[a-z]{1,4}[0-9]{2,4}", fullmatch=True),
    st.from_regex(r"[0-9]{3,4}[a-z]{1,2}", fullmatch=True),
    st.from_regex(r"[1-7]g\.[0-9]{1,2}gb(\.me)?", fullmatch=True),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["gpu", "mps", "nic", "shard"]),
            TYPES,
            st.integers(1, 9999),
            st.sampled_from(["", "K"]),
            st.sampled_from(["", "(S:0-1)", "(IDX:0,3)", "(S:0)"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=4,
    )
)
@tries(2500)
def test_gres_are_their_parts(parts: list[tuple[str, str, int, str, str, bool]]) -> None:
    """Name, type, count with its suffix, and whether it is consumed are found again."""
    texts, expected = [], []
    for name, kind, count, suffix, devices, consumed in parts:
        fields = [name, *([kind] if kind else []), *([] if consumed else ["no_consume"])]
        texts.append(f"{':'.join(fields)}:{count}{suffix}{devices}")
        amount = count * (1024 if suffix else 1)
        expected.append(Gres(name, kind, amount, consumed))
    assert parse_gres(",".join(texts)) == tuple(expected)
