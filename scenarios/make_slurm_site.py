"""Makes `traces/slurm-jobs.txt.gz`, `slurm.conf`, `slurm-accounts.txt`: a made-up Slurm site.

They look like what `sacct --parsable2` prints of 600 jobs, the configuration of 18 nodes, and what
`sacctmgr --parsable2 show qos` and `show associations tree` print of 40 users in five accounts. The
jobs are the first of `traces/small-cluster.swf.gz`, which are invented. Steps, tasks of an array,
jobs that were cancelled while they waited, and jobs that run still are put between them, as they
are in real dumps. Jobs start when they do in a replay of the site, up to 2 s later; users let some
begin hours after their submission.

Usage: `python scenarios/make_slurm_site.py [FOLDER]`
"""

import gzip
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import hpcsched
from hpcsched.studies import first_look
from hpcsched_slurm.logs.sacct_rows import parse_job_id

TRACES = Path(__file__).parent / "traces"
JOBS = 600
FIRST_JOB = 40_001
GIB = 1024**3
MONDAY = datetime(2024, 3, 4)
COLUMNS = (
    "JobID|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES|Partition|User|Account"
    "|State|QOS|Reason|JobName"
)
WORKS = ("", "script", "threads", "mpi", "mpi-nodes", "genome", "train", "train-nodes")
PARTITION_OF = {5: "bigmem", 6: "gpu", 7: "gpu"}
NODE_MEMORY = {"cpu": 128, "bigmem": 1024, "gpu": 256}
"""GiB on each node, by partition; all nodes have 32 cores."""
EXPRESS = ("user22", "user28")
SHARES = {"project1": 2, "project2": 1, "project3": 2, "project4": 1, "project5": 1}
"""Shares of the accounts; each has eight users, with one share each but those of project5."""

Record = list[int]


def begin_time(record: Record) -> int:
    """Return when a job may start: at its submission, or later as its user wants."""
    return record[1] + (3600 * (1 + record[0] % 3) if record[0] % 50 == 20 else 0)


