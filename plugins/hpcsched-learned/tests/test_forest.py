"""The forest."""

from random import Random

import pytest

from hpcsched_learned.forest import QuantileForest

RANDOM = Random(3)
ROWS = [(float(RANDOM.choice([0, 10])), RANDOM.random()) for _ in range(2000)]
TARGETS = [left + 100 * RANDOM.random() for left, _ in ROWS]


def test_quantiles_of_two_groups() -> None:
    """Targets are even over 0 to 100 or 10 to 110, by the first feature; the other is noise."""
    forest = QuantileForest(ROWS, TARGETS, trees=30, leaf_size=200, seed=1)
    for left in (0, 10):
        for quantile in (0.1, 0.5, 0.9):
            found = forest.predict((left, 0.5), quantile)
            assert found == pytest.approx(left + 100 * quantile, abs=9)


def test_one_leaf() -> None:
    """With a leaf that holds everything, a quantile is that of all targets."""
    forest = QuantileForest([(0.0,)] * 5, [5.0, 1.0, 4.0, 2.0, 3.0], trees=2, leaf_size=5, seed=1)
    quantiles = [forest.predict((0.0,), quantile) for quantile in (0.01, 0.3, 0.5, 0.7, 0.99)]
    assert quantiles == [1, 2, 3, 4, 5]


def test_no_crossing() -> None:
    """A higher quantile is never lower."""
    forest = QuantileForest(ROWS[:300], TARGETS[:300], trees=10, leaf_size=3, seed=1)
    for row in ROWS[300:350]:
        found = [forest.predict(row, step / 10) for step in range(1, 10)]
        assert found == sorted(found)


def test_seeds() -> None:
    """A seed grows the same trees."""
    row = (10.0, 0.3)
    grown = [QuantileForest(ROWS[:300], TARGETS[:300], 5, 3, seed) for seed in (1, 1, 2)]
    low, high = 0.25, 0.75
    found = [[f.predict(row, low), f.predict(row, high)] for f in grown]
    assert found[0] == found[1] != found[2]
