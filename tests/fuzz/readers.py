"""The readers of logs as something to be fuzzed: bytes go in, jobs or an InputError come out."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from hpcsched.errors import InputError
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job_batches import batches_of
from hpcsched.workload.readers.alea import AleaParams, AleaSource
from hpcsched.workload.readers.batsim import BatsimParams, BatsimSource
from hpcsched.workload.readers.log_source import RecordSource
from hpcsched.workload.readers.pbs_accounting import (
    PbsAccountingParams,
    PbsAccountingSource,
)
from hpcsched.workload.readers.swf import SwfParams, SwfSource
from hpcsched.workload.readers.table import TableParams, TableSource
from hpcsched.workload.trace_source import CheckedSource, account_fault
from hpcsched_slurm.logs.slurm_sacct import SlurmSacctSource
from hpcsched_slurm.params import SlurmSacctParams

SYSTEM = System((NodeGroup("node", 4, {"core": 8, "mem": 2**33, "gpu": 1}),))
CORPUS = Path(__file__).parent / "corpus"
"""A folder for each source, with small files to begin with and those that once failed."""

Opens = Callable[[str], RecordSource]

READERS: Mapping[str, Opens] = {
    "batsim": lambda path: BatsimSource(
        BatsimParams(path=path, malformed="skip", missing_requested_time="run_time"), SYSTEM
    ),
    "table": lambda path: TableSource(
        TableParams(
            path=path,
            malformed="skip",
            unsorted="skip",
            missing_requested_time="run_time",
            missing_request="zero",
            missing_units="skip",
            times="iso",
            time_zone="Europe/Paris",
            named=("queue",),
        ),
        SYSTEM,
    ),
    "philly": lambda path: TableSource(
        TableParams(
            path=path,
            preset="philly",
            malformed="skip",
            unsorted="skip",
            missing_requested_time="run_time",
            missing_request="zero",
            missing_units="skip",
        ),
        SYSTEM,
    ),
    "slurm-sacct": lambda path: SlurmSacctSource(
        SlurmSacctParams(
            path=path,
            malformed="skip",
            unsorted="skip",
            missing_requested_time="run_time",
            duplicate="keep",
            unknown_resource_type="ignore",
            time_zone="Europe/Paris",
        ),
        SYSTEM,
    ),
    "pbs-accounting": lambda path: PbsAccountingSource(
        PbsAccountingParams(
            path=path,
            malformed="skip",
            missing_requested_time="run_time",
            duplicate="skip",
            unlike_chunks="largest",
        ),
        SYSTEM,
    ),
    "swf": lambda path: SwfSource(
        SwfParams(path=path, malformed="skip", unsorted="skip", missing_requested_time="run_time"),
        SYSTEM,
    ),
    "alea": lambda path: AleaSource(
        AleaParams(
            path=path,
            malformed="skip",
            unsorted="skip",
            missing_requested_time="run_time",
            missing_memory="zero",
        ),
        SYSTEM,
    ),
}


def scenario(folder: Path, source: str, log: Path, **policies: str) -> Path:
    """Write a scenario with a log of a source; return its path."""
    path = folder / "scenario.yaml"
    keys = {"source": source, "path": log, **policies}
    if source == "philly":
        keys |= {"source": "table", "preset": source}
    trace = ", ".join(f"{key}: {value}" for key, value in keys.items())
    path.write_text(
        "name: fuzzed\n"
        "system: {groups: [{name: n, count: 4, resources: {core: 8, mem: 8GiB, gpu: 1}}]}\n"
        f"trace: {{{trace}}}\ndispatcher: easy\n"
    )
    return path


def read(source: str, data: bytes) -> None:
    """Read bytes as a log of a source, by records and by columns.

    Raises whatever is neither jobs nor an InputError. Every job is checked, every record is in the
    account, and both ways of reading end alike.
    """
    descriptor, path = tempfile.mkstemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        ends = [_read(source, path, how) for how in (_by_records, _by_columns)]
    finally:
        Path(path).unlink()
    if ends[0] != ends[1]:
        raise AssertionError(f"records and columns differ: {ends}")


def _read(source: str, path: str, how: Callable[[RecordSource], int]) -> object:
    """Return the account of a log, or the error."""
    try:
        opened = READERS[source](path)
        jobs = how(opened)
    except InputError as error:
        return str(error)
    account = opened.account
    if fault := account_fault(account, jobs):
        raise AssertionError(fault)
    return account


def _by_records(opened: RecordSource) -> int:
    return sum(1 for _ in CheckedSource(opened, SYSTEM).jobs())


def _by_columns(opened: RecordSource) -> int:
    return sum(len(batch.job_id) for batch in batches_of(opened))
