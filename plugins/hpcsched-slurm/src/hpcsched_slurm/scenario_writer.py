"""`hpcsched-slurm-scenario`: writes a scenario for the cluster that Slurm runs here.

The system is the one that `hpcsched trace system-from` writes for these partitions.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from hpcsched import HpcschedError
from hpcsched_slurm.answer_writer import error_line
from hpcsched_slurm.manager import Calls, calls_of
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.reading_nodes import entries_of
from hpcsched_slurm.site.site import part_of, read_site
from hpcsched_slurm.site.writing import check_dispatcher, write_blocks


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
    ValueError
        If a partition has no nodes, or neither a history nor slurmrestd is given.
    """
    if history is None and "rest" not in manager:
        raise ValueError("expected --history FILE, or --rest to ask slurmdbd; found neither")
    past = dict(manager) if history is None else {"path": history}
    entries = entries_of(calls.nodes(), calls.partitions(), calls.licenses(), "slurm")
    site = part_of(read_site(entries), partitions)
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the scenario, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-scenario", description=__doc__)
    parser.add_argument("--partition", action="append", required=True, help="can be repeated")
    parser.add_argument("--rest", help="unix:/path/to/socket or http://127.0.0.1:PORT")
    parser.add_argument("--token-file", help="a file with a token, readable by its owner alone")
    parser.add_argument(
        "--history", help="the file that JobCompLoc names; without it, slurmdbd is asked"
    )
    parser.add_argument("--dispatcher", default="easy", help="its name")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    given = parser.parse_args(arguments)
    manager = {
        key: value
        for key, value in (("rest", given.rest), ("token_file", given.token_file))
        if value is not None
    }
    try:
        check_dispatcher(given.dispatcher, "--dispatcher")
        text, warnings = scenario_of(
            calls_of(SlurmParams(**manager)),
            given.partition,
            manager,
            history=given.history,
            dispatcher=given.dispatcher,
        )
        with given.out.open("x", encoding="utf-8") as file:
            file.write(text)
        for warning in warnings:
            sys.stderr.write(f"warning: {warning}\n")
    except (HpcschedError, ValueError, OSError) as error:
        sys.stderr.write(f"{error_line(error)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
