"""Random numbers that depend on a user or a job alone, not on the trace before it."""

from hashlib import sha256

_BITS = 53
"""Number of bits of a float between 0 and 1."""


def own_seed(*labels: int | str) -> int:
    """Return a number from 0 to 2⁶⁴ − 1 that depends on labels alone, the same on every machine."""
    return int.from_bytes(sha256("/".join(map(str, labels)).encode()).digest()[:8])


def own_share(*labels: int | str) -> float:
    """Return a number from [0, 1) that depends on labels alone, uniformly distributed over them.

    Examples
    --------
    >>> round(own_share(1, "user", 7), 3)
    0.208
    """
    return (own_seed(*labels) >> (64 - _BITS)) / (1 << _BITS)
