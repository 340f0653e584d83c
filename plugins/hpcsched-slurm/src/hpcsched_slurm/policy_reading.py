"""QOS and associations, from slurmdbd's answers as JSON and from the output of `sacctmgr`.

The paths within the objects are the same in v0.0.38 and in v0.0.41 to v0.0.45; only the numbers are
written in another way. Source: answers of Slurm 22.05.8, recorded answers of later versions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from hpcsched.system.limits import JOBS, RELATIVE, Association, LimitSet, Qos
from hpcsched.system.policies import TIME_LIMITS
from hpcsched_slurm.syntax.gres import GRES
from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_scaled_count, parse_size, parse_time_limit
from hpcsched_slurm.versions import FAULTS, fault_in_words, plain_value

_T = TypeVar("_T")
_MEBIBYTE = 2**20
_COUNTED = ("cpu", "mem", "node")
LICENSE = "license/"
"""Prefix of the names of licences among the trackable resources."""

QOS_FIELDS = {
    "Name": "name",
    "Flags": "flags",
    "LimitFactor": "limits/factor",
    "GrpJobs": "limits/max/active_jobs/count",
    "GrpTRES": "limits/max/tres/total",
    "MaxJobsPerUser": "limits/max/jobs/active_jobs/per/user",
    "MaxTRESPerUser": "limits/max/tres/per/user",
    "MaxJobsPerAccount": "limits/max/jobs/active_jobs/per/account",
    "MaxTRESPerAccount": "limits/max/tres/per/account",
    "MaxTRESPerJob": "limits/max/tres/per/job",
    "MaxTRESPerNode": "limits/max/tres/per/node",
    "MinTRESPerJob": "limits/min/tres/per/job",
    "MaxWall": "limits/max/wall_clock/per/job",
    "GrpWall": "limits/max/wall_clock/per/qos",
    "GrpTRESMins": "limits/max/tres/minutes/total",
    "GrpTRESRunMins": "limits/max/tres/minutes/per/qos",
    "MaxTRESMins": "limits/max/tres/minutes/per/job",
    "UsageFactor": "usage_factor",
}
"""Fields of a QOS: their names for `sacctmgr`, and their paths in an answer of slurmrestd."""
ASSOCIATION_FIELDS = {
    "Cluster": "cluster",
    "Account": "account",
    "User": "user",
    "Partition": "partition",
    "ParentName": "parent_account",
    "GrpJobs": "max/jobs/per/count",
    "GrpTRES": "max/tres/total",
    "MaxJobs": "max/jobs/active",
    "MaxTRESPerJob": "max/tres/per/job",
    "MaxTRESPerNode": "max/tres/per/node",
    "MaxWall": "max/jobs/per/wall_clock",
    "GrpWall": "max/per/account/wall_clock",
    "GrpTRESMins": "max/tres/group/minutes",
    "GrpTRESRunMins": "max/tres/group/active",
    "MaxTRESMins": "max/tres/minutes/per/job",
}
"""Fields of an association, likewise."""

Record = Mapping[str, Any]
"""Values by the names of `sacctmgr`: numbers, lists of amounts, texts; missing ones are None."""


def tres_amounts(text: str) -> dict[str, int]:
    """Return the amounts of a list of trackable resources; memory is in MiB.

    Parameters
    ----------
    text
        A list such as `cpu=8,mem=32G,gres/gpu=4,license/matlab=1,billing=8`.

    Raises
    ------
    ValueError
        If it is no such list.

    Examples
    --------
    >>> tres_amounts("cpu=8,mem=2G,billing=8")
    {'cpu': 8, 'mem': 2048, 'billing': 8}
    """
    found: dict[str, int] = {}
    if text.strip().lower() in NOT_GIVEN:
        return found
    for item in text.split(","):
        name, _, amount = item.strip().partition("=")
        size = name == "mem"
        found[name] = (
            -(-parse_size(amount) // _MEBIBYTE) if size else parse_scaled_count(amount, name)
        )
    return found


def read_qos(records: Iterable[Record]) -> tuple[list[Qos], list[str]]:
    """Return the QOS of some records, and sentences about those that are not understood."""
    return _read(records, _qos, "QOS", "Name")


def read_associations(records: Iterable[Record]) -> tuple[list[Association], list[str]]:
    """Return the associations of some records; see `read_qos`."""
    return _read(records, _association, "association of account", "Account")


def records_of_json(listed: Iterable[Mapping[str, Any]], fields: Mapping[str, str]) -> list[Record]:
    """Return the records of objects in slurmdbd's answer; `fields` are their names and paths."""
    return [{name: _at(one, path) for name, path in fields.items()} for one in listed]


