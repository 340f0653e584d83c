"""Names that nothing has lead to what is meant."""

import pytest

from hpcsched.plugins.manager import build_registry


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("dispatcher", "EASY", "did you mean 'easy'?"),
        ("dispatcher", "esay", "did you mean 'easy'?"),
        ("dispatcher", "FCFS", "'fcfs' is a queue order: {name: list, order: fcfs}"),
        ("queue_order", "SJF", "did you mean 'sjf'?"),
        ("dispatcher", "zzz", "there are: best-of, "),
    ],
)
def test_hints(kind: str, name: str, hint: str) -> None:
    """Whatever the case of its letters; a queue order is no dispatcher, and easily made one."""
    with pytest.raises(KeyError) as caught:
        build_registry(external=False).get(kind, name)
    assert hint in str(caught.value.args[0])
