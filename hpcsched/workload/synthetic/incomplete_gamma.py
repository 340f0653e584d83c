"""Lower incomplete gamma function, the same on every machine."""

from hpcsched.portable_math import exp, log

_SMALL = 1e-17
"""Terms of the series below this share of the sum no longer change it."""


def lower_gamma(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function, the integral of tˢ⁻¹ e⁻ᵗ from 0 to x.

    Parameters
    ----------
    shape
        The shape s, above 0.
    x
        Upper bound of the integral, at least 0.

    Notes
    -----
    Divided by the gamma function of the shape, it is the probability that a gamma number of this
    shape and scale 1 is below x. The series xˢ e⁻ˣ Σ xⁿ / (s (s + 1) … (s + n)) has positive terms
    only; it takes some x + 40 of them.
    """
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    divisor = shape
    while term > _SMALL * total:
        divisor += 1
        term *= x / divisor
        total += term
    return exp(shape * log(x) - x) * total
