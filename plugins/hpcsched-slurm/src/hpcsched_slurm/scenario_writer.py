"""Scenario for the cluster that Slurm runs here, as `hpcsched live init` writes it.

The system is the one that `hpcsched trace system-from` writes for these partitions.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hpcsched import Finding, InputError
from hpcsched.scenario.faults import sentence
from hpcsched_slurm.manager import Calls, calls_of
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.reading_nodes import entries_of
from hpcsched_slurm.site.site import part_of, read_site
from hpcsched_slurm.site.writing import write_blocks


def calls_at(manager: Mapping[str, Any]) -> Calls:
    """Return the way to Slurm that the parameters of the workload manager describe.

    Raises
    ------
    InputError
        If they are not valid, or Slurm cannot be asked.
    """
    try:
        params = SlurmParams.model_validate(manager)
    except ValidationError as error:
        message = sentence(error.errors()[0])
        raise InputError(Finding("bad-value", message, key="--rest")) from None
    return calls_of(params)


def scenario_of(
    calls: Calls,
    partitions: Sequence[str],
    manager: Mapping[str, Any],
    *,
    history: str | None = None,
    dispatcher: str,
) -> tuple[str, tuple[str, ...]]:
    """Return a scenario as YAML, and warnings about parts of the cluster that are left out.

    Parameters
    ----------
    history
        Path of the history; None: slurmdbd is asked, through the same slurmrestd.

    Raises
    ------
    InputError
        If a partition has no nodes, or neither a history nor slurmrestd is given.
    """
    if history is None and "rest" not in manager:
        message = "expected --history FILE, or --rest to ask slurmdbd; found neither"
        raise InputError(Finding("no-history", message))
    past = dict(manager) if history is None else {"path": history}
    entries = entries_of(calls.nodes(), calls.partitions(), calls.licenses(), "slurm")
    try:
        site = part_of(read_site(entries), partitions)
    except ValueError as error:
        raise InputError(Finding("no-nodes", str(error), key="--partition")) from None
    blocks = write_blocks(site, Path("slurm"))
    rest = {
        "trace": {"source": "slurm-history", **past},
        "predictor": "requested-time",
        "dispatcher": dispatcher,
        "live": {
            "workload_manager": {"name": "slurm", **manager},
            "partitions": list(partitions),
            "nodes": blocks.nodes,
        },
    }
    text = f"name: live\n{blocks.system}{_commented(blocks.partitions)}"
    text += yaml.safe_dump(rest, sort_keys=False, width=100)
    return text, tuple(warning.message for warning in site.warnings)


def _commented(block: str) -> str:
    """Return the block `partitions` as comments: on a cluster, Slurm applies these limits."""
    lines: Iterable[str] = block.splitlines(keepends=True)
    return "".join(["# Limits that Slurm applies:\n", *(f"# {line}" for line in lines)])
