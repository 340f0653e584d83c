"""Check of the summary of a trace that was planned at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from hpcsched.audit.violations import Check, compare

_PROVED = 1e-6


def check_offline(summary: Mapping[str, Any], *, expected: bool) -> Iterator[Check]:
    """Yield a check of the lower bound, the gap and the claim of optimality.

    Parameters
    ----------
    expected
        True for a complete run of a scenario that is planned at once: its summary must have these
        figures, and no other may.
    """
    stated = summary.get("offline")
    if stated is None and not expected:
        return
    check = Check("the off-line plan is not better than its lower bound, and the gap is right")
    check.expect("offline: figures are there", expected, stated is not None)
    if stated is None:
        yield check
        return
    value = summary.get("objective", {}).get("value")
    compare(check, "offline.value", value, stated.get("value"))
    bound = stated.get("lower_bound")
    if value is None or bound is None:
        check.notes.append("there is no lower bound")
        check.expect("offline.gap", None, stated.get("gap"))
        check.expect("offline.proved", None, stated.get("proved"))
        yield check
        return
    check.looked_at += 1
    if bound > value:
        check.found(f"offline.lower_bound: expected at most {value}, found {bound}")
    # Avoids 0 / 0 where an objective of 0 is proved optimal.
    gap = 0.0 if value == bound else (value - bound) / abs(value)
    compare(check, "offline.gap", gap, stated.get("gap"))
    check.expect("offline.proved", gap <= _PROVED, stated.get("proved"))
    yield check
