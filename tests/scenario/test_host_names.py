"""Names of nodes on a real cluster, by node group."""

import pytest
from pydantic import TypeAdapter, ValidationError

from hpcsched.scenario.live import HostNames, wrong_hosts


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"a": "c[1-2]", "b": "c2"}, "the node c2 is named twice"),
        ({"a": "c[2-1]"}, "expected a range such as 1-3"),
    ],
)
def test_names(nodes: dict[str, str], message: str) -> None:
    """A node has one place."""
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(HostNames).validate_python(nodes)


def test_groups() -> None:
    """Names and nodes match one to one."""
    counts = {"a": 2, "b": 1}
    assert not list(wrong_hosts({"a": "c[1-2]", "b": "d1"}, counts))
    few, other, missing = wrong_hosts({"a": "c1", "x": "d1"}, counts)
    assert "the group a has 2 nodes, and 1 are named" in str(few)
    assert "the system has no node group 'x'; there are: a, b" in str(other)
    assert "the names of the nodes of b are missing" in str(missing)
