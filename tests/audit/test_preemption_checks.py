"""The audit of runs with preemption: honest ones pass, and each tampered preemption is noticed."""

import random
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.runs.hand_made import seal

SCENARIO = """\
name: preempted
system: {groups: [{name: node, count: 8, resources: {core: 1}}]}
partitions:
  - {name: low, jobs: {partition: [1]}}
  - {name: middle, jobs: {partition: [2]}, tier: 2}
  - {name: top, jobs: {partition: [3]}, tier: 3}
preempt: {by: partition, mode: MODE, exempt: 30, grace: GRACE}
checkpoint: {every: 2min, cost: 5, restart: 3}
outages: {failures: [{mean_up_time: 2h, mean_repair_time: 10min, end: 2h}]}
trace: {source: swf, path: jobs.swf}
dispatcher: DISPATCHER
observers: [event-log]
"""
COLUMNS = (
    "start_time",
    "end_time",
    "requeued",
    "suspended",
    "preempted_by",
    "run_time",
    "lost_time",
    "nodes",
)


def jobs(count):
    """Return lines of a trace in which jobs of three partitions wait for one another."""
    drawn = random.Random(4)
    time = 0
    for k in range(1, count + 1):
        time += drawn.choice([0, 1, 5, 20, 60])
        units, run_time = drawn.choice([1, 1, 2, 3, 5]), drawn.randint(1, 600)
        asked, of = drawn.randint(run_time, 2 * run_time), drawn.choice([1, 1, 1, 2, 2, 3])
        yield f"{k} {time} -1 {run_time} {units} -1 -1 {units} {asked} -1 1 1 1 1 {of} {of} -1 -1"


def replayed(folder, mode, grace=0, dispatcher="easy"):
    """Return a run."""
    (folder / "jobs.swf").write_text("\n".join(jobs(150)) + "\n")
    text = SCENARIO.replace("MODE", mode).replace("GRACE", str(grace))
    (folder / "scenario.yaml").write_text(text.replace("DISPATCHER", dispatcher))
    run(load_scenario(folder / "scenario.yaml"), folder / "run")
    return folder / "run"


def violations(path):
    """Return what the audit of a run finds."""
    report = audit_directory(RunDirectory.open(path))
    return [text for check in report.checks for text in check.violations]


@pytest.mark.parametrize(
    "dispatcher",
    [
        "easy",
        "{name: list, option: backfill}",
        "{name: list, option: greedy}",
        "{name: list, option: strict}",
        "conservative",
        "slurm-backfill",
        "order-search",
    ],
)
@pytest.mark.parametrize(("mode", "grace"), [("requeue", 0), ("cancel", 20), ("suspend", 0)])
def test_runs_of_every_rule_pass(tmp_path, mode, grace, dispatcher):
    """They preempt jobs, in each mode."""
    path = replayed(tmp_path, mode, grace, dispatcher)
    assert RunDirectory.open(path).summary["preemption"]["preemptions"] > 3
    assert violations(path) == []


def changed(name, value, row, drawn, jobs):
    """Return another value of a column of an interruption."""
    if name in ("requeued", "suspended"):
        return not value
    if name == "preempted_by":
        return drawn.choice([None, row["job_id"], *(job for job in jobs if job != value)])
    if name == "nodes":
        return [*value[:-1], (value[-1] + drawn.randint(1, 7)) % 8]
    return value + drawn.choice([-40, -1, 1, 40])


@pytest.mark.parametrize(("mode", "grace"), [("requeue", 0), ("cancel", 20), ("suspend", 0)])
def test_each_tampered_preemption_is_noticed(tmp_path, mode, grace):
    """One cell of a preemption, or the whole row, is another one: 34 times in each mode."""
    honest, drawn = replayed(tmp_path, mode, grace), random.Random(mode)
    table = pq.read_table(honest / "interruptions.parquet")
    rows = table.to_pylist()
    lowest = [k for k, line in enumerate(jobs(150), 1) if line.split()[14] == "1"]
    preempted = [k for k, row in enumerate(rows) if row["preempted_by"] is not None]
    unnoticed = []
    for n in range(34):
        k, name = drawn.choice(preempted), [*COLUMNS, "left out"][n % 9]
        tampered = [dict(row) for row in rows]
        if name == "left out":
            del tampered[k]
        else:
            tampered[k][name] = changed(name, rows[k][name], rows[k], drawn, lowest)
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(honest, copy)
        pq.write_table(pa.Table.from_pylist(tampered, table.schema), copy / "interruptions.parquet")
        seal(copy)
        if not violations(copy):
            unnoticed.append((name, rows[k], tampered[k] if name != "left out" else None))
    assert unnoticed == []
