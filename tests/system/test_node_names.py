"""Names of many nodes in one text."""

import pytest

from hpcsched.system.node_names import expand_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("c1", ("c1",)),
        ("c[1-3,7]", ("c1", "c2", "c3", "c7")),
        ("c[08-10],g1", ("c08", "c09", "c10", "g1")),
        ("r[1-2]n[1-2]-ib", ("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib")),
    ],
)
def test_expands(text: str, names: tuple[str, ...]) -> None:
    """Ranges, lists and leading zeros are understood."""
    assert expand_names(text) == names


@pytest.mark.parametrize("text", ["c[1-", "c[3-1]", "c[a]", "c 1", "c[1]]", "c[0-99999999]", "-x"])
def test_refuses(text: str) -> None:
    """What is of another form is refused."""
    with pytest.raises(ValueError, match="expected"):
        expand_names(text)
