"""File of the limits that a live run saw: a line of JSON for each of its jobs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import read_file
from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.group_limits import LimitedJob


class SeenLimits(NamedTuple):
    """Limits of a job, and its draw from shared resources."""

    job: LimitedJob
    shared: Mapping[str, int]


def limits_line(job_id: int, seen: SeenLimits) -> str:
    """Return the line of a job."""
    groups, limits, usage = seen.job.groups, seen.job.limits, seen.job.usage
    told = [{"group": one.group, "counted": one.counted, "most": one.most, "name": one.name}
            for one in limits]  # fmt: skip
    content = {
        "job_id": job_id, "groups": groups, "limits": told, "usage": dict(usage),
        "shared": dict(seen.shared), "until": seen.job.until, "why": seen.job.why,
    }  # fmt: skip
    return json.dumps(content) + "\n"


def read_limits(path: Path) -> dict[int, SeenLimits]:
    """Return the limits in a file, by number of the job.

    Raises
    ------
    InputError
        If the file cannot be read or is damaged.
    """
    try:
        lines = read_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _fault(path, f"it cannot be read: {error}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            content = json.loads(line)
            found[int(content["job_id"])] = _seen(content)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            told = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise _fault(path, f"expected the limits of a job: {told}", number) from error
    return found


def _seen(content: Mapping[str, Any]) -> SeenLimits:
    limits = (
        ClusterLimit(str(one["group"]), str(one["counted"]), int(one["most"]), str(one["name"]))
        for one in content["limits"]
    )
    groups = tuple(map(str, content["groups"]))
    usage = {str(name): int(amount) for name, amount in content["usage"].items()}
    shared = {str(name): int(amount) for name, amount in content["shared"].items()}
    until, why = int(content["until"]), str(content["why"])
    key = str(content["job_id"])
    return SeenLimits(LimitedJob(key, groups, tuple(limits), usage, until, why), shared)


def _fault(path: Path, message: str, line: int | None = None) -> InputError:
    return InputError(Finding("damaged-file", message, Place(str(path), line)))
