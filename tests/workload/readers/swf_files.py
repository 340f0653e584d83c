"""Small logs in the Standard Workload Format, and what a source makes of them."""

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.swf import SwfParams, SwfSource
from tests.builders import alike

SYSTEM = alike(4, core=2)


def record(
    number: int,
    submit: object = 0,
    run: object = 60,
    units: object = 1,
    requested: object = 100,
    *,
    allocated: object = -1,
    more: str = "",
) -> str:
    """Return a line with 18 fields, and further ones if given; what is not named is -1."""
    fields = [
        number,
        submit,
        5,
        run,
        allocated,
        -1,
        -1,
        units,
        requested,
        -1,
        1,
        2,
        3,
        4,
        0,
        -1,
        -1,
    ]
    return " ".join(str(field) for field in [*fields, -1]) + (f" {more}" if more else "")


def write(folder: Path, lines: Iterable[str], packed: bool = False) -> Path:
    """Write a log and return its path."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path = folder / ("log.swf.gz" if packed else "log.swf")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def source_of(path: Path, system: System = SYSTEM, **params: Any) -> SwfSource:
    """Return a source that reads a log."""
    return SwfSource(SwfParams(path=str(path), **params), system)


def read(folder: Path, *lines: str, **params: Any) -> tuple[SwfSource, list[TracedJob]]:
    """Write a log, read it, check its account and return the source and its jobs."""
    source = source_of(write(folder, lines), **params)
    jobs = list(source.jobs())
    check_account(source, jobs)
    return source, jobs


def check_account(source: SwfSource, jobs: list[TracedJob]) -> None:
    """Check that every record that was read counts once."""
    account = source.account
    assert account.submitted == len(jobs)
    assert account.read == account.submitted + sum(account.skipped.values())
