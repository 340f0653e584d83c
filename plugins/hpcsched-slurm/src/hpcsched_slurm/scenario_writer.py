"""`hpcsched-slurm-scenario`: writes a scenario for the cluster that Slurm runs here.

Nodes that offer the same and have the same features become a group, named after the letters that
their names begin with.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from hpcsched import HpcschedError
from hpcsched_slurm.manager import Calls
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.reading import MEBIBYTE, Node, node_of, resources_of, warnings_of


def scenario_of(
    nodes: Iterable[Mapping[str, Any]],
    partitions: Sequence[str],
    manager: Mapping[str, Any],
    *,
    history: str,
    dispatcher: str,
) -> dict[str, Any]:
    """Return a scenario; raises ValueError where the partitions have no nodes."""
    groups: dict[tuple[object, ...], list[Node]] = {}
    for node in map(node_of, nodes):
        if node.partitions & set(partitions):
            resources = resources_of(node)
            key = tuple(sorted(resources.items())), tuple(sorted(node.features))
            groups.setdefault(key, []).append(node)
    if not groups:
        raise ValueError(f"no node belongs to {', '.join(partitions)}")
    named: dict[str, list[Node]] = {}
    for members in groups.values():
        named[_group_name(members[0].name, named)] = members
    return {
        "name": "live",
        "system": {
            "groups": [
                {
                    "name": name,
                    "count": len(members),
                    "resources": _declared(resources_of(members[0])),
                }
                for name, members in named.items()
            ]
        },
        "trace": {"source": "slurm-history", "path": history},
        "predictor": "requested-time",
        "dispatcher": dispatcher,
        "live": {
            "workload_manager": {"name": "slurm", **manager},
            "partitions": list(partitions),
            "nodes": {
                name: ",".join(node.name for node in members) for name, members in named.items()
            },
        },
    }


def _declared(resources: Mapping[str, int]) -> dict[str, int | str]:
    memory = f"{resources['mem'] // MEBIBYTE}MiB"
    return {name: memory if name == "mem" else n for name, n in resources.items() if n}


def _group_name(node: str, taken: Iterable[str]) -> str:
    stem = node.rstrip("0123456789").rstrip("-._") or "nodes"
    names = [stem, *(f"{stem}-{k}" for k in range(2, 10_000))]
    return next(name for name in names if name not in set(taken))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the scenario, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-scenario", description=__doc__)
    parser.add_argument("--partition", action="append", required=True, help="can be repeated")
    parser.add_argument("--rest", help="unix:/path/to/socket or http://127.0.0.1:PORT")
    parser.add_argument("--token-file", help="a file with a token, readable by its owner alone")
    parser.add_argument("--history", required=True, help="the file that JobCompLoc names")
    parser.add_argument("--dispatcher", default="easy", help="its name")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    given = parser.parse_args(arguments)
    manager = {
        key: value
        for key, value in (("rest", given.rest), ("token_file", given.token_file))
        if value is not None
    }
    try:
        nodes = _calls(SlurmParams(**manager)).nodes()
        scenario = scenario_of(
            nodes,
            given.partition,
            manager,
            history=given.history,
            dispatcher=given.dispatcher,
        )
        with given.out.open("x", encoding="utf-8") as file:
            yaml.safe_dump(scenario, file, sort_keys=False, width=100)
        for warning in warnings_of(map(node_of, nodes)):
            sys.stderr.write(f"warning: {warning}\n")
    except (HpcschedError, ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _calls(params: SlurmParams) -> Calls:
    from hpcsched_slurm.commands import Commands  # noqa: PLC0415 (one of two ways)
    from hpcsched_slurm.rest import Rest  # noqa: PLC0415

    return Commands(params) if params.rest is None else Rest(params)


if __name__ == "__main__":
    sys.exit(main())
