"""Versions of Slurm's JSON: jobs and nodes of all of them in one form.

That form is the one of v0.0.38 (Slurm 22.05), whose values are plain. From v0.0.41 (Slurm 24.05)
on, a number that may be missing is an object `{"set": true, "infinite": false, "number": 1}`, and
states are lists. Source: recorded answers of v0.0.38 and of v0.0.41 to v0.0.44, and answers of
Slurm 26.05.5 in v0.0.45.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from hpcsched import Finding, InputError

_T = TypeVar("_T")

OLDEST = 38
"""The last part of v0.0.38, whose objects need no change."""
NEWER = range(41, 46)
"""The last parts of the other versions that are known; v0.0.39 and v0.0.40 were not tried."""

FAULT = "fault"
"""Key of an object that could not be brought into the common form: the reason, in words."""
FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of objects that are not as known."""

MOST = 2**43
"""Largest number in a field of a job or a node: of MiB, so many bytes fit into 64 bits."""

AS_OLDEST = frozenset({37, OLDEST})
"""Commands of Slurm 22.05 say that they are of v0.0.37, and print the same as v0.0.38."""
_VERSION = re.compile(r"v0\.0\.(\d+)")
_NUMBER = frozenset({"set", "infinite", "number"})
_MORE_THAN_A_STATE = (
    "COMPLETING",
    "CONFIGURING",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
)
"""Flags of a job's state that say more of it than the state does."""
_TRES = ("tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task")


def version_name(number: int) -> str:
    """Return the name of a version by its last part.

    Examples
    --------
    >>> version_name(41)
    'v0.0.41'
    """
    return f"v0.0.{number}"


def known_versions() -> str:
    """Return the known versions in words."""
    return f"{version_name(OLDEST)} or {version_name(NEWER[0])} to {version_name(NEWER[-1])}"


def best_version(offered: Iterable[int]) -> int | None:
    """Return which of the offered versions to speak; None: none of them can be read.

    The newest known one. If all are newer, the oldest of these is the one most like a known one.

    Examples
    --------
    >>> best_version([39, 40, 41, 42]), best_version([47, 46]), best_version([39, 40])
    (42, 46, None)
    """
    numbers = set(offered)
    known = [number for number in numbers if number in NEWER or number in AS_OLDEST]
    newer = [number for number in numbers if number > NEWER[-1]]
    return max(known, default=min(newer, default=None))


def version_of(content: Mapping[str, Any]) -> int | None:
    """Return the last part of the version that an answer says it is of; None: it names none."""
    plugin = (content.get("meta") or {}).get("plugin") or {}
    for key in ("data_parser", "type"):
        found = _VERSION.search(str(plugin.get(key) or ""))
        if found:
            return int(found[1])
    return None


def check_version(content: Mapping[str, Any], who: str) -> int:
    """Return the version of an answer.

    Raises
    ------
    InputError
        If this version cannot be read.
    """
    number = version_of(content)
    if number is None or best_version([number]) is None:
        found = "none" if number is None else version_name(number)
        raise unknown_version(f"answers of {who} are of version {found}")
    return number


def unknown_version(what: str) -> InputError:
    """Return the error that a version cannot be read."""
    return InputError(Finding("unknown-version", f"{what}; expected {known_versions()}"))


def newer_warning(number: int) -> str | None:
    """Return a warning if a version is newer than all that are known, else None."""
    if number <= NEWER[-1]:
        return None
    newest = version_name(NEWER[-1])
    return f"version {version_name(number)} of Slurm is not known here; it is read as {newest}"


def whole(one: Mapping[str, Any], field: str) -> int:
    """Return the whole number in a field; 0 where it is empty.

    Raises
    ------
    ValueError
        If it is none from 0 to `MOST`, with the name of the field.
    """
    value = one[field]
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if value is None or value == "":
        return 0
    if not isinstance(value, int | float) or not 0 <= value <= MOST or value % 1:
        raise ValueError(
            f"field {field}: expected a whole number from 0 to {MOST}, found {value!r}"
        )
    return int(value)


