"""The made-up Slurm site that comes with the project is what its script makes."""

import gzip
import runpy
from datetime import datetime
from pathlib import Path

import yaml

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched_slurm.site.accounts import TraceNames, accounts_block, read_tables
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import read_site
from hpcsched_slurm.site.writing import as_yaml

SCENARIOS = Path(__file__).parents[4] / "scenarios"
TRACES = SCENARIOS / "traces"


def test_the_script_makes_the_committed_files() -> None:
    """They hold what the script writes of jobs with these starts, line by line."""
    made = runpy.run_path(str(SCENARIOS / "make_slurm_site.py"))
    dump = gzip.decompress((TRACES / "slurm-jobs.txt.gz").read_bytes()).decode()
    header, *lines = (line.split("|") for line in dump.splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    rows = [row for row in rows if "." not in row["JobID"]]
    starts = {
        job: round((datetime.fromisoformat(row["Start"]) - made["MONDAY"]).total_seconds())
        for job, row in enumerate(rows, 1)
        if row["Start"] not in ("None", "Unknown")
    }
    assert dump == made["make_dump"](starts)
    assert (TRACES / "slurm.conf").read_text(encoding="utf-8") == made["CONFIGURATION"]
    accounts = (TRACES / "slurm-accounts.txt").read_text(encoding="utf-8")
    assert accounts == made["make_accounts"]()


def test_the_accounts_are_of_the_users_and_accounts_of_the_dump() -> None:
    """One user and root have no job; each account is a group of the trace."""
    source = assemble(load_scenario(SCENARIOS / "slurm-site.yaml")).source
    assert sum(1 for _ in source.jobs()) == 583
    names = TraceNames.of_comments(source.comments)
    block = accounts_block(read_tables([TRACES / "slurm-accounts.txt"]), names, {"core"})
    assert "# Not in the trace: root, user13.\n" in block.text
    accounts = yaml.safe_load(block.text)["accounts"]
    assert [bool(account.get("groups")) for account in accounts.values()] == [False, *[True] * 5]
    assert block.left_out == ()


def test_the_scenario_has_the_system_of_the_nodes() -> None:
    """System and partitions are those that `hpcsched trace system-from` writes."""
    path = TRACES / "slurm.conf"
    found = yaml.safe_load(as_yaml(read_site(read_entries(path)), path))
    declared = yaml.safe_load((SCENARIOS / "slurm-site.yaml").read_text(encoding="utf-8"))
    assert {key: declared[key] for key in ("system", "partitions")} == {
        key: found[key] for key in ("system", "partitions")
    }


def test_what_is_in_the_dump() -> None:
    """Every record has its fate, and every job that ran is there."""
    source = assemble(load_scenario(SCENARIOS / "slurm-site.yaml")).source
    jobs = [traced.job for traced in source.jobs()]
    assert source.account.skipped == {
        "job_step": 1170,
        "never_started": 15,
        "still_running": 2,
        "pending_array": 1,
    }
    assert len(jobs) == source.account.submitted == 583
    assert {job.partition_name for job in jobs} == {"cpu", "bigmem", "gpu"}
    assert {job.queue_name for job in jobs} == {"normal", "express"}
    assert sum(job.job_id > 10**9 for job in jobs) == 22  # tasks of arrays
