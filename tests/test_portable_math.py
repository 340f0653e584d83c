"""The portable logarithm and exponential against the C library's, which are nearly always right."""

import math
import random

import pytest

from hpcsched.portable_math import exp, expm1, log, log1p, power

CLOSE = 4e-16
"""The largest relative error allowed: less than two units in the last place."""


def numbers(count, low, high):
    """Return numbers over a range of exponents, the same at each call."""
    uniform = random.Random(5).random
    return [math.ldexp(1 + uniform(), low + int(uniform() * (high - low))) for _ in range(count)]


def test_log():
    """Over all of the range, and close to 1, where the logarithm is small."""
    near_one = [1 + sign * 2.0**-k for k in range(2, 50) for sign in (-1, 1)]
    for x in [*numbers(20_000, -300, 300), *near_one, 5e-324, 1.7e308]:
        assert log(x) == pytest.approx(math.log(x), rel=CLOSE, abs=5e-324)
    assert log(1.0) == 0.0


def test_exp():
    """Over all of the range of the exponent."""
    for x in [*numbers(10_000, -30, 9), *(-x for x in numbers(10_000, -30, 9)), 0.0]:
        assert exp(x) == pytest.approx(math.exp(x), rel=CLOSE)
    assert exp(0.0) == 1.0
    assert exp(-800.0) == 0.0


def test_power():
    """The error of the logarithm is multiplied by the exponent."""
    for base, exponent in [(2.0, 10.0), (10.0, -3.0), (1.5, 0.5), (7.0, 0.0)]:
        assert power(base, exponent) == pytest.approx(math.pow(base, exponent), rel=1e-14)


def test_differences_near_zero():
    """exp(x) - 1 and log(1 + x) keep their digits where x is small."""
    for x in [*numbers(5_000, -60, 2), *(-x for x in numbers(5_000, -60, -2))]:
        assert expm1(x) == pytest.approx(math.expm1(x), rel=2 * CLOSE)
        assert log1p(x) == pytest.approx(math.log1p(x), rel=2 * CLOSE)
