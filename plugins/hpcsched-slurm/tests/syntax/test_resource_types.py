"""Names of generic resources as a scenario accepts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from hpcsched.scenario.system import ResourceType
from hpcsched_slurm.syntax.gres import parse_gres, renamed, resource_type, totals
from tests.strategies import tries


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpu", "gpu"),
        ("GPU", "gpu"),
        ("nv-link", "nv_link"),
        ("ib.hdr", "ib_hdr"),
        ("2080ti", "gres_2080ti"),
        ("_x", "gres__x"),
        ("core", "gres_core"),
        ("Mem", "gres_mem"),
        ("größe", "gr__e"),
        ("--", "gres___"),
    ],
)
def test_names(name: str, expected: str) -> None:
    """They are changed as little as can be."""
    assert resource_type(name) == expected


@tries(300)
@given(name=st.text(min_size=1, max_size=20))
def test_any_name(name: str) -> None:
    """A scenario accepts it, and it is stable: the type of a type is the same."""
    found = resource_type(name)
    assert TypeAdapter(ResourceType).validate_python(found) == found
    assert resource_type(found) == found
    assert found not in {"core", "mem"}


def test_what_is_told() -> None:
    """Names that are changed are told of, and those that fall together."""
    assert list(renamed(["gpu", "gpu", "shard"])) == []
    assert list(renamed(["gpu", "2080ti", "nv-link", "NV_link"])) == [
        "the generic resource 2080ti is called gres_2080ti",
        "the generic resources nv-link and NV_link are counted together, as nv_link",
    ]


def test_totals() -> None:
    """Types are counted together; none of what is not there or not used up."""
    found = totals(parse_gres("gpu:a:1,GPU:2080ti:2,mps:1K,shard:0,bandwidth:no_consume:4G"))
    assert found == {"gpu": 3, "mps": 1024}
    assert list(found) == ["gpu", "mps"]