def job_rows(number: int, record: Record, starts: Mapping[int, int]) -> Iterator[str]:
    """Yield the rows of a job: its own, and those of its steps if it was started."""
    job, submit, _, run_time, units, *_, user, account, work, _, _, _, _, core, memory, gpu = record
    limit = record[8]
    partition = PARTITION_OF.get(work, "cpu")
    fits = [32 // core, NODE_MEMORY[partition] * GIB // memory, *([4 // gpu] if gpu else [])]
    nodes = -(-units // min(fits))
    # Array tasks have a number of their own after that of the array.
    job_id = f"{number - job % 4}_{job % 4}" if work == 1 and job % 50 < 4 else str(number)
    begin = begin_time(record)
    start = starts.get(job, begin)
    who = f"{partition}|user{user:02}|project{account}"
    quality = "express" if f"user{user:02}" in EXPRESS else "normal"
    asked = f"{limit_text(limit)}|{nodes}|{units * core}|{units * memory // GIB}G"
    if job % 40 == 39:  # cancelled while it waited
        yield (
            f"{job_id}|{moment(submit)}|{moment(begin)}|None|{moment(submit + 30 + job % 300)}"
            f"|{asked}||{who}|CANCELLED by 1000|{quality}|Priority|{WORKS[work]}"
        )
        return
    devices = f",gres/gpu:a100={units * gpu},gres/gpu={units * gpu}" if gpu else ""
    tres = f"billing={units * core},cpu={units * core}{devices},mem={units * memory // GIB}G"
    running = job > JOBS - 3
    end = "Unknown" if running else moment(start + run_time)
    state = "RUNNING" if running else "TIMEOUT" if run_time >= limit else "COMPLETED"
    reason = "BeginTime" if begin > submit else "Resources" if start > begin + 2 else "None"
    times = f"{moment(submit)}|{moment(begin)}|{moment(start)}|{end}"
    yield (
        f"{job_id}|{times}|{asked}|{tres},node={nodes}|{who}|{state}|{quality}|{reason}"
        f"|{WORKS[work]}"
    )
    for step in ("batch", "extern"):
        on_first = f"{units * core // nodes}|" if step == "batch" else f"{units * core}|"
        yield (
            f"{job_id}.{step}|{moment(start)}|{moment(start)}|{moment(start)}|{end}||1|{on_first}"
            f"||||project{account}|{state}|||{step}"
        )


def moment(seconds: int) -> str:
    """Return what clocks showed so many seconds after Monday, March 4, 2024 began."""
    return (MONDAY + timedelta(seconds=seconds)).isoformat()


def limit_text(seconds: int) -> str:
    """Return a time limit as Slurm writes it: `1-02:03:04`, without days if there are none."""
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


def read_records() -> list[Record]:
    """Return the records of the log whose jobs are those of the site."""
    with gzip.open(TRACES / "small-cluster.swf.gz", "rt", encoding="utf-8") as log:
        return [list(map(int, line.split())) for line in log if not line.startswith(";")][:JOBS]


def make_dump(starts: Mapping[int, int]) -> str:
    """Return what `sacct` prints of jobs with these starts, by number."""
    records = read_records()
    rows = [
        row
        for number, record in enumerate(records, FIRST_JOB)
        for row in job_rows(number, record, starts)
    ]
    last = moment(records[-1][1])
    rows.append(
        f"{FIRST_JOB + JOBS}_[0-9]|{last}|{last}|Unknown|Unknown|01:00:00|1|1|2G||cpu|user01"
        "|project1|PENDING|normal|Priority|script"
    )
    return "\n".join([COLUMNS, *rows, ""])


CONFIGURATION = """\
# The configuration of a made-up site.
ClusterName=small
AccountingStorageEnforce=limits
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_continue,bf_max_job_test=1000
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityMaxAge=7-0
PriorityWeightAge=1000
PriorityWeightFairshare=10000
PriorityWeightJobSize=100
PriorityWeightPartition=1000
PriorityWeightQOS=2000
PreemptType=preempt/none
JobSubmitPlugins=lua
NodeName=DEFAULT Sockets=2 CoresPerSocket=16 ThreadsPerCore=1
NodeName=c[01-12] RealMemory=131072
NodeName=b[01-02] RealMemory=1048576
NodeName=g[01-04] RealMemory=262144 Gres=gpu:a100:4
PartitionName=cpu Nodes=c[01-12],b[01-02] MaxTime=1-0 PriorityJobFactor=1 Default=YES
PartitionName=bigmem Nodes=b[01-02] MaxTime=1-0 PriorityJobFactor=2
PartitionName=gpu Nodes=g[01-04] MaxTime=16:00:00 PriorityJobFactor=2
PartitionName=old MaxTime=1:00:00
"""


def make_accounts() -> str:
    """Return what `sacctmgr` prints of QOS and of associations as a tree."""
    columns = "Cluster|Account|User|Partition|Share|GrpTRES|MaxJobs|MaxWall"
    lines = [
        "Name|Priority|Flags|GrpTRES|MaxTRESPU|MaxWall",
        "normal|1||||",
        "express|10|||cpu=256|",
    ]
    lines += [columns, "small|root|||1|||", "small| root|root||1|||"]
    users = iter(range(1, 41))
    for name, shares in SHARES.items():
        of_users = "parent" if name == "project5" else "1"
        lines.append(f"small| {name}|||{shares}|||")
        lines += [f"small|  {name}|user{user:02}||{of_users}|||" for user in islice(users, 8)]
    return "\n".join([*lines, ""])


def replayed_starts(folder: Path) -> dict[int, int]:
    """Return the starts of the jobs by number, as a replay of the files in a folder has them."""
    with TemporaryDirectory() as scratch:
        log = Path(scratch) / "log.txt"
        # Submitted when they may start.
        rows = [line.split("|") for line in make_dump({}).splitlines()]
        log.write_text("\n".join("|".join([r[0], r[2], *r[2:]]) for r in rows), encoding="utf-8")
        log.write_text(log.read_text().replace("JobID|Eligible", "JobID|Submit", 1))
        site = [folder / "slurm.conf", folder / "slurm-accounts.txt"]
        look = first_look.look_at(log, site=site)
        scenario = log.with_suffix(".yaml")
        text = first_look.scenario_text(look.configurations[0], look.log, look.machine)
        scenario.write_text(text, encoding="utf-8")
        found = hpcsched.replay(scenario).start_times
    origin = int(MONDAY.replace(tzinfo=UTC).timestamp())
    numbers = {
        parse_job_id(row.partition("|")[0]).number: record[0]
        for number, record in enumerate(read_records(), FIRST_JOB)
        for row in islice(job_rows(number, record, {}), 1)
    }
    return {
        numbers[job]: start - origin + numbers[job] % 3
        for job, start in found.items()
        if start is not None
    }


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    (folder / "slurm.conf").write_text(CONFIGURATION, encoding="utf-8")
    (folder / "slurm-accounts.txt").write_text(make_accounts(), encoding="utf-8")
    packed = gzip.compress(make_dump(replayed_starts(folder)).encode(), mtime=0)
    (folder / "slurm-jobs.txt.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
