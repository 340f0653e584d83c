"""Random scenarios with any combination of features pass `verify` and equal a second reference."""

from itertools import combinations
from pathlib import Path

import pytest

from tests.properties.random_scenarios import FEATURES, try_one
from tests.reference.timeline import SECOND

EACH = 286
"""Scenarios of each rule in the long test, 2,002 in all."""


@pytest.mark.parametrize("name", SECOND)
def test_a_few_scenarios(name: str, tmp_path: Path) -> None:
    """Six of each rule, in which jobs wait."""
    tried = [try_one(seed, name, tmp_path / str(seed)) for seed in range(EACH, EACH + 6)]
    assert sum(one.waited for one in tried) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", SECOND)
def test_two_thousand_scenarios(name: str, tmp_path: Path) -> None:
    """286 of each of seven rules: jobs wait, attempts are lost, any two features go together."""
    tried = [try_one(seed, name, tmp_path / str(seed)) for seed in range(EACH)]
    assert len(tried) * len(SECOND) >= 2_000
    assert sum(one.waited for one in tried) > 3 * len(tried)
    assert sum(one.lost for one in tried) > 40
    for pair in combinations(FEATURES, 2):
        assert sum(one.features.issuperset(pair) for one in tried) > 40, pair
