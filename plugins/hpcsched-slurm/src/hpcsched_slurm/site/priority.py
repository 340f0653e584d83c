"""The queue order `multifactor` from the settings of a site's priority plugin.

Source: the manual page `slurm.conf` of SchedMD.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hpcsched.whole_numbers import parse_count
from hpcsched_slurm.site.yaml_text import duration
from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_time_limit

WEIGHTS = {
    "age": "PriorityWeightAge",
    "size": "PriorityWeightJobSize",
    "fair_share": "PriorityWeightFairshare",
    "partition": "PriorityWeightPartition",
    "qos": "PriorityWeightQOS",
}
"""Keys of `slurm.conf` by the weights of `multifactor`."""

_TYPE = "PriorityType"
_FLAGS = "PriorityFlags"
_MULTIFACTOR = "priority/multifactor"
_CLASSIC = "NO_FAIR_TREE"
_ENABLES_CLASSIC = frozenset({_CLASSIC, "DEPTH_OBLIVIOUS"})
"""Flags with which Slurm does not use Fair Tree."""
_AS_HERE = frozenset({"ACCRUE_ALWAYS"})
"""Flags for what `multifactor` always does."""
_OTHERS = (
    "PriorityCalcPeriod",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityUsageResetPeriod",
    "PriorityWeightAssoc",
    "PriorityWeightTRES",
)
"""Settings that `multifactor` does not have."""
_SPELLING = {key.lower(): key for key in _OTHERS}
_NO_EFFECT = NOT_GIVEN | {"0", "site_factor/none"}


class PriorityOrder(NamedTuple):
    """Order of the queue at a site.

    Attributes
    ----------
    lines
        Lines of YAML for the key `order`, without indentation; empty in order of submission.
    left_out
        Settings that they do not contain, as Slurm writes them.
    notes
        Further sentences on the order.
    """

    lines: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def priority_order(settings: Mapping[str, str]) -> PriorityOrder:
    """Return the order that the settings of the priority plugin stand for.

    Parameters
    ----------
    settings
        Values of `slurm.conf` by key in lower case.

    Examples
    --------
    >>> found = priority_order({"priorityweightage": "500", "priorityweighttres": "CPU=100"})
    >>> found.lines[1]
    'weights: {age: 500, size: 0, fair_share: 0, partition: 0, qos: 0}'
    >>> found.left_out
    ('PriorityWeightTRES=CPU=100',)
    """
    kind = settings.get(_TYPE.lower())
    if not settings or kind not in {None, _MULTIFACTOR}:
        told = [] if kind is None else [f"{_TYPE}={kind}: jobs are in order of submission"]
        return PriorityOrder((), (), tuple(told))
    left_out: list[str] = []

    def read(key: str, parse: Callable[[str], str | None], default: str | None) -> str | None:
        value = settings.get(key.lower())
        if value is None:
            return default
        try:
            found = parse(value)
        except ValueError:
            found = None
        if found is None:
            left_out.append(f"{key}={value}")
        return found if found is not None else default

    weights = ", ".join(f"{name}: {read(key, _weight, '0')}" for name, key in WEIGHTS.items())
    flags = [flag for flag in settings.get(_FLAGS.lower(), "").split(",") if flag]
    unknown = [flag for flag in flags if flag.upper() not in _AS_HERE | {_CLASSIC}]
    pairs = {
        "max_age": read("PriorityMaxAge", _positive, None),
        "half_life": read("PriorityDecayHalfLife", _half_life, None),
        "favor_small": read("PriorityFavorSmall", _truth, None),
        "fair_share": None if _ENABLES_CLASSIC.isdisjoint(map(str.upper, flags)) else "classic",
    }
    if unknown:
        left_out.append(f"{_FLAGS}={','.join(unknown)}")
    left_out += _others(settings)
    notes = []
    if kind is None:
        notes.append(f"{_TYPE} is not stated: these settings count if it is {_MULTIFACTOR}")
    keys = (f"{key}: {value}" for key, value in pairs.items() if value is not None)
    lines = ("name: multifactor", f"weights: {{{weights}}}", *keys)
    return PriorityOrder(lines, tuple(left_out), tuple(notes))


def _others(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that are not read and have an effect."""
    read = {_TYPE, _FLAGS, *WEIGHTS.values(), "PriorityMaxAge", "PriorityDecayHalfLife"}
    known = {key.lower() for key in (*read, "PriorityFavorSmall")}
    for key, value in settings.items():
        if key not in known and value.lower() not in _NO_EFFECT:
            yield f"{_SPELLING.get(key, key)}={value}"


def _weight(text: str) -> str:
    return str(parse_count(text, "weight"))


def _positive(text: str) -> str | None:
    seconds = parse_time_limit(text)
    return duration(seconds) if seconds else None


def _half_life(text: str) -> str | None:
    seconds = parse_time_limit(text)
    # Slurm takes 0 for no decay.
    return "null" if seconds == 0 else None if seconds is None else duration(seconds)


def _truth(text: str) -> str | None:
    return {"yes": "true", "no": "false"}.get(text.lower())
