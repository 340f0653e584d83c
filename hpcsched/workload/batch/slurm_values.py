"""Values as Slurm writes them: job ids, time limits, memory, and counts of trackable resources.

Source: the manual pages `sacct` and `slurm.conf`, and the page on trackable resources (TRES), of
SchedMD.
"""

import re
from typing import NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.workload.batch.part_numbers import component_number, task_number

NOT_GIVEN = frozenset({"", "unknown", "none", "n/a", "invalid", "none assigned"})
"""What stands where there is nothing to say, in lower case."""

NO_LIMIT = NOT_GIVEN | {"unlimited", "infinite", "partition_limit"}
"""Time limits that are no times, in lower case."""

_JOB_ID = re.compile(
    r"(?P<job>[0-9]{1,9})"
    r"(?:_(?P<task>[0-9]{1,7})|_(?P<pending>\[[^\]|]*\])|\+(?P<component>[0-9]{1,6}))?"
    r"(?P<step>\.[^\s|]+)?"
)
_DURATION = re.compile(r"(?:([0-9]{1,7})-)?([0-9]{1,10})(?::([0-9]{1,4}))?(?::([0-9]{1,4}))?")
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([KMGTPE])?B?", re.IGNORECASE)
_POWERS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}
_COUNT = re.compile(r"[0-9]{1,9}")


class SlurmJobId(NamedTuple):
    """What a job id says: the number of the job, or of the part of a job, that it is about.

    `is_step` says that it is about a job step; `is_pending` that it is about the tasks of an array
    that have not started, which have one record together.
    """

    number: int
    is_step: bool = False
    is_pending: bool = False


def parse_job_id(text: str) -> SlurmJobId:
    """Return what a job id such as `123`, `123_4`, `123+1` or `123.batch` says.

    Raises ValueError for any other text.
    """
    match = _JOB_ID.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a job id such as 123, 123_4 or 123+1, found {text!r}")
    number = int(match["job"])
    if match["task"]:
        number = task_number(number, int(match["task"]))
    elif match["component"]:
        number = component_number(number, int(match["component"]))
    return SlurmJobId(number, bool(match["step"]), bool(match["pending"]))


def parse_time_limit(text: str) -> int | None:
    """Return the seconds of a limit such as `1-02:03:04`, `02:03:04`, `03:04` or `90` (minutes).

    None where it is not given or there is none (`UNLIMITED`, `Partition_Limit`). Raises ValueError
    for any other text.
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
    """Return the bytes of a size such as `4000M`, `1.50G` or `16` (of the default unit).

    Units are powers of 1024. Raises ValueError for any other text, and for more than 2⁵³.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected an amount of memory such as 4000M or 16G, found {text!r}")
    power = _POWERS[(match[2] or default_power).upper()]
    whole, _, fraction = match[1].partition(".")
    size = int(whole) * power
    if fraction:
        size += -(-int(fraction) * power // 10 ** len(fraction))
    if size > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes, found {text!r}")
    return size


def parse_requested_memory(text: str, nodes: int, cores: int) -> int | None:
    """Return the bytes that a whole job requests, of `ReqMem`; None where it is not given.

    Until Slurm 20.11 it is per node (`16Gn`) or per core (`4000Mc`), since then in all (`16G`). 0
    asks for all that the nodes have, however much that is: it counts as not given. Raises
    ValueError for any other text.
    """
    if text.strip().lower() in NOT_GIVEN:
        return None
    size = text.strip()
    times = {"n": nodes, "c": cores}.get(size[-1], 1)
    total = parse_size(size.rstrip("nc")) * times
    if total > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes in all, found {text!r}")
    return total or None


def parse_tres(text: str) -> dict[str, int]:
    """Return the amounts of a list such as `cpu=8,mem=32G,node=2,gres/gpu=4`; memory is in bytes.

    Of all that Slurm keeps track of, `cpu`, `mem`, `node` and `gres/NAME` are taken, with or
    without a type (`gres/gpu:a100`); bills, energy, licences and discs are not of nodes. Raises
    ValueError for a text that is no such list.
    """
    amounts: dict[str, int] = {}
    if text.strip().lower() in NOT_GIVEN:
        return amounts
    for item in text.split(","):
        name, equals, amount = item.strip().partition("=")
        if not (name and equals):
            raise ValueError(f"expected amounts such as cpu=8,mem=32G, found {item!r}")
        if name == "mem":
            amounts[name] = parse_size(amount)
        elif name in {"cpu", "node"} or name.startswith("gres/"):
            amounts[name] = parse_count(amount, name)
    return amounts


def parse_count(text: str, what: str) -> int:
    """Return a whole number from 0 on; raises ValueError, which says what it counts, otherwise."""
    if not _COUNT.fullmatch(text):
        raise ValueError(f"expected a number of {what}, found {text!r}")
    return int(text)
