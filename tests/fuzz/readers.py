"""The readers of logs as something to be fuzzed: bytes go in, jobs or an InputError come out."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from hpcsched.errors import InputError
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.readers.accounting_logs.pbs_accounting import (
    PbsAccountingParams,
    PbsAccountingSource,
)
from hpcsched.workload.readers.accounting_logs.slurm_sacct import SlurmSacctParams, SlurmSacctSource
from hpcsched.workload.readers.alea import AleaSource
from hpcsched.workload.readers.alea_params import AleaParams
from hpcsched.workload.readers.batsim_source import BatsimParams, BatsimSource
from hpcsched.workload.readers.record_source import RecordSource
from hpcsched.workload.readers.swf import SwfSource
from hpcsched.workload.readers.swf_params import SwfParams
from hpcsched.workload.readers.table_source import TableSource
from hpcsched.workload.readers.table_source_params import TableParams

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
            unlike_processors="request",
        ),
        SYSTEM,
    ),
}


def read(source: str, data: bytes) -> None:
    """Read bytes as a log of a source; raises whatever is neither jobs nor an InputError."""
    descriptor, path = tempfile.mkstemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        opened = READERS[source](path)
        jobs = sum(1 for _ in opened.jobs())
    except InputError:
        return
    finally:
        Path(path).unlink()
    account = opened.account
    if not account.submitted == jobs == account.read - sum(account.skipped.values()):
        raise AssertionError(f"the account does not balance: {account}")
