"""Makes `traces/slurm-jobs.txt.gz`, `slurm-nodes.txt`, `slurm-shares.txt`: a made-up Slurm site.

They look like what `sacct --parsable2` prints of 600 jobs, `scontrol -o show nodes` and
`scontrol -o show partitions` of 18 nodes, and `sshare -alP` of 40 users in five accounts. The jobs
are the first of `traces/small-cluster.swf.gz`, which are invented. Steps, tasks of an array, jobs
that were cancelled while they waited, and jobs that run still are put between them, as they are in
real dumps.

Usage: `python scenarios/make_slurm_site.py [FOLDER]`
"""

import gzip
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

TRACES = Path(__file__).parent / "traces"
JOBS = 600
FIRST_JOB = 40_001
GIB = 1024**3
MONDAY = datetime(2024, 3, 4)
COLUMNS = (
    "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES|Partition|User|Account|State"
    "|QOS|JobName"
)
WORKS = ("", "script", "threads", "mpi", "mpi-nodes", "genome", "train", "train-nodes")
PARTITION_OF = {5: "bigmem", 6: "gpu", 7: "gpu"}
NODE_MEMORY = {"cpu": 128, "bigmem": 1024, "gpu": 256}
"""GiB on each node, by partition; all nodes have 32 cores."""
EXPRESS = ("user22", "user28")
SHARES = {"project1": 2, "project2": 1, "project3": 2, "project4": 1, "project5": 1}
"""Shares of the accounts; each has eight users, with one share each but those of project5."""

Record = list[int]


def job_rows(number: int, record: Record) -> Iterator[str]:
    """Yield the rows of a job: its own, and those of its steps if it was started."""
    job, submit, _, run_time, units, *_, user, account, work, _, _, _, _, core, memory, gpu = record
    limit = record[8]
    partition = PARTITION_OF.get(work, "cpu")
    fits = [32 // core, NODE_MEMORY[partition] * GIB // memory, *([4 // gpu] if gpu else [])]
    nodes = -(-units // min(fits))
    # Array tasks have a number of their own after that of the array.
    job_id = f"{number - job % 4}_{job % 4}" if work == 1 and job % 50 < 4 else str(number)
    start = submit + 30 + job % 300
    who = f"{partition}|user{user:02}|project{account}"
    quality = "express" if f"user{user:02}" in EXPRESS else "normal"
    asked = f"{limit_text(limit)}|{nodes}|{units * core}|{units * memory // GIB}G"
    if job % 40 == 39:  # cancelled while it waited
        yield (
            f"{job_id}|{moment(submit)}|None|{moment(start)}|{asked}||{who}"
            f"|CANCELLED by 1000|{quality}|{WORKS[work]}"
        )
        return
    devices = f",gres/gpu:a100={units * gpu},gres/gpu={units * gpu}" if gpu else ""
    tres = f"billing={units * core},cpu={units * core}{devices},mem={units * memory // GIB}G"
    running = job > JOBS - 3
    end = "Unknown" if running else moment(start + run_time)
    state = "RUNNING" if running else "TIMEOUT" if run_time >= limit else "COMPLETED"
    times = f"{moment(submit)}|{moment(start)}|{end}"
    yield (f"{job_id}|{times}|{asked}|{tres},node={nodes}|{who}|{state}|{quality}|{WORKS[work]}")
    for step in ("batch", "extern"):
        on_first = f"{units * core // nodes}|" if step == "batch" else f"{units * core}|"
        yield (
            f"{job_id}.{step}|{moment(start)}|{moment(start)}|{end}||1|{on_first}||||project"
            f"{account}|{state}||{step}"
        )


def moment(seconds: int) -> str:
    """Return what clocks showed so many seconds after Monday, March 4, 2024 began."""
    return (MONDAY + timedelta(seconds=seconds)).isoformat()


def limit_text(seconds: int) -> str:
    """Return a time limit as Slurm writes it: `1-02:03:04`, without days if there are none."""
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


def make_dump() -> str:
    """Return what `sacct` prints."""
    with gzip.open(TRACES / "small-cluster.swf.gz", "rt", encoding="utf-8") as log:
        records = [list(map(int, line.split())) for line in log if not line.startswith(";")]
    rows = [
        row
        for number, record in enumerate(records[:JOBS], FIRST_JOB)
        for row in job_rows(number, record)
    ]
    rows.append(
        f"{FIRST_JOB + JOBS}_[0-9]|{moment(records[JOBS - 1][1])}|Unknown|Unknown|01:00:00|1|1|2G||"
        "cpu|user01|project1|PENDING|normal|script"
    )
    return "\n".join([COLUMNS, *rows, ""])


def make_nodes() -> str:
    """Return what `scontrol -o show nodes` and `scontrol -o show partitions` print."""
    lines = []
    for letter, count, partition, partitions, gres in (
        ("c", 12, "cpu", "cpu", "(null)"),
        ("b", 2, "bigmem", "cpu,bigmem", "(null)"),
        ("g", 4, "gpu", "gpu", "gpu:a100:4(S:0-1)"),
    ):
        memory = NODE_MEMORY[partition] * 1024
        lines += [
            f"NodeName={letter}{n:02} Arch=x86_64 CoresPerSocket=16 CPUAlloc=0 CPUEfctv=32"
            f" CPUTot=32 CPULoad=0.10 Gres={gres} NodeAddr={letter}{n:02} OS=Linux 6.1.0 #1 SMP"
            f" RealMemory={memory} AllocMem=0 Sockets=2 Boards=1 State=IDLE ThreadsPerCore=1"
            f" Partitions={partitions} "
            for n in range(1, count + 1)
        ]
    for name, nodes, limit, factor in (
        ("cpu", "c[01-12],b[01-02]", "1-00:00:00", 1),
        ("bigmem", "b[01-02]", "1-00:00:00", 2),
        ("gpu", "g[01-04]", "16:00:00", 2),
    ):
        lines.append(
            f"PartitionName={name} AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL"
            f" MaxNodes=UNLIMITED MaxTime={limit} Nodes={nodes} PriorityJobFactor={factor}"
            " PriorityTier=1 State=UP"
        )
    return "\n".join([*lines, ""])


def make_shares() -> str:
    """Return what `sshare -alP` prints, without the columns that are computed."""
    columns = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS"
    rows = [("root", "", "", 0), (" root", "root", "1", 0)]
    users = iter(range(1, 41))
    for name, shares in SHARES.items():
        of_users = "parent" if name == "project5" else "1"
        used = [(user, user * 7919 % 41 * 36_000) for user in islice(users, 8)]
        rows.append((f" {name}", "", str(shares), sum(amount for _, amount in used)))
        rows += [(f"  {name}", f"user{user:02}", of_users, amount) for user, amount in used]
    rows[0] = ("root", "", "", sum(amount for name, user, _, amount in rows if user))
    lines = [f"{name}|{user}|{shares}||{amount}||||" for name, user, shares, amount in rows]
    return "\n".join([columns, *lines, ""])


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    packed = gzip.compress(make_dump().encode(), mtime=0)
    (folder / "slurm-jobs.txt.gz").write_bytes(packed)
    (folder / "slurm-nodes.txt").write_text(make_nodes(), encoding="utf-8")
    (folder / "slurm-shares.txt").write_text(make_shares(), encoding="utf-8")


if __name__ == "__main__":
    main()
