"""Whole numbers in the texts of workload managers: nodes, cores, weights."""

import re

# No count of a real system is longer, and a text of a million digits takes long to read.
_COUNT = re.compile(r"[0-9]{1,9}")


def is_count(text: str) -> bool:
    """Return whether a text is a whole number of at least 0."""
    return _COUNT.fullmatch(text) is not None


def parse_count(text: str, what: str) -> int:
    """Return a whole number of at least 0.

    Raises ValueError if the text is no such number.

    Examples
    --------
    >>> parse_count("08", "cores")
    8
    """
    if not is_count(text):
        raise ValueError(f"expected a number of {what}, found {text!r}")
    return int(text)
