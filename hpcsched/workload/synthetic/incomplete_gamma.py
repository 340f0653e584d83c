"""The lower incomplete gamma function, the same on every machine."""

from hpcsched.workload.synthetic.portable import exp, log

_SMALL = 1e-17
"""Terms of the series below this share of the sum no longer change it."""


def lower_gamma(shape: float, x: float) -> float:
    """Return the integral of tˢ⁻¹ e⁻ᵗ from 0 to x, for a positive shape s and x of at least 0.

    Up to a factor, the gamma function of the shape, it is the share of gamma numbers of this shape
    and scale 1 that are below x. By the series xˢ e⁻ˣ Σ xⁿ / (s (s + 1) … (s + n)), whose terms are
    all positive; it takes some x + 40 of them.
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