def records_of_text(text: str, fields: Iterable[str]) -> list[Record]:
    """Return the records that `sacctmgr --parsable2 --noheader` prints with some fields."""
    names = tuple(fields)
    rows = (line.split("|") for line in text.splitlines() if line)
    return [dict(zip(names, row, strict=False)) for row in rows]


def _read(
    records: Iterable[Record], make: Callable[[Record], _T], what: str, name: str
) -> tuple[list[_T], list[str]]:
    found: list[_T] = []
    told: dict[str, str] = {}
    for record in records:
        try:
            found.append(make(record))
        except FAULTS as error:
            # The first of each kind: there may be thousands.
            fault = fault_in_words(error)
            told.setdefault(
                fault,
                f"the {what} {record.get(name)} is not understood, and left to Slurm: {fault}",
            )
    return found, list(told.values())


def _qos(record: Record) -> Qos:
    flags = record["Flags"] or ()
    listed = flags.split(",") if isinstance(flags, str) else flags
    names = {str(part).strip().lower() for part in listed}
    limits = limit_set(record)
    if "relative" in names:  # shares of the cluster instead of amounts
        limits = LimitSet(left=(RELATIVE,))
    factor, used = record["LimitFactor"], record.get("UsageFactor", "")
    return Qos(
        str(record["Name"]),
        limits,
        bool(names & {"overpartqos", "override_partition_qos"}),
        float(factor) if _given(factor) else None,
        float(used) if used is not None and _given(used) else 1.0,
        bool(names & {"usagefactorsafe", "usage_factor_safe"}),
    )


def _association(record: Record) -> Association:
    texts = (record[name] for name in ("Cluster", "Account", "User", "Partition", "ParentName"))
    cluster, account, user, partition, parent = (str(text or "") for text in texts)
    return Association(cluster, account, user, partition, parent, limit_set(record))


def limit_set(record: Record) -> LimitSet:
    """Return the limits of a record, without those over time; missing fields are none."""
    left = [name for name in TIME_LIMITS if _given(record.get(name))]

    def amounts(tres: str, jobs: str = "") -> dict[str, int]:
        found = {}
        for name, amount in _tres(record.get(tres)).items():
            if name in _COUNTED or name.startswith((GRES, LICENSE)):
                found[name] = amount
            else:
                left.append(f"{tres} {name}")
        return found | _jobs(record.get(jobs))

    wall = record.get("MaxWall")
    return LimitSet(
        amounts("GrpTRES", "GrpJobs"),
        amounts("MaxTRESPerUser", "MaxJobsPerUser"),
        amounts("MaxTRESPerAccount", "MaxJobsPerAccount"),
        _jobs(record.get("MaxJobs")),
        amounts("MaxTRESPerJob"),
        amounts("MaxTRESPerNode"),
        amounts("MinTRESPerJob"),
        _seconds(wall) if _given(wall) else None,
        tuple(dict.fromkeys(left)),
        _tres(record.get("MaxTRESMins")),
    )


def _jobs(value: Any) -> dict[str, int]:
    return {JOBS: int(value)} if _given(value) else {}


def _tres(value: Any) -> dict[str, int]:
    """Return the amounts of a list in either form."""
    if isinstance(value, str) or value is None:
        return tres_amounts(value or "")
    found = {}
    for one in value:
        name = f"{one['type']}/{one['name']}" if one["name"] else str(one["type"])
        found[name] = int(one["count"])
    return found


def _seconds(wall: Any) -> int | None:
    return parse_time_limit(wall) if isinstance(wall, str) else int(wall) * 60


def _given(value: Any) -> bool:
    return value is not None and value not in ("", [])


def _at(one: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path; None where it is missing, as limits that are not known yet."""
    found: Any = one
    for key in path.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return plain_value(found)
