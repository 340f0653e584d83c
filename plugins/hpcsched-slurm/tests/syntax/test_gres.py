"""Generic resources, in all the ways in which Slurm writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.gres import Gres, GresList, offers, parse_gres, read_gres
from tests.strategies import tries

GPU = Gres("gpu", "", 1)


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        *((nothing, ()) for nothing in ("", " ", "(null)", "N/A", "n/a", "none", "None", ",")),
        ("gpu", (GPU,)),
        ("gpu:4", (Gres("gpu", "", 4),)),
        ("gpu:0", (Gres("gpu", "", 0),)),
        ("gpu:a100", (Gres("gpu", "a100", 1),)),
        ("gpu:a100:4", (Gres("gpu", "a100", 4),)),
        # Types that begin with a digit.
        ("gpu:2080ti", (Gres("gpu", "2080ti", 1),)),
        ("gpu:2080ti:4", (Gres("gpu", "2080ti", 4),)),
        ("gpu:3090:2(S:0-1)", (Gres("gpu", "3090", 2),)),
        ("gpu:1g.5gb:7", (Gres("gpu", "1g.5gb", 7),)),
        ("gpu:nvidia_a100_3g.20gb:2(S:0)", (Gres("gpu", "nvidia_a100_3g.20gb", 2),)),
        ("gpu:tesla_v100-sxm2-32gb:4(S:0,1)", (Gres("gpu", "tesla_v100-sxm2-32gb", 4),)),
        # What is allocated or used.
        ("gpu:h100:0(IDX:N/A)", (Gres("gpu", "h100", 0),)),
        (
            "gpu:h100:2(IDX:0-1),gpu:h200:4(IDX:2-5)",
            (Gres("gpu", "h100", 2), Gres("gpu", "h200", 4)),
        ),
        ("gpu:a100:2(IDX:0,3), shard:8", (Gres("gpu", "a100", 2), Gres("shard", "", 8))),
        # What is asked for.
        ("gres:gpu:2", (Gres("gpu", "", 2),)),
        ("gres/gpu=2", (Gres("gpu", "", 2),)),
        ("gres/gpu:h100:1,gres/gpu:h200:1", (Gres("gpu", "h100", 1), Gres("gpu", "h200", 1))),
        ("gres/gpu:2080ti=2", (Gres("gpu", "2080ti", 2),)),
        # What is counted in thousands, and what is not used up.
        ("MPS:2K", (Gres("MPS", "", 2048),)),
        ("bandwidth:lustre:no_consume:4G", (Gres("bandwidth", "lustre", 4 * 2**30, False),)),
        ("bandwidth:no_consume:4", (Gres("bandwidth", "", 4, False),)),
        ("craynetwork:NO_CONSUME", (Gres("craynetwork", "", 1, False),)),
        ("none,gpu:2,(null)", (Gres("gpu", "", 2),)),
        ("2080ti:4", (Gres("2080ti", "", 4),)),
    ],
)
def test_read(text: str, resources: tuple[Gres, ...]) -> None:
    """All of it is understood."""
    assert read_gres(text) == GresList(resources, ())
    assert parse_gres(text) == resources


@pytest.mark.parametrize(
    "item",
    ["gpu:a:b:c", "gpu:", ":4", "gpu::4", "gpu:a 100:4", "gpu:4(S:0", "gpu:99999999999999G", "=",
     "gpu:(S:0-1)"],
)  # fmt: skip
def test_parts_that_are_not_understood(item: str) -> None:
    """They are named, and do no harm to what stands beside them."""
    assert read_gres(f"gpu,{item}") == GresList((GPU,), (item,))
    assert read_gres(f"gpu:1,{item}").resources == (GPU,)
    with pytest.raises(ValueError, match="expected generic resources such as gpu:a100:4, found"):
        parse_gres(item)


WORDS = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,6}", fullmatch=True)
NAMES = WORDS.filter(lambda word: word.lower() not in {"none", "unknown", "invalid", "gres"})
TYPES = st.just("") | WORDS.map(lambda word: f"{word}x")


@tries(200)
@given(
    resources=st.lists(
        st.builds(Gres, NAMES, TYPES, st.integers(0, 10**9), st.booleans()), max_size=4
    ),
    where=st.sampled_from(["", "(S:0-1)", "(IDX:0,3)", "(IDX:N/A)", " (S:0,1)"]),
    before=st.sampled_from(["", "gres:", "gres/"]),
)
def test_a_round_trip(resources: list[Gres], where: str, before: str) -> None:
    """What is written as Slurm writes it is read as it was."""
    text = ",".join(
        before
        + ":".join([one.name, *filter(None, [one.type, "" if one.consumed else "no_consume"])])
        + f":{one.amount}{where}"
        for one in resources
    )
    assert parse_gres(text) == tuple(resources)


@tries(200)
@given(text=st.text("gpu:1,()S= /K-", max_size=15))
def test_any_text(text: str) -> None:
    """Whatever it is, every part of it is understood or named."""
    resources, unknown = read_gres(text)
    assert all(one.name and one.amount >= 0 for one in resources)
    assert all(part.strip() for part in unknown)


def test_offers() -> None:
    """A node has as many of each as are asked for, of the type that is named or any."""
    node = parse_gres("gpu:a100:2,gpu:2080ti:2(S:0-1)")
    assert offers(node, parse_gres("gpu:4"))
    assert offers(node, parse_gres("gpu:2080ti:2"))
    assert not offers(node, parse_gres("gpu:2080ti:3"))
    assert not offers(node, parse_gres("gpu:h100"))
    assert not offers((), parse_gres("gpu"))
    assert offers((), ())
