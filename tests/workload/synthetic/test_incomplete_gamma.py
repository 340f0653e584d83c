"""The lower incomplete gamma function against closed forms and a sum over small steps."""

import math

import pytest

from hpcsched.workload.synthetic.lublin99 import lower_gamma


@pytest.mark.parametrize("shape", [1, 2, 5, 9])
@pytest.mark.parametrize("x", [3.0, 8.0, 40.0])
def test_whole_shapes(shape, x):
    """(s - 1)! (1 - e⁻ˣ Σ xᵏ / k!), the sum from 0 to s - 1."""
    rest = sum(x**k / math.factorial(k) for k in range(shape))
    expected = math.factorial(shape - 1) * (1 - math.exp(-x) * rest)
    assert lower_gamma(shape, x) == pytest.approx(expected, rel=1e-11)


def test_half():
    """The integral for a shape of one half is √π times the error function of √x."""
    for x in (0.1, 1.0, 4.0):
        expected = math.sqrt(math.pi) * math.erf(math.sqrt(x))
        assert lower_gamma(0.5, x) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("shape", "x"), [(9, 0.5), (8.1737, 5.0), (8.1737, 14.0), (6.1271, 2.5)])
def test_integral(shape, x):
    """Simpson's rule over what is integrated."""
    steps = 2000
    width = x / steps
    weights = [1, *([4, 2] * (steps // 2 - 1)), 4, 1]
    heights = [(k * width) ** (shape - 1) * math.exp(-k * width) for k in range(steps + 1)]
    found = width / 3 * math.fsum(w * h for w, h in zip(weights, heights, strict=True))
    assert lower_gamma(shape, x) == pytest.approx(found, rel=1e-9)


def test_nothing():
    """From 0 to 0."""
    assert lower_gamma(3.0, 0.0) == 0.0
