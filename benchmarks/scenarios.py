"""The scenarios that are measured: 100 nodes of one core, run times known."""

import os
import sys
from pathlib import Path

DISPATCHERS = {
    "easy": "{name: easy}",
    "list": "{name: list, order: fcfs, option: backfill}",
    "reject": "{name: reject}",
}


def write_scenario(folder: Path, trace: Path, dispatcher: str, *, aggregated: bool = True) -> Path:
    """Write a scenario for a log under one of `DISPATCHERS`, and return its file."""
    path = folder / f"{dispatcher}-{trace.name.partition('.')[0]}-{aggregated}.yaml"
    path.write_text(
        f"name: {dispatcher}\n"
        "system: {groups: [{name: node, count: 100, resources: {core: 1}}]}\n"
        f"trace: {{source: swf, path: '{trace.resolve()}', unit: {{core: 1}}}}\n"
        "predictor: actual\n"
        f"dispatcher: {DISPATCHERS[dispatcher]}\n"
        f"simulation: {{aggregate_nodes: {str(aggregated).lower()}}}\n"
    )
    return path


def kth() -> Path:
    """Return the KTH-SP2 log; exits with a message where it is not at hand."""
    path = Path(os.environ.get("HPCSCHED_TRACES", ""), "KTH-SP2-1996-2.swf.gz")
    if not path.is_file():
        sys.exit("set HPCSCHED_TRACES to the folder that holds KTH-SP2-1996-2.swf.gz")
    return path
