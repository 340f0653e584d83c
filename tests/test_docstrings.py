"""Examples in docstrings: each gives the result that it shows."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "hpcsched"
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    """Run the examples of a module as Python's doctest does."""
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
