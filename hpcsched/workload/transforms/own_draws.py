"""Random numbers that belong to a user or a job, whatever comes before it in the trace."""

from hashlib import sha256

_BITS = 53
"""As many as a float between 0 and 1 can have."""


def own_seed(*labels: int | str) -> int:
    """Return a number from 0 to 2⁶⁴ − 1 that follows from labels alone, on every machine."""
    return int.from_bytes(sha256("/".join(map(str, labels)).encode()).digest()[:8])


def own_share(*labels: int | str) -> float:
    """Return a number from [0, 1) that follows from labels alone, evenly spread over them."""
    return (own_seed(*labels) >> (64 - _BITS)) / (1 << _BITS)
