"""Small accounting logs of Slurm and PBS, and what sources make of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.accounting_log import AccountingLogSource
from hpcsched.workload.readers.pbs_accounting import (
    PbsAccountingParams,
    PbsAccountingSource,
)
from hpcsched_slurm.logs.slurm_sacct import SlurmSacctSource
from hpcsched_slurm.params import SlurmSacctParams

GIB = 2**30
SYSTEM = System(
    (
        NodeGroup("cpu", 4, {"core": 16, "mem": 64 * GIB}),
        NodeGroup("gpu", 2, {"core": 16, "mem": 128 * GIB, "gpu": 4}),
    )
)
"""Resource types in this order: core, mem, gpu."""

COLUMNS = (
    "JobID", "Submit", "Start", "End", "Timelimit", "NNodes", "NCPUS", "ReqMem", "AllocTRES",
    "Partition", "User", "Account", "State", "QOS", "JobName",
)  # fmt: skip
HEADER = "|".join(COLUMNS)


def sacct_row(job_id: str, **columns: str) -> str:
    """Return a row of a job of an hour on 16 CPUs of a node, but for what is said."""
    usual = {
        "JobID": job_id,
        "Submit": "2024-03-01T10:00:00",
        "Start": "2024-03-01T10:05:00",
        "End": "2024-03-01T11:05:00",
        "Timelimit": "02:00:00",
        "NNodes": "1",
        "NCPUS": "16",
        "ReqMem": "32G",
        "AllocTRES": "",
        "Partition": "cpu",
        "User": "alice",
        "Account": "phys",
        "State": "COMPLETED",
        "QOS": "normal",
        "JobName": "job",
    }
    assert columns.keys() <= usual.keys()
    return "|".join({**usual, **columns}.values())


def pbs_record(job_id: str, kind: str = "E", **attributes: str) -> str:
    """Return a record of a job of an hour on 16 cores, but for what is said.

    In the names of attributes `_` stands for the `.` of `Resource_List.`; an empty value leaves the
    attribute out.
    """
    usual = {
        "user": "alice",
        "group": "phys",
        "jobname": "job",
        "queue": "batch",
        "ctime": "1709280000",
        "start": "1709280300",
        "end": "1709283900",
        "Resource_List.select": "1:ncpus=16:mem=32gb",
        "Resource_List.walltime": "02:00:00",
    }
    given = {key.replace("Resource_List_", "Resource_List."): v for key, v in attributes.items()}
    told = " ".join(f"{key}={value}" for key, value in {**usual, **given}.items() if value)
    return f"03/01/2024 11:05:00;{kind};{job_id};{told}"


def sacct_source(path: Path, system: System = SYSTEM, **params: Any) -> SlurmSacctSource:
    """Return a source that reads a dump; times are those of Prague."""
    return SlurmSacctSource(
        SlurmSacctParams(path=str(path), **{"time_zone": "Europe/Prague", **params}), system
    )


def pbs_source(path: Path, system: System = SYSTEM, **params: Any) -> PbsAccountingSource:
    """Return a source that reads an accounting log."""
    return PbsAccountingSource(PbsAccountingParams(path=str(path), **params), system)


def read_sacct(
    folder: Path, *rows: str, header: str = HEADER, system: System = SYSTEM, **params: Any
) -> tuple[SlurmSacctSource, list[TracedJob]]:
    """Write a dump, read it, and return the source and its jobs."""
    path = folder / "jobs.txt"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    source = sacct_source(path, system, **params)
    return source, jobs_of(source)


def read_pbs(
    folder: Path, *records: str, system: System = SYSTEM, **params: Any
) -> tuple[PbsAccountingSource, list[TracedJob]]:
    """Write a log, read it, and return the source and its jobs."""
    path = folder / "20240301"
    path.write_text("\n".join([*records, ""]), encoding="utf-8")
    source = pbs_source(path, system, **params)
    return source, jobs_of(source)


def jobs_of(source: AccountingLogSource) -> list[TracedJob]:
    """Return the jobs, after a look at the account: every record has one fate."""
    jobs = list(source.jobs())
    account = source.account
    assert account.submitted == len(jobs)
    assert account.read == account.submitted + sum(account.skipped.values())
    assert len({traced.job.job_id for traced in jobs}) == len(jobs)
    return jobs


def amounts(traced: TracedJob, system: System = SYSTEM) -> tuple[int, Mapping[str, int]]:
    """Return a job's units and what each asks for, without what it does not ask for."""
    declared = system.declared(traced.job.unit_request)
    return traced.job.units, {name: amount for name, amount in declared.items() if amount}


