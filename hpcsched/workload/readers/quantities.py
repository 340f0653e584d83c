"""Conversion of numbers and calendar times in logs to whole numbers of jobs and Unix times."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Literal, NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.system.space import units_on_idle
from hpcsched.system.system import Request, System
from hpcsched.workload.readers.policies import FractionalSeconds, UnusableError

# int() and float() take more than digits: `1_0`, `nan`, digits of other scripts.
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
# No count of a real system is longer, and a text of a million digits takes long to read.
_COUNT = re.compile(r"[0-9]{1,9}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def parse_count(text: str, what: str) -> int:
    """Return a whole number of at least 0, such as a number of nodes.

    Raises ValueError if the text is no such number.

    Examples
    --------
    >>> parse_count("08", "cores")
    8
    """
    if not _COUNT.fullmatch(text):
        raise ValueError(f"expected a number of {what}, found {text!r}")
    return int(text)


def exact_number(value: object) -> int | Fraction:
    """Return a number, given as one or as text, as it is written: sums of decimals are exact."""
    # True is an int in Python.
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return value
    text = str(value).strip() if isinstance(value, str | float) else ""
    if text.isdecimal() and text.isascii():
        return int(text)
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"expected a number, found {_shown(value)}")
    found = Fraction(text)
    return found.numerator if found.denominator == 1 else found


def whole_number(value: object) -> int:
    """Return a whole number given as int, as float (`4.0`) or as text; -1 for any below 0."""
    number = exact_number(value)
    if not isinstance(number, int):
        raise ValueError(f"expected a whole number, found {_shown(value)}")
    return _bounded(number)


def scaled(value: object, factor: Fraction) -> int:
    """Return a number × a factor, rounded up; -1 for any below 0."""
    number = exact_number(value)
    # A small negative number would be rounded up to 0, which is a value.
    return -1 if number < 0 else _bounded(math.ceil(number * factor))


class WholeSeconds:
    """Reader of times in whole seconds: a policy decides on fractions.

    Parameters
    ----------
    policy
        The policy; `outward` rounds instants down, so that jobs keep their order, and durations up,
        so that a job of a fraction of a second has a run time above 0.

    Attributes
    ----------
    rounded
        Whether a time was rounded since this was last set to False.

    Examples
    --------
    >>> seconds = WholeSeconds("outward")
    >>> seconds.duration("12.7"), seconds.instant("12.7"), seconds.rounded
    (13, 12, True)
    """

    def __init__(self, policy: FractionalSeconds) -> None:
        self._policy = policy
        self.rounded = False

    def instant(self, value: object, factor: Fraction | int = 1) -> int:
        """Return an instant in seconds; -1 for any negative number, which means not given.

        Parameters
        ----------
        factor
            Seconds in its unit: 1/1000 for milliseconds.
        """
        return self._whole(value, factor, math.floor)

    def duration(self, value: object, factor: Fraction | int = 1) -> int:
        """Return a duration in seconds; otherwise as `instant`."""
        return self._whole(value, factor, math.ceil)

    def _whole(
        self, value: object, factor: Fraction | int, rounding: Callable[[Fraction], int]
    ) -> int:
        number = exact_number(value) * factor
        if isinstance(number, Fraction) and number.denominator > 1 and number > 0:
            if self._policy != "outward":
                message = f"expected whole seconds, found {_shown(float(number))}"
                raise UnusableError("fractional_seconds", message)
            self.rounded = True
            return _bounded(rounding(number))
        return _bounded(math.floor(number))


def _bounded(number: int) -> int:
    if number > LARGEST:
        raise ValueError(f"expected a number up to {LARGEST}")
    return max(number, -1)


def _shown(value: object) -> str:
    """Return a value quoted for a message, cut after 40 characters."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a huge number"
    return text if len(text) <= 40 else f"{text[:40]}…"


