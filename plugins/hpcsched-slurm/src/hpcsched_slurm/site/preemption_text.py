"""Preemption as YAML: settings of `slurm.conf`, of partitions and of QOS."""

import re
from collections.abc import Iterator, Mapping

from hpcsched.errors import Place
from hpcsched.workload.preemption import PREEMPT_MODES
from hpcsched_slurm.site.yaml_text import commented, duration, scalar
from hpcsched_slurm.syntax.values import parse_time_limit

KEYS = ("preempttype", "preemptmode", "preemptexempttime", "authinfo")
"""Keys of a configuration, in lower case."""
_BY = {"preempt/qos": "qos", "preempt/partition_prio": "partition"}
_TIME_SLICES = (
    "# not as in Slurm: with GANG a QOS suspends others only from a partition of a higher"
    " PriorityTier\n"
)
_EXPIRES = re.compile(r"cred_expire=(\d+)")
YOUNGEST = "preempt_youngest_first"
"""Name among `SchedulerParameters`."""


def preempt_line(
    settings: Mapping[str, str],
    scheduler: Mapping[str, str],
    qos: Mapping[str, Mapping[str, str]],
    places: Mapping[str, Place],
) -> str:
    """Return the block `preempt` of a scenario, or a comment; empty without preemption.

    Parameters
    ----------
    settings
        Values of `slurm.conf` by key in lower case.
    scheduler
        Values of `SchedulerParameters`.
    qos
        Columns of `sacctmgr` of each QOS, by name.
    places
        Places of the settings.
    """
    kind = settings.get(KEYS[0], "preempt/none").lower()
    where = [places.get(key) for key in KEYS]
    by = _BY.get(kind)
    if by is None or (by == "qos" and not any("Preempt" in one for one in qos.values())):
        told = commented(f"# not in the scenario: PreemptType={kind}", where)
        return "" if kind == "preempt/none" else f"{told}\n"
    parts = [f"by: {by}", *_mode("mode", settings.get(KEYS[1], "off"))]
    parts += _time("exempt", settings.get(KEYS[2], ""))
    # A job waits until its credential has expired, before it may get another.
    found = _EXPIRES.search(settings.get(KEYS[3], ""))
    parts.append(f"requeue_delay: {1 + int(found[1] if found else 120)}")
    parts += ["youngest_first: true"] if YOUNGEST in scheduler else []
    line = f"preempt: {{{', '.join(parts)}}}"
    return (
        f"{_TIME_SLICES if by == 'qos' and _suspends(settings) else ''}{commented(line, where)}\n"
    )


def _suspends(settings: Mapping[str, str]) -> bool:
    return "gang" in settings.get(KEYS[1], "").lower().split(",")


def of_qos(columns: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys of a QOS on preemption.

    Examples
    --------
    >>> list(of_qos({"Preempt": "low,free", "PreemptMode": "cluster", "GraceTime": "00:02:00"}))
    ['preempts: [low, free]', 'grace: 2min']
    """
    if columns.get("Preempt"):
        yield f"preempts: [{', '.join(map(scalar, columns['Preempt'].split(',')))}]"
    yield from _mode("mode", columns.get("PreemptMode", ""))
    yield from _time("exempt", columns.get("PreemptExemptTime", ""))
    yield from _time("grace", columns.get("GraceTime", ""))


def of_partition(pairs: Mapping[str, str]) -> Iterator[str]:
    """Yield the tier and the keys of a partition on preemption, from values by key in lower case.

    Slurm shows a mode for each partition, on clusters without preemption too.
    """
    tier = pairs.get("prioritytier", "1")
    if tier != "1" and tier.isdecimal():
        yield f"tier: {tier}"
    yield from _mode("preempt_mode", pairs.get("preemptmode", ""))
    grace = pairs.get("gracetime", "")
    if grace.isdecimal() and int(grace):
        yield f"grace: {duration(int(grace))}"


def _mode(key: str, text: str) -> Iterator[str]:
    """Yield a key with the mode of preemption, which may stand beside `GANG` and `WITHIN`."""
    words = text.lower().split(",")
    for mode in PREEMPT_MODES:
        if mode in words:
            yield f"{key}: {scalar(mode)}"
            return


def _time(key: str, text: str) -> Iterator[str]:
    seconds = None if text == "-1" else parse_time_limit(text)
    if seconds:
        yield f"{key}: {duration(seconds)}"
