"""Single values as Slurm writes them: counts, memory sizes, time limits.

Source: the manual pages `sacct` and `slurm.conf` of SchedMD.
"""

import re

from hpcsched.parameters import LARGEST

NOT_GIVEN = frozenset({"", "unknown", "none", "n/a", "(null)", "invalid", "none assigned"})
"""Texts for a missing value, in lower case."""

NO_LIMIT = NOT_GIVEN | {"unlimited", "infinite", "partition_limit"}
"""Time limits that are no times, in lower case."""

POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
"""Factors of the suffixes of sizes and counts, in capitals."""

_DURATION = re.compile(r"(?:([0-9]{1,7})-)?([0-9]{1,10})(?::([0-9]{1,4}))?(?::([0-9]{1,4}))?")
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGTPE])?B?", re.IGNORECASE)
_SCALED = re.compile(r"([0-9]{1,15})([KMGTP]?)", re.IGNORECASE)


def is_scaled_count(text: str) -> bool:
    """Return whether a text is a count such as `4` or `2K`."""
    return _SCALED.fullmatch(text) is not None


def parse_scaled_count(text: str, what: str) -> int:
    """Return a count such as `4` or `2K`, which is 2048.

    Raises
    ------
    ValueError
        If the text is not a count, or the count is over 2⁵³.
    """
    match = _SCALED.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a number of {what}, found {text!r}")
    count = int(match[1]) * POWERS[match[2].upper()]
    if count > LARGEST:
        raise ValueError(f"expected at most {LARGEST} {what}, found {text!r}")
    return count


def parse_time_limit(text: str) -> int | None:
    """Return a time limit such as `1-02:03:04`, `02:03:04`, `03:04` or `90` (minutes) in seconds.

    Returns
    -------
    int or None
        Seconds; None without a limit (`UNLIMITED`, `Partition_Limit`) or value.

    Raises
    ------
    ValueError
        If the text is not a time limit.

    Examples
    --------
    >>> parse_time_limit("1-02:03:04"), parse_time_limit("90")
    (93784, 5400)
    """
    if text.strip().lower() in NO_LIMIT:
        return None
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a time limit such as 1-02:03:04, found {text!r}")
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    # With days the first is hours; without, it is hours only where there are three.
    if days is not None or len(numbers) == len(parts):
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    else:
        hours, (minutes, seconds) = 0, (*numbers, 0)[:2]
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + seconds


def parse_size(text: str, default_power: str = "M") -> int:
    """Return a size such as `4000M`, `1.50G` or `16` in bytes.

    Units are powers of 1024; a fraction of a byte is rounded up.

    Parameters
    ----------
    default_power
        Unit of a number without one: `K`, `M`, `G`, `T`, `P`, `E`, or empty for bytes.

    Raises
    ------
    ValueError
        If the text is not a size, or the size is over 2⁵³ bytes.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an amount of memory such as 4000M or 16G, found {text!r}")
    power = POWERS[(match[2] or default_power).upper()]
    whole, _, fraction = match[1].partition(".")
    size = int(whole) * power
    if fraction:
        # Whole-number arithmetic: 1.1G has no exact float.
        size += -(-int(fraction) * power // 10 ** len(fraction))
    if size > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes, found {text!r}")
    return size


def parse_requested_memory(text: str, nodes: int, cores: int) -> int | None:
    """Return the requested memory of a whole job, from `ReqMem`, in bytes.

    Up to Slurm 20.11 the text gives memory per node (`16Gn`) or per core (`4000Mc`), later the
    total (`16G`). The value 0 requests all memory of the nodes, of unknown size: it counts as
    missing.

    Returns
    -------
    int or None
        Bytes; None if not given.

    Raises
    ------
    ValueError
        If the text is not a size, or the total is over 2⁵³ bytes.
    """
    if text.strip().lower() in NOT_GIVEN:
        return None
    size = text.strip()
    times = {"n": nodes, "c": cores}.get(size[-1], 1)
    total = parse_size(size.rstrip("nc")) * times
    if total > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes in all, found {text!r}")
    return total or None