def iso_instant(text: str, zone: tzinfo | None) -> int | Fraction:
    """Return the Unix time, in seconds, of a text such as `2024-05-01T12:30:00+02:00`.

    Parts of a microsecond are cut off.

    Parameters
    ----------
    zone
        Zone of times without an offset; None: there must be an offset.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"expected an ISO 8601 time, found {text[:40]!r}") from None
    return unix_time(moment, zone)


def unix_time(moment: datetime, zone: tzinfo | None = None) -> int | Fraction:
    """Return the Unix time, in seconds, of a time with a zone, or of a local time in `zone`.

    Of a time that clocks show twice, the first is meant; a time that they skip counts as if they
    had not been put forward yet.
    """
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError("the time has no offset from UTC, and no 'time_zone' is given")
        moment = moment.replace(tzinfo=zone)
    try:
        return in_seconds(moment - _EPOCH)
    except OverflowError:
        raise ValueError("expected a time from year 1 to 9999") from None


def in_seconds(span: timedelta) -> int | Fraction:
    """Return the seconds of a time span."""
    return exact_number(Fraction(span // _MICROSECOND, 10**6))


_DIVISIBLE = "mem"
"""Resource type that any number of units can share, rounded up: bytes, of which there are many."""


class EqualUnits(NamedTuple):
    """Equal units of a job.

    Attributes
    ----------
    units
        Number of units.
    amounts
        Declared amounts of each unit.
    uneven
        Whether the nodes of the log cannot have had these amounts.
    per_node
        Whether each unit stands for one node of the log.
    """

    units: int
    amounts: Mapping[str, int | Fraction]
    uneven: bool = False
    per_node: bool = False


def on_nodes(amounts: Mapping[str, int], nodes: int) -> EqualUnits:
    """Return one unit for each node, with amounts rounded up where they cannot be divided equally.

    Memory is rounded up to whole bytes, which does not count as uneven.

    Parameters
    ----------
    amounts
        Declared amounts of the whole job.
    nodes
        Number of nodes, at least 1.
    """
    shared = {name: -(-amount // nodes) for name, amount in amounts.items()}
    uneven = any(amount % nodes for name, amount in amounts.items() if name != _DIVISIBLE)
    return EqualUnits(nodes, shared, uneven, per_node=True)


def smallest(amounts: Mapping[str, int]) -> EqualUnits:
    """Return the largest possible number of equal units: 8 cores and 2 GPUs make 2 units."""
    units = gcd(*(amount for name, amount in amounts.items() if name != _DIVISIBLE))
    return EqualUnits(units, {name: -(-amount // units) for name, amount in amounts.items()})


def divided(
    amounts: Mapping[str, int],
    parts: int,
    policy: Literal["spread", "up", "skip", "error"],
    what: Literal["nodes", "units"],
) -> EqualUnits:
    """Return the units of a job on its nodes; the policy decides on an uneven division.

    `spread` makes the smallest units, `up` rounds up. Otherwise UnusableError is raised, with the
    reason `uneven_nodes` or `uneven_units`.
    """
    found = on_nodes(amounts, parts)
    if not found.uneven or policy == "up":
        return found
    if policy == "spread":
        return smallest(amounts)._replace(uneven=True)
    told = ", ".join(f"{n} {name}" for name, n in amounts.items() if n and name != _DIVISIBLE)
    raise UnusableError(f"uneven_{what}", f"{told} cannot be shared equally among {parts} {what}")


def processors_per_node(system: System, request: tuple[int, ...]) -> int:
    """Return the number of processors with this request that fit on a node of the largest group.

    The largest group is that with the most nodes, the first among equals.
    """
    largest = max(range(len(system.groups)), key=lambda k: system.groups[k].count)
    first = sum(group.count for group in system.groups[:largest])
    return int(units_on_idle(system, Request(1, request))[first])


@lru_cache(maxsize=4096)
def whole_nodes(processors: int, per_node: int) -> tuple[int, int]:
    """Pack processors into units that fill whole nodes where possible.

    A unit has a whole node's processors if the request is a multiple of them, and otherwise the
    largest number that divides the request and fits on a node.

    Parameters
    ----------
    processors
        Number of requested processors, at least 1.
    per_node
        Number of processors of a node, at least 1.

    Examples
    --------
    >>> [whole_nodes(n, 20) for n in (40, 30, 7, 23)]
    [(2, 20), (2, 15), (1, 7), (23, 1)]
    """
    # Largest divisor first; 1 divides every number, so that there always is one.
    size = next(d for d in range(min(processors, per_node), 0, -1) if processors % d == 0)
    return processors // size, size
