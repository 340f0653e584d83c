"""Random numbers: their means, and that a seed gives the same ones everywhere."""

import math

import pytest

from hpcsched.workload.synthetic.synthetic_source import Draws, Weighted

DRAWS = 20_000
COIN = Weighted((0, 10), (1, 3))

# How a number is drawn, the mean and the standard deviation it must have.
DISTRIBUTIONS = {
    "uniform": (lambda draws: draws.uniform(), 0.5, 12**-0.5),
    "below": (lambda draws: draws.below(5), 2, 2**0.5),
    "between": (lambda draws: draws.between(2, 6), 4, 4 * 12**-0.5),
    "chance": (lambda draws: draws.chance(0.2), 0.2, 0.4),
    "exponential": (lambda draws: draws.exponential(3), 3, 3),
    "normal": (lambda draws: draws.normal(), 0, 1),
    "log_normal": (lambda draws: draws.log_normal(2, 0.5), 2 * math.exp(0.125), 1.21),
    "gamma": (lambda draws: draws.gamma(4, 2), 8, 4),
    "gamma below 1": (lambda draws: draws.gamma(0.5, 2), 1, 2**0.5),
    "weighted": (COIN.draw, 7.5, 18.75**0.5),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_means(name):
    """Within four standard errors, for a fixed seed."""
    draw, mean, deviation = DISTRIBUTIONS[name]
    draws = Draws(1)
    found = [float(draw(draws)) for _ in range(DRAWS)]
    average = math.fsum(found) / DRAWS
    spread = math.sqrt(math.fsum((x - average) ** 2 for x in found) / DRAWS)
    assert abs(average - mean) < 4 * deviation / math.sqrt(DRAWS)
    assert spread == pytest.approx(deviation, rel=0.05)


def test_first_numbers_of_a_seed():
    """To the last bit, so that traces stay the same from machine to machine."""
    draws = Draws(0)
    found = [
        draws.uniform(),
        draws.exponential(1),
        draws.normal(),
        draws.normal(),
        draws.gamma(2, 1),
    ]
    assert found == GOLDEN


GOLDEN = [
    0.8444218515250481,
    1.4186291529717618,
    -0.5152970855979493,
    -1.5640434149388383,
    2.089007800688861,
]


@pytest.mark.parametrize(
    ("items", "weights"), [((), ()), ((1,), (0,)), ((1, 2), (1,)), ((1, 2), (2, -1))]
)
def test_weights_that_make_no_sense(items, weights):
    """They are refused."""
    with pytest.raises(ValueError, match="a weight for each item"):
        Weighted(items, weights)


def test_an_item_without_weight_is_never_drawn():
    """Not even at the bounds."""
    draws = Draws(2)
    assert {Weighted("abc", (0, 1, 0)).draw(draws) for _ in range(1000)} == {"b"}
