"""Lists of host names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.host_lists import expand
from tests.strategies import tries


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("(null)", ()),
        ("None assigned", ()),
        ("N/A", ()),
        ("c1", ("c1",)),
        ("c[1-3,7]", ("c1", "c2", "c3", "c7")),
        ("c[1-3,07-08]", ("c1", "c2", "c3", "c07", "c08")),
        ("c[08-10],g1", ("c08", "c09", "c10", "g1")),
        ("n[098-101]", ("n098", "n099", "n100", "n101")),
        ("a,b[1,3]-ib", ("a", "b1-ib", "b3-ib")),
        ("r[1-2]n[1-2]-ib", ("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib")),
        ("c1, c2 ,\tc3", ("c1", "c2", "c3")),
        ("c[1, 3 - 4]", None),
        ("c[1, 3-4 ]", ("c1", "c3", "c4")),
        (",c1,,c2,", ("c1", "c2")),
        ("c[1,,2,]", ("c1", "c2")),
        ("cn[001-002,101].org", ("cn001.org", "cn002.org", "cn101.org")),
        ("1", ("1",)),
        ("c 1", None),
        ("-x", None),
        ("[-1]", None),
        ("c1,-x[1-2]", None),
        ("_c", None),
        (".c", None),
        ("c[]", None),
        ("c[,]", None),
        ("c[1-", None),
        ("c[1]]", None),
        ("c[[1]]", None),
        ("c[3-1]", None),
        ("c[a]", None),
        ("c[-1]", None),
        ("größe", None),
        ("c[\u0661-\u0663]", None),
        ("c[0-99999999]", None),
        ("c[1-9999][1-9999]", None),
    ],
)
def test_expand(text: str, names: tuple[str, ...] | None) -> None:
    """The names in their order, or an error (None)."""
    if names is None:
        with pytest.raises(ValueError, match="expected"):
            expand(text)
    else:
        assert expand(text) == names


@tries(200)
@given(text=st.text("ac1[],-. \t", max_size=12))
def test_any_text(text: str) -> None:
    """Whatever it is, it becomes names that stay what they are, or an error."""
    try:
        names = expand(text)
    except ValueError as error:
        assert "expected" in str(error)
    else:
        assert all(name[0].isalnum() and not set(name) & set("[], \t") for name in names)