AWKWARD_ROWS = [
    (sacct_row("100"), (100, 1, {"core": 16, "mem": 32 * GIB})),
    (sacct_row("100.batch", Timelimit="", User="", JobName="batch"), "job_step"),
    (sacct_row("100.extern", Timelimit="", User="", JobName="extern"), "job_step"),
    (sacct_row("100.0", NNodes="1", NCPUS="4"), "job_step"),
    (
        sacct_row("101_4", NCPUS="1", ReqMem="4000Mc"),
        (5000000101, 1, {"core": 1, "mem": 4194304000}),
    ),
    (sacct_row("101_5.0"), "job_step"),
    (sacct_row("101_[6-9%2]", Start="Unknown", End="Unknown", State="PENDING"), "pending_array"),
    (
        sacct_row("102+0", NCPUS="8", ReqMem="16Gn"),
        (5000000000000102, 1, {"core": 8, "mem": 16 * GIB}),
    ),
    (
        sacct_row("102+1", NNodes="2", NCPUS="8", ReqMem="16Gn"),
        (5000001000000102, 2, {"core": 4, "mem": 16 * GIB}),
    ),
    (sacct_row("103", Start="Unknown", State="CANCELLED by 1000"), "never_started"),
    (sacct_row("104", Start="None", State="CANCELLED"), "never_started"),
    (sacct_row("105", End="Unknown", State="RUNNING"), "still_running"),
    (sacct_row("106", Start="2024-03-01T11:05:00", State="FAILED"), "zero_run_time"),
    (sacct_row("100", Submit="2024-03-01T12:00:00", State="REQUEUED"), "duplicate"),
    (
        sacct_row("107", NNodes="2", NCPUS="32", ReqMem="1.50G"),
        (107, 2, {"core": 16, "mem": 3 * GIB // 4}),
    ),
    (sacct_row("108", NNodes="3", NCPUS="10", ReqMem=""), (108, 10, {"core": 1})),
    (
        sacct_row(
            "109",
            NNodes="2",
            NCPUS="16",
            Partition="gpu",
            AllocTRES="billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=2",
        ),
        (109, 2, {"core": 8, "mem": 32 * GIB, "gpu": 2}),
    ),
    (
        sacct_row(
            "110", NCPUS="4", Partition="gpu", AllocTRES="cpu=4,gres/gpu:a100=1,mem=8G,node=1"
        ),
        (110, 1, {"core": 4, "mem": 8 * GIB, "gpu": 1}),
    ),
    (sacct_row("111", NCPUS="200"), "larger_than_system"),
    (sacct_row("112", ReqMem="0n"), (112, 1, {"core": 16})),
    (sacct_row("113", Timelimit="UNLIMITED"), "missing_requested_time"),
    (sacct_row("114", Timelimit="Partition_Limit"), "missing_requested_time"),
    (sacct_row("115", Timelimit="1-02:03:04"), (115, 1, {"core": 16, "mem": 32 * GIB})),
    (sacct_row("116", JobName="a|b|c"), (116, 1, {"core": 16, "mem": 32 * GIB})),
    (sacct_row("117", Timelimit="tomorrow"), "malformed"),
    (sacct_row("118", NCPUS="many"), "malformed"),
    (sacct_row("119", End="2024-03-01T10:00:00"), "malformed"),
    (sacct_row("120", Submit="2024-03-31T02:30:00"), "malformed"),  # clocks were put forward
    (sacct_row("job-121"), "malformed"),
    ("122|2024-03-01T10:00:00", "malformed"),
]
