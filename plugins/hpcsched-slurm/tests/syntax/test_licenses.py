"""Lists of licences."""

import pytest

from hpcsched_slurm.syntax.gres import license_resource, parse_licenses


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("matlab", {"matlab": 1}),
        ("matlab:2,comsol@flex:1", {"matlab": 2, "comsol@flex": 1}),
        ("a:1;b*3", {"a": 1, "b": 3}),
        ("a:1,a:2", {"a": 3}),
    ],
)
def test_lists(text: str, found: dict[str, int]) -> None:
    """Names with numbers; a name without one stands for one."""
    assert parse_licenses(text) == found


@pytest.mark.parametrize("text", ["a:1|b:2", "a:", "a:x", ":2", "a b", "a:1:2"])
def test_what_is_no_list(text: str) -> None:
    """Alternatives, and what has no number, are refused with the text."""
    with pytest.raises(ValueError, match="expected licences such as matlab:2,comsol, found"):
        parse_licenses(text)


def test_names_of_shared_resources() -> None:
    """They are no names of resource types, and begin alike."""
    names = ("matlab", "Comsol@flex", "2d", "gpu")
    assert [license_resource(name) for name in names] == [
        "license_matlab", "license_comsol_flex", "license_2d", "license_gpu",
    ]  # fmt: skip
