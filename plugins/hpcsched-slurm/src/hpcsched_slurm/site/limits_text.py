"""Limits of QOS and associations as YAML, from the columns that `sacctmgr` prints."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from hpcsched.system.limits import JOBS, NODES
from hpcsched_slurm.policy_reading import limit_set, tres_amounts
from hpcsched_slurm.site.yaml_text import duration
from hpcsched_slurm.syntax.associations import OTHERS
from hpcsched_slurm.syntax.gres import GRES, resource_type
from hpcsched_slurm.syntax.values import parse_time_limit
from hpcsched_slurm.versions import FAULTS

_OVER_TIME = {"total_minutes": "GrpTRESMins", "running_minutes": "GrpTRESRunMins"}


class LimitsText(NamedTuple):
    """The value of a key `limits` as YAML, and the limits that it does not have, as Slurm has them.

    The text is empty without limits.
    """

    text: str
    left_out: tuple[str, ...] = ()


def limits_text(
    columns: Mapping[str, str], types: Collection[str], *, of_user: bool = False
) -> LimitsText:
    """Return the limits of a QOS, an account or a user.

    Parameters
    ----------
    columns
        Limits by the names of `sacctmgr`.
    types
        Resource types of the scenario; limits on others are left out.
    of_user
        Whether they are those of a user in an account.

    Examples
    --------
    >>> limits_text({"GrpTRES": "cpu=8,gres/x=2", "MaxJobs": "3", "MaxWall": "1-0"}, {"core"})
    LimitsText(text='{total: {core: 8}, per_user: {jobs: 3}, max_time: 1d}', left_out=('gres/x=2',))
    """
    left_out: list[str] = []

    def amounts(found: Mapping[str, int], *, minutes: bool = False) -> str:
        named = {}
        for name, amount in found.items():
            key = {"cpu": "core", "node": NODES, JOBS: JOBS, "mem": "mem"}.get(name, "")
            if name.startswith(GRES) and ":" not in name:
                key = resource_type(name.removeprefix(GRES)) or ""
            # Minutes of memory would be of bytes.
            if key in {NODES, JOBS} or (key in types and not (minutes and key == "mem")):
                named[key] = f"{amount}MiB" if key == "mem" else str(amount)
            else:
                left_out.append(f"{name}={amount}")
        return _flow(named)

    try:
        found = limit_set(columns)
        wall = parse_time_limit(columns.get("GrpWall", ""))
        over_time = {
            key: amounts(tres_amounts(columns.get(name, "")), minutes=True)
            for key, name in (
                ("total_minutes", "GrpTRESMins"),
                ("running_minutes", "GrpTRESRunMins"),
            )
        }
    except FAULTS as error:
        return LimitsText("", (f"{_pairs(columns)}: {error}",))
    own = ({**found.group, **found.own}, {}) if of_user else (found.group, found.own)
    left_out += [one for one in found.left if one not in columns]
    left_out += [f"{name}={columns[name]}" for name in OTHERS if name in columns]
    values = {
        "total": amounts(own[0]),
        "per_user": amounts({**found.user, **own[1]}),
        "per_account": amounts(found.account),
        "per_job": amounts(found.job),
        "per_node": amounts(found.node),
        "least": amounts(found.least),
        "max_time": "" if found.wall is None else duration(found.wall),
        **over_time,
        "job_minutes": amounts(found.job_minutes, minutes=True),
        "wall_minutes": "" if wall is None else str(wall // 60),
    }
    return LimitsText(_flow({key: value for key, value in values.items() if value}), (*left_out,))


def _flow(values: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {value}' for key, value in values.items())}}}" if values else ""


def _pairs(columns: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in columns.items())