def odd_number(content: Any, path: str) -> str | None:
    """Return where a number is that is infinite, none or of more than 64 bits; None if nowhere."""
    parts: Iterable[tuple[Any, Any]]
    if isinstance(content, Mapping):
        parts = content.items()
    elif isinstance(content, list):
        parts = enumerate(content)
    else:
        odd = isinstance(content, int | float) and not abs(content) < 2**64
        return f"{path}: expected a number of at most 64 bits, found {content!r}" if odd else None
    return next(filter(None, (odd_number(part, f"{path}.{key}") for key, part in parts)), None)


def fault_in_words(error: Exception) -> str:
    """Return the fault of an object that is not of the known form."""
    if isinstance(error, KeyError):
        return f"no field {error.args[0]}"
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def plain_jobs(number: int, jobs: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return jobs of a version in the form of v0.0.38.

    One that cannot be brought into this form has the reason under the key `FAULT`.

    Raises
    ------
    InputError
        If this is so for all of them.
    """
    return _plain(number, jobs, "jobs", _plain_job)


def plain_nodes(number: int, nodes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return nodes of a version in the form of v0.0.38; see `plain_jobs`.

    Raises
    ------
    InputError
        If none can be brought into this form.
    """
    return _plain(number, nodes, "nodes", _plain_node)


def plain_reservations(
    number: int, reservations: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return reservations of a version in the form of v0.0.38; see `plain_jobs`.

    Raises
    ------
    InputError
        If none can be brought into this form.
    """
    return _plain(number, reservations, "reservations", _with_plain_values)


def plain_partitions(
    number: int, partitions: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, str]]:
    """Return partitions of a version as pairs of `scontrol show partitions`.

    Raises
    ------
    InputError
        If a field that is needed is missing.
    """
    change = _old_partition if number in AS_OLDEST else _partition
    return _changed(number, partitions, "partitions", change)


def _plain(
    number: int,
    listed: Iterable[Mapping[str, Any]],
    what: str,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    if number in AS_OLDEST:
        return [one if isinstance(one, Mapping) else {FAULT: "no object"} for one in listed]
    found: list[Mapping[str, Any]] = []
    faults: list[str] = []
    for one in listed:
        try:
            found.append(change(one))
        except FAULTS as error:
            faults.append(fault_in_words(error))
            known = _with_plain_values(one) if isinstance(one, Mapping) else {}
            # A state or a name is of use also where something else is not as known.
            state = known.get("job_state")
            first = {"job_state": str(state[0])} if isinstance(state, list) and state else {}
            found.append({**known, **first, FAULT: faults[-1]})
    # One odd object is no matter; if all are odd, it is the version.
    if faults and len(faults) == len(found):
        missing = f"{what} of {version_name(number)} are not as known: {faults[0]}"
        raise InputError(Finding("missing-field", missing))
    return found


def _changed(
    number: int,
    listed: Iterable[Mapping[str, Any]],
    what: str,
    change: Callable[[Mapping[str, Any]], _T],
) -> list[_T]:
    try:
        return [change(one) for one in listed]
    except KeyError as error:
        missing = f"{what} of {version_name(number)} have no field {error.args[0]}"
        raise InputError(Finding("missing-field", missing)) from None


def _with_plain_values(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain_value(value) for key, value in one.items()}


def _plain_job(job: Mapping[str, Any]) -> Mapping[str, Any]:
    plain = _with_plain_values(job)
    first, *flags = [str(state) for state in job["job_state"]]
    ways = [*job["shared"], *job.get("exclusive", ())]
    alone = "none" in ways or "true" in ways
    return plain | {
        "job_state": next((flag for flag in _MORE_THAN_A_STATE if flag in flags), first),
        "shared": "none" if alone else next(iter(ways), ""),
        # Processors of tasks are listed here too, and counted elsewhere.
        **{field: _generic(str(job[field] or "")) for field in _TRES},
        "job_resources": _allocated(job["job_resources"]),
    }


def _plain_node(node: Mapping[str, Any]) -> Mapping[str, Any]:
    state, *flags = node["state"]
    features = ",".join(node["active_features"])
    plain = _with_plain_values(node)
    return plain | {"state": state, "state_flags": flags, "active_features": features}


def _partition(partition: Mapping[str, Any]) -> Mapping[str, str]:
    most, own = partition["maximums"], partition["partition"]
    # Up to v0.0.44, no share at all is Slurm's number for whole nodes; v0.0.45 tells it in words,
    # and always has 0.
    shares = (
        own["oversubscribe"] if "oversubscribe" in own else "" if most["shares"] else "EXCLUSIVE"
    )
    pairs = {
        "partitionname": partition["name"],
        "nodes": partition["nodes"]["configured"],
        "maxtime": plain_value(most["time"]),
        "priorityjobfactor": partition["priority"]["job_factor"],
        "prioritytier": partition["priority"].get("tier"),
        "tresbillingweights": partition.get("tres", {}).get("billing_weights"),
        "maxnodes": plain_value(most["nodes"]),
        "minnodes": partition["minimums"]["nodes"],
        "maxcpuspernode": plain_value(most["cpus_per_node"]),
        "maxcpuspersocket": plain_value(most.get("cpus_per_socket")),
        "maxmempernode": plain_value(most["partition_memory_per_node"]),
        "maxmempercpu": plain_value(most["partition_memory_per_cpu"]),
        "allowaccounts": partition["accounts"]["allowed"],
        "denyaccounts": partition["accounts"]["deny"],
        "allowgroups": partition["groups"]["allowed"],
        "allowqos": partition["qos"]["allowed"],
        "denyqos": partition["qos"]["deny"],
        "qos": partition["qos"]["assigned"],
        "state": ",".join(own["state"]),
        "exclusive": own.get("exclusive"),
        "oversubscribe": shares,
    }
    return _as_text(pairs)


def _old_partition(partition: Mapping[str, Any]) -> Mapping[str, str]:
    """Return a partition of v0.0.38, where 0 or -1 is no limit."""
    pairs = {
        "partitionname": partition["name"],
        "nodes": partition["nodes"],
        "maxtime": partition.get("max_time_limit"),
        "priorityjobfactor": partition.get("priority_job_factor"),
        "prioritytier": partition.get("priority_tier"),
        "tresbillingweights": partition.get("billing_weights"),
        "maxnodes": partition.get("maximum_nodes_per_job"),
        "minnodes": partition.get("min nodes per job"),  # so in Slurm 22.05
        "maxcpuspernode": partition.get("maximum_cpus_per_node"),
        "maxmempernode": partition.get("maximum_memory_per_node"),
        "maxmempercpu": partition.get("maximum_memory_per_cpu"),
        "allowaccounts": partition.get("allowed_accounts"),
        "denyaccounts": partition.get("denied_accounts"),
        "allowgroups": partition.get("allowed_groups"),
        "allowqos": partition.get("allowed_qos"),
        "denyqos": partition.get("denied_qos"),
        "qos": partition.get("qos"),
        "state": partition.get("state"),
    }
    return _as_text({key: None if value == -1 else value for key, value in pairs.items()})


def _as_text(pairs: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in pairs.items() if value not in {None, ""}}


def plain_value(value: Any) -> Any:
    """Return a number, or None for one that is missing or infinite; other values as they are."""
    if isinstance(value, dict) and value.keys() >= _NUMBER:
        return value["number"] if value["set"] and not value["infinite"] else None
    return value


def _generic(text: str) -> str:
    """Return the generic resources of a list of trackable resources."""
    return ",".join(item for item in text.split(",") if item.startswith(("gres/", "gres:")))


def _allocated(resources: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the resources of a job on its nodes."""
    allocation = ((resources or {}).get("nodes") or {}).get("allocation") or ()
    return {
        "allocated_nodes": [
            {
                "nodename": node["name"],
                "memory_allocated": node["memory"]["allocated"],
                "sockets": {
                    str(socket["index"]): {"cores": _core_states(socket["cores"])}
                    for socket in node["sockets"]
                },
            }
            for node in allocation
        ]
    }


def _core_states(cores: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {
        str(core["index"]): "allocated" if "ALLOCATED" in core["status"] else "unassigned"
        for core in cores
    }
