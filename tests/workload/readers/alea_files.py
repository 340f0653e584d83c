"""Small logs in the extended format of the Alea simulator, and what a source makes of them."""

from pathlib import Path
from typing import Any

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.alea import AleaParams, AleaSource
from tests.workload.readers.swf_files import write

GIB = 2**30
SYSTEM = System(
    (
        NodeGroup("a", 3, {"core": 12, "mem": 24 * GIB}),
        NodeGroup("b", 2, {"core": 16, "mem": 64 * GIB}),
    )
)
"""Nodes 0 to 2 are a1 to a3, nodes 3 and 4 are b1 and b2."""


def record(
    number: object,
    submit: object = 1_357_000_000,
    run: object = 60,
    requested: object = 100,
    *,
    ask: str = "1:ppn=1",
    processors: object = -1,
    memory: object = GIB,
    queue: str = "q_1d",
    nodes: str = "{7,7}",
) -> str:
    """Return a line with 21 fields: a request for a GiB on each node if nothing else is said."""
    numbers = [
        number, submit, 5, run, 2, -1, -1, processors, requested, memory, 1, 2, 3, 4, 9, -1, -1, -1,
    ]  # fmt: skip
    return " ".join(map(str, [*numbers, nodes, queue, ask]))


def source_of(path: Path, system: System = SYSTEM, **params: Any) -> AleaSource:
    """Return a source that reads a log."""
    return AleaSource(AleaParams(path=str(path), **params), system)


def read(
    folder: Path, *lines: str, system: System = SYSTEM, **params: Any
) -> tuple[AleaSource, list[TracedJob]]:
    """Write a log, read it, check its account and return the source and its jobs."""
    source = source_of(write(folder, lines), system, **params)
    jobs = list(source.jobs())
    account = source.account
    assert account.submitted == len(jobs)
    assert account.read == account.submitted + sum(account.skipped.values())
    return source, jobs
