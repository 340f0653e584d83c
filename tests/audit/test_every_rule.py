"""Every rule of the audit has a change of an honest run that it finds; a rule without one fails.

A rule is a place in `hpcsched/audit` at which a violation is counted. The places are read
from the source, so that a new one is noticed.
"""

import ast
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import hpcsched.audit
from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.violations import AuditReport, Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.runs import hand_made as by_hand
from tests.runs.hand_made import (
    Placed,
    audit_run,
    messages,
    seal,
    tamper_json,
    write_run,
)

AUDIT = Path(hpcsched.audit.__file__).parent
COUNTING = {"found", "found_at", "differ", "expect", "compare", "compare_all", "_expect_within"}
"""Functions by which a violation is counted, of checks and of modules."""

SITE = """\
name: site
system:
  groups:
    - {name: thin, count: 3, resources: {core: 2}}
    - {name: fat, count: 1, resources: {core: 4}}
  shared_resources:
    - name: power
      capacity: 90
      draw: {per: {core: 10}, per_node: 5}
      changes: [{at: 60, capacity: 80}]
partitions:
  - {name: short, jobs: {queue: [1]}, groups: [thin], max_time: 100, limits: {per_user: {jobs: 1}}}
  - {name: long, jobs: {queue: [2]}, limits: {per_user: {nodes: 2}}}
outages:
  maintenance: [{name: weekly, start: 300, duration: 10}]
  failure_log: failures.csv
trace: {source: swf, path: jobs.swf, unit: {core: 1}, dependencies: honour}
dispatcher: easy
observers: [reasons, event-log, cpu-memory]
simulation: {dispatch_latency: {fixed: 1s}}
"""
FAILURES = "node,from,until\nthin-0,5,8\n"
# Job, submit time, run time, processors, requested time, user, queue, job before and think time.
JOBS = (
    (1, 0, 50, 2, 100, 7, 1, "-1 -1"),  # loses node 0 at 5
    (2, 0, 50, 2, 100, 7, 1, "-1 -1"),  # waits for job 1: one at a time
    (3, 5, 50, 1, 200, 7, 1, "-1 -1"),  # requests too much time
    (4, 5, 50, 8, 100, 7, 1, "-1 -1"),  # larger than the thin nodes
    (5, 10, 90, 2, 500, 8, 2, "-1 -1"),
    (6, 20, 30, 1, 500, 8, 2, "-1 -1"),
    (7, 30, 10, 3, 500, 8, 2, "-1 -1"),  # might take three nodes
    (8, 40, 10, 1, 500, 8, 9, "-1 -1"),  # in no partition
    (9, 45, 10, 1, 200, 9, 2, "5 20"),  # waits for job 5, and 20 s more
    (10, 46, 40, 4, 100, 9, 2, "-1 -1"),
)
OFFLINE = """\
name: offline
system: {groups: [{name: node, count: 2, resources: {core: 2}}]}
trace: {source: swf, path: jobs.swf, unit: {core: 1}}
predictor: actual
dispatcher: order-search
objective: {name: bounded_slowdown, tau: 10}
simulation: {mode: offline}
"""
PLAIN = """\
name: plain
system: {groups: [{name: node, count: 4, resources: {core: 2}}]}
trace: {source: swf, path: jobs.swf, unit: {core: 1}}
dispatcher: {name: easy}
"""
PREEMPTING = (
    PLAIN
    + """\
partitions: [{name: low, jobs: {queue: [1]}}, {name: high, jobs: {queue: [2]}, tier: 2}]
preempt: {by: partition, exempt: 5}
"""
)
SCENARIOS = {
    "site": SITE,
    "failing": SITE.replace("  failure_log", "  requeue: false\n  failure_log"),
    "offline": OFFLINE,
    "plain": PLAIN,
    "recorded": PLAIN.replace("{name: easy}", "{name: recorded, missing_start: submission}"),
    "rejecting": PLAIN.replace("{name: easy}", "{name: reject}") + "observers: [event-log]\n",
    "choosing": PLAIN.replace("{name: easy}", "{name: hyper, portfolio: [easy, list]}"),
    "one node": PLAIN.replace("name: node", "name: thin")
    + "outages: {failure_log: failures.csv}\n",
    "slurm": PLAIN.replace("{name: easy}", "{name: slurm-backfill, bf_interval: 20}"),
    "slurm later": PLAIN.replace("{name: easy}", "{name: slurm-backfill, bf_interval: 20}")
    + "simulation: {dispatch_latency: {fixed: 1s}}\n",
    "preempting": PREEMPTING,
    # Job 4, which asks for 800 core seconds when 250 are used, is rejected at the end.
    "used up": PLAIN
    + "qos: {1: {limits: {total_minutes: {core: 15}}}}\nobservers: [event-log, reasons]\n",
    "impatient": PLAIN.replace("core: 1}}", "core: 1}, transforms: [{name: patience, mean: 9}]}")
    + "observers: [event-log]\n",
    "sharing": PLAIN.replace("{core: 2}", "{core: 4, gpu: {count: 4}}").replace(
        "unit: {core: 1}", "unit: {core: 1, gpu: 1}"
    ),
    "slicing": PLAIN.replace("{core: 2}", "{core: 4, gpu: {count: 4, profile: a100-40gb}}").replace(
        "unit: {core: 1}", "unit: {core: 1, gpu: 1}"
    ),
    "charged": PLAIN + "simulation: {dispatch_latency: {base: 1s, per_queued_job: 100ms}}\n",
}

HAND = (
    *by_hand.JOBS,
    by_hand.REJECTED,
    Placed(
        by_hand.job(9, 20_200, 1, (1, 1, 0), 5, allowed_nodes=frozenset({0, 1})), 20_200, {0: 1}
    ),
)
"""Jobs that may only use some nodes, one unit a node, or were rejected."""


def swf_lines(jobs: Sequence[tuple[Any, ...]]) -> str:
    """Return a trace of jobs as `JOBS` has them."""
    lines = [
        f"{k} {submit} -1 {time} {n} -1 -1 {n} {limit} -1 1 {user} 1 1 {queue} 1 {rest}"
        for k, submit, time, n, limit, user, queue, rest in jobs
    ]
    return "; Version: 2.2\n" + "\n".join(lines) + "\n"


Tamper = Callable[[Path], None]


class Case(NamedTuple):
    """A change of an honest run, what the audit says of it, and whether hashes are made right."""

    scenario: str
    tamper: Tamper
    message: str
    sealed: bool = True


def rows(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> Tamper:
    """Return a change of the rows of a table."""

    def tamper(folder: Path) -> None:
        table = pq.read_table(folder / name)
        content = table.to_pylist()
        change(content)
        pq.write_table(table.from_pylist(content, schema=table.schema), folder / name)

    return tamper


def job(number: int, /, **values: Any) -> Tamper:
    """Return a change of the row of a job."""
    return rows(
        "jobs.parquet",
        lambda content: next(row for row in content if row["job_id"] == number).update(values),
    )


def at(k: int, name: str, /, **values: Any) -> Tamper:
    """Return a change of a row of a table."""
    return rows(name, lambda content: content[k].update(values))


def first(name: str, /, **values: Any) -> Tamper:
    """Return a change of the first row of a table."""
    return at(0, name, **values)


def reason(job_id: int, /, **values: Any) -> Tamper:
    """Return a change of the first reason of a job."""
    return rows(
        "reasons.parquet",
        lambda content: next(row for row in content if row["job_id"] == job_id).update(values),
    )


def values_in(name: str, /, *path: str | int, **values: Any) -> Tamper:
    """Return a change of an object in a JSON file."""

    def change(content: Any) -> None:
        for key in path:
            content = content[key]
        content.update(values)

    return lambda folder: tamper_json(folder / name, change)


def figures(*path: str | int, **values: Any) -> Tamper:
    """Return a change of an object in the summary."""
    return values_in("summary.json", *path, **values)


def timing(**values: Any) -> Tamper:
    """Return a change of what was measured of the rounds."""
    return values_in("timing.json", "rounds", **values)


def manifest(*path: str | int, **values: Any) -> Tamper:
    """Return a change of the manifest."""
    return values_in("manifest.json", *path, **values)


def text(old: str, new: str) -> Tamper:
    """Return a change of the scenario."""

    def tamper(folder: Path) -> None:
        path = folder / "scenario.yaml"
        content = path.read_text()
        assert old in content, content
        path.write_text(content.replace(old, new))

    return tamper


def without(name: str, *path: str | int) -> Tamper:
    """Return a change that takes a key out of the summary, or out of timing."""

    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        del content[path[-1]]

    return lambda folder: tamper_json(folder / name, change)


def lines(change: Callable[[list[str]], Any]) -> Tamper:
    """Return a change of the lines of the log of events."""

    def tamper(folder: Path) -> None:
        path = folder / EVENTS
        content = path.read_text().splitlines(keepends=True)
        change(content)
        path.write_text("".join(content))

    return tamper


def swapped(one: str, other: str) -> Tamper:
    """Return a change that swaps the first line with one text and the first with another."""

    def change(content: list[str]) -> None:
        a, b = (next(k for k, line in enumerate(content) if text in line) for text in (one, other))
        content[a], content[b] = content[b], content[a]

    return lines(change)


def low_power(folder: Path) -> None:
    """Let the shared resource offer 10 W at all times."""
    text("capacity: 90", "capacity: 10")(folder)
    text("capacity: 80", "capacity: 10")(folder)


JOBS_ = "jobs.parquet"
ROUNDS = "rounds.parquet"
LOST = "interruptions.parquet"
REASONS = "reasons.parquet"
EVENTS = "events.jsonl"
USAGE = "usage.parquet"

CASES = [
    # Presence and requests
    Case("plain", rows(JOBS_, lambda r: r.append(r[-1])), "expected once in the run"),
    Case("plain", rows(JOBS_, lambda r: r.pop()), "expected in the run, found only in the trace"),
    Case("plain", job(2, job_id=70), "job 70: expected to be in the trace"),
    Case("plain", job(2, submit_time=1), "job 2: submit_time: expected 0, found 1"),
    Case("plain", job(2, unit_request={"core": 2}), "job 2: unit_request of core"),
    Case("plain", job(2, demand=9), "job 2: demand: expected 2, found 9"),
    Case("plain", job(2, user=9), "job 2: user: expected 7, found 9"),
    Case("site", job(2, node_groups=["fat"]), "job 2: node_groups: expected ['thin']"),
    # Times and states
    Case("plain", job(2, end_time=51), "job 2: end_time: expected"),
    Case("plain", job(2, run_time=51), "job 2: run_time: expected"),
    Case("plain", job(2, state="odd"), "job 2: state: expected a known one, found 'odd'"),
    Case("plain", job(2, state="killed"), "job 2: state: expected completed, found killed"),
    Case("plain", job(2, predicted_run_time=0), "job 2: predicted_run_time: expected at least 1"),
    Case("site", job(3, start_time=9, end_time=9), "expected no start, end or places"),
    Case("plain", job(2, rejected_by="dispatcher"), "expected rejected_by of rejected jobs alone"),
    Case("plain", job(2, start_time=None), "expected a start and an end time"),
    Case("plain", job(9, start_time=44), "job 9: start_time: expected at least 45"),
    # Places
    Case(
        "plain", job(2, node_units=[1, 1, 1]), "expected units for each node, found other numbers"
    ),
    Case("plain", job(2, node_units=[1], nodes=[0]), "job 2: units placed: expected 2, found 1"),
    Case("plain", job(2, nodes=[44], node_units=[2]), "expected a number from 0 to 3, found 44"),
    Case("plain", job(2, nodes=[1, 2], node_units=[2, 0]), "units: expected at least 1, found 0"),
    Case("plain", job(2, nodes=[1, 1], node_units=[1, 1]), "node 1: expected once, found again"),
    Case("plain", job(4, nodes=[0], node_units=[8]), "its capacity, found 8"),
    Case(
        "plain",
        job(4, nodes=[0, 1, 2, 3], node_units=[2, 2, 2, 2], start_time=0, end_time=50),
        "held by jobs",
    ),
    Case("plain", job(10, allowed_nodes=[0]), "job 10: allowed_nodes: expected None, found [0]"),
    Case("hand", job(4, nodes=[3]), "job 4: node: expected one of thin, found fat-0"),
    Case("hand", job(9, nodes=[2]), "job 9: node: expected one that it may use, found thin-2"),
    Case("hand", job(1, nodes=[0, 1], node_units=[1, 2]), "units: expected 1 on each, found 2"),
    # Dependencies: job 9 waits for job 5, which ends at 401, and thinks for 20 s.
    Case("site", job(5, job_id=50), "job 9: expected job 5 to have left, found it had not"),
    Case("site", job(9, start_time=410, end_time=420), "20 s after job 5 left, found 410"),
    # Partitions
    Case("site", job(3, rejected_by="no_partition"), "expected over_partition_time, found no_part"),
    Case("site", job(1, nodes=[3], node_units=[2]), "partition short: expected a node of thin"),
    Case(
        "site",
        job(2, start_time=20, end_time=70),
        "second 20: partition short: MaxJobsPerUser=1",
    ),
    Case("used up", text("core: 15", "core: 18"), "job 4: expected a start, found it rejected"),
    # Shared resources
    Case("site", text("capacity: 80", "capacity: 30"), "to be drawn where jobs start, found"),
    Case(
        "site",
        text("capacity: 90", "capacity: 91"),
        "shared_resources.parquet, row 1: time, drawn and offered: expected",
    ),
    Case("site", rows("shared_resources.parquet", lambda r: r.pop()), "rows of shared_res"),
    Case(
        "site",
        figures("shared_resources", "power", energy=1),
        "shared_resources.power.energy: expected",
    ),
    Case("site", low_power, "expected it to draw at most 10 of power, found 20"),
    # Outages
    Case("site", job(9, start_time=299, end_time=309), "is out of service from 300 to 310"),
    Case(  # one node of four goes out of service, and jobs on the others stand before job 10
        "one node",
        job(10, nodes=[0, 1], node_units=[2, 2], start_time=6, end_time=46),
        "job 10, from 6 to 46: node thin-0 is out of service from 5 to 8",
    ),
    Case("site", job(2, predicted_run_time=400), "was announced for 300"),
    Case("site", first(LOST, end_time=4), "lost at 4, when none of its nodes went out of service"),
    Case("site", first(LOST, start_time=-60), "when it had ended, or not begun"),
    Case("site", first(LOST, requeued=False), "attempts that were not tried again"),
    Case("failing", first(LOST, requeued=True), "attempts that were tried again"),
    # Withdrawals and the order of the queue
    Case("impatient", job(9, patience=None), "job 9: patience: expected"),
    Case("impatient", text("mean: 9", "mean: 1"), "when it is withdrawn, found"),
    Case("impatient", job(1, state="withdrawn"), "expected no start, end or places of a withdr"),
    Case("plain", job(1, backfilled=True), "job 1: backfilled: expected 0, found 1"),
    Case("plain", job(1, state="withdrawn"), "job 1: expected it to wait for ever"),
    # Preemption: job 7 preempts a job of the queue 1 at 30
    Case("preempting", first(LOST, preempted_by=900), "expected jobs that are preempted and preem"),
    Case("preempting", first(LOST, preempted_by=4), "expected a job of another class"),
    Case("preempting", first(LOST, requeued=False), "expected the mode requeue, found cancel"),
    Case("preempting", first(LOST, requeued=False), "expected it to run then"),
    Case("preempting", text("exempt: 5", "exempt: 300"), "expected 300 s of run time before"),
    Case("preempting", first(LOST, preempted_by=9), "expected the preemptor to wait then"),
    Case(
        "preempting",
        job(7, start_time=31, end_time=41),
        "expected the preemptor to start then, on a node of it",
    ),
    Case("preempting", first(LOST, run_time=1), "run_time: expected"),
    Case("preempting", first(LOST, lost_time=1), "lost_time: expected"),
    Case("preempting", figures("preemption", preemptions=9), "preemption.preemptions: expected 5"),
    Case("preempting", figures(goodput=0.1), "goodput: expected"),
    # Devices: the two units of job 1 are on the first node
    Case("sharing", job(1, devices=[1]), "job 1: devices: expected those of 2 units, found 1"),
    Case("sharing", job(1, devices=[3, 4]), "job 1, node node-0: devices: expected 1, found 2"),
    Case("sharing", job(1, devices=[1, 16]), "job 1, node node-0: a device that is not there"),
    Case("sharing", job(1, devices=[1, 1]), "device 0, second 0: expected at most 1000 shares, f"),
    Case(
        "slicing", job(1, devices=[127, 65280]), "job 1, node node-0: slices that its MIG profile"
    ),
    Case("site", job(10, requeues=1), "job 10: requeues: expected 0, found 1"),
    Case("site", job(10, lost_time=1), "job 10: lost_time: expected 0, found 1"),
    Case("failing", job(10, state="failed"), "failed jobs, with start and end"),
    Case("site", first(LOST, job_id=99), "job 99: expected to be in the trace, found only as lost"),
    Case("site", first(LOST, units=1), "job 1: units of a lost attempt: expected 2, found 1"),
    Case("site", first(LOST, unit_request=[9]), "job 1: unit_request of core of a lost attempt"),
    Case("failing", first(LOST, nodes=[1]), "job 1: nodes and units: expected"),
    Case("site", rows("outages.parquet", lambda r: r.pop()), "outages: expected 2, found 1"),
    Case("site", first("outages.parquet", name="x"), "an outage: expected"),
    Case("site", without("summary.json", "outages"), "outages: figures beside the file"),
    Case("site", figures("outages", lost_time=99), "outages.lost_time: expected"),
    Case("site", figures("outages", lost_amounts={}), "outages.lost_amounts: expected"),
    # The account
    Case("plain", figures("jobs", completed=9), "jobs completed: expected 10, found 9"),
    Case("plain", figures("jobs", rejected_by={"x": 1}), "jobs rejected_by: expected"),
    Case("plain", figures("jobs", submitted=9), "jobs submitted: expected 10, found 9"),
    Case("plain", figures("jobs", read=9), "records read: expected 10, found 9"),
    Case("plain", figures("jobs", read=9), "records read in the trace: expected 10, found 9"),
    Case(
        "plain", figures("jobs", submitted=9), "jobs submitted in the trace: expected 10, found 9"
    ),
    Case("plain", without("summary.json", "jobs", "clipped"), "jobs.clipped: it is there"),
    Case("plain", figures("jobs", skipped={"x": 1}), "skipped for x: expected 0, found 1"),
    # The rounds
    Case("plain", figures("rounds", count=1), "rounds: expected"),
    Case("plain", figures("rounds", fallbacks=1), "rounds with a fallback: expected"),
    Case("plain", figures("rounds", solver={"x": 1}), "rounds by what the solver answered"),
    Case("plain", figures("rounds", asked_solver=1), "rounds that asked a solver: expected 0"),
    Case("plain", figures("rounds", without_plan=1), "rounds without a plan: expected 0"),
    Case("plain", first(ROUNDS, latency=100), "rounds in order of time, one at a time"),
    Case("plain", timing(decision_time_mean=1), "decision_time_mean"),
    Case("plain", timing(decision_time_p99=1), "decision_time_p99"),
    Case("rejecting", first(ROUNDS, rejected=0), "jobs rejected by all rounds"),
    Case("plain", first(ROUNDS, started=0), "jobs started by all rounds"),
    Case(
        "plain", first(ROUNDS, started=0), "second 0: jobs started by rounds: expected 2, found 0"
    ),
    Case("plain", first(ROUNDS, round=5), "round 1, second 0: round: expected 1, found 5"),
    Case("plain", first(ROUNDS, queued=5), "round 1, second 0: queued: expected 2, found 5"),
    Case("plain", first(ROUNDS, waiting=5), "round 1, second 0: waiting: expected 0, found 5"),
    Case("plain", first(ROUNDS, running=5), "round 1, second 0: running: expected 0, found 5"),
    Case(
        "plain",
        rows(ROUNDS, lambda r: r[1].update(now=6)),
        "round 2: expected at second 5, found at second 6",
    ),
    Case("plain", first(ROUNDS, latency=1), "round 1, second 0: latency: expected 0, found 1"),
    Case("choosing", first(ROUNDS, because=None), "round 1: expected a choice with a reason"),
    Case("choosing", first(ROUNDS, chosen=None), "round 1: chosen: expected a choice, found none"),
    Case(
        "choosing", first(ROUNDS, chosen="x"), "chosen: expected one of 'easy', 'list', found 'x'"
    ),
    Case("charged", first(ROUNDS, latency=2), "latency: expected 1, found 2"),
    Case("plain", rows(JOBS_, lambda r: r.reverse()), "expected its row in order of leaving"),
    Case(
        "plain",
        first(ROUNDS, waiting_amounts={"core": 1}),
        "round 1, second 0: waiting_amounts.core: expected 0, found 1",
    ),
    Case(
        "plain",
        first(ROUNDS, free_amounts={"core": 1}),
        "round 1, second 0: free_amounts.core: expected 4, found 1",
    ),
    Case(
        "plain",
        first(ROUNDS, lost_amounts={"core": 1.0}),
        "round 1, second 0: lost_amounts.core: expected 0.0, found 1.0",
    ),
    # Reasons
    Case("site", first(REASONS, round=900), "expected a round that was held, in order of rounds"),
    Case("site", first(REASONS, now=900), "now: expected 0, found 900"),
    Case("site", first(REASONS, job_id=900), "expected a job that was submitted by 0"),
    Case("site", first(REASONS, job=900), "job: expected one of the trace, found 900"),
    Case("site", first(REASONS, time=-1), "time: expected at least 0, found -1"),
    Case("site", first(REASONS, job_id=2, kind="in_order"), "but the job did not start at 1"),
    Case("site", first(REASONS, kind="whim"), "kind: expected a known one, found 'whim'"),
    Case(
        "site",
        rows(REASONS, lambda r: r[-1].update(job_id=2, kind="limit")),
        "expected a job that waited, found it started",
    ),
    Case("site", reason(5, kind="reserved_for", job=6), "job: expected one that waited, found 6"),
    Case("site", reason(1, job=2), "round 1, job 1: job: expected none, found 2"),
    Case("site", rows(REASONS, lambda r: r.insert(0, r[0])), "expected one reason in a round"),
    Case("site", reason(1, time=7), "round 1, job 1: time: expected None, found 7"),
    Case("site", reason(2, detail="partition short"), "detail: expected one of limit, found 'part"),
    Case("site", reason(5, detail="maintenance daily"), "one of outage, found 'maintenance daily'"),
    Case("site", rows(REASONS, lambda r: r.insert(4, r[3])), "another reason than in round 4"),
    Case("site", rows(REASONS, lambda r: r.pop(0)), "job 1: expected a reason for its start at 1"),
    Case(
        "site",
        rows(REASONS, lambda r: r.pop(1)),
        "job 2: expected its first reason in round 1, found it in round 10",
    ),
    # Events
    Case(
        "site", lines(lambda e: e.insert(3, "so\n")), "line 4: expected an event with a time, found"
    ),
    Case("site", lines(lambda e: e.pop()), "events.jsonl: expected {"),
    Case("site", lines(lambda e: e.pop()), "jobs running at the end of events.jsonl: expected 0"),
    Case("site", lines(lambda e: e.append(e[2])), 'line 46: expected null, found {"event": "sta'),
    Case("site", swapped('submitted", "job_id": 1', 'started", "job_id": 1'), "it was not"),
    Case("site", swapped('started", "job_id": 2', '"round": 9'), "time: expected at least 57"),
    Case("site", swapped('started", "job_id": 1', '"round": 1'), "starts before it: expected 1"),
    Case("site", swapped('rejected", "job_id": 8', '"round": 7'), "behind the submission of job 8"),
    Case("rejecting", swapped('rejected", "job_id": 1', '"round": 1'), "rejections before it"),
    # Other files of observers
    Case("site", lambda f: (f / USAGE).unlink(), "usage.parquet is there: expected True"),
    Case("site", rows(USAGE, lambda r: r.pop()), "rows of usage.parquet: expected 18, found 17"),
    Case("site", first(USAGE, queued=7), "usage.parquet, round 1: queued: expected 2, found 7"),
    # Rounds that the dispatcher asked for
    Case("plain", first(ROUNDS, call_again_at=9), "call_again_at: expected none, found 9"),
    Case("slurm", first(ROUNDS, call_again_at=0), "expected a time after 0, found 0"),
    Case("slurm", at(2, ROUNDS, call_again_at=24), "call_again_at: expected 25, found 24"),
    Case("slurm later", at(2, ROUNDS, call_again_at=26), "expected [20, 25], found 26"),
    # Figures
    Case("plain", without("summary.json", "metrics", "makespan"), "metrics: expected"),
    Case("plain", figures("metrics", makespan=1), "metrics.makespan: expected"),
    Case("plain", figures("definitions", "makespan", unit="h"), "definitions.makespan: expected"),
    Case("plain", figures("utilization_by_resource", core=0.1), "utilization_by_resource.core"),
    Case("plain", figures("utilization_by_resource", gpu=0.1), "utilization_by_resource: expected"),
    Case("plain", figures("objective", name="af"), "objective.name"),
    Case("plain", figures("objective", parameters={"x": 1}), "objective.parameters"),
    Case("plain", figures("objective", value=0.5), "objective.value"),
    Case(
        "plain",
        figures("loss_of_capacity_by_resource", core=0.9),
        "loss_of_capacity_by_resource.core",
    ),
    Case("plain", without("summary.json", "percentiles", "wait_time"), "percentiles: expected"),
    Case(
        "plain",
        without("summary.json", "percentiles", "wait_time", "p99"),
        "percentiles.wait_time: expected",
    ),
    Case("plain", figures("percentiles", "wait_time", p99=-1), "percentiles.wait_time.p99"),
    Case("plain", without("summary.json", "classes", 2), "classes: expected"),
    Case("plain", figures("classes", 1, run_time_from=1), "classes[1].run_time_from"),
    Case("plain", figures("classes", 1, run_time_to=1), "classes[1].run_time_to"),
    Case("plain", figures("classes", 0, jobs=1), "classes[0].jobs"),
    Case("plain", without("summary.json", "classes", 0, "jobs"), "classes[0]: expected"),
    Case("hand", figures("metrics", loss_of_capacity=0.9), "metrics.loss_of_capacity: expected"),
    # A trace that was planned at once
    Case("offline", without("summary.json", "offline"), "offline: figures are there"),
    Case("offline", figures("offline", value=9.0), "offline.value"),
    Case("offline", figures("offline", lower_bound=99.0), "offline.lower_bound: expected at most"),
    Case("offline", figures("offline", gap=0.9), "offline.gap: expected"),
    Case("offline", figures("offline", proved=None), "offline.proved: expected"),
    Case("offline", figures("offline", lower_bound=None), "offline.gap: expected None"),
    Case("offline", figures("offline", lower_bound=None), "offline.proved: expected None"),
    # Starts that the log records: here none are, so that jobs are due at their submission
    Case("recorded", without("summary.json", "recorded_starts"), "recorded_starts: figures are"),
    Case("recorded", figures("recorded_starts", later=99), "recorded_starts.later: expected"),
    Case(
        "recorded",
        job(9, start_time=44, end_time=54),
        "job 9: start_time: expected 45 or later, found 44",
    ),
    Case(
        "recorded",
        job(2, start_time=1, end_time=51),
        "job 2: expected to start at 0, when 6 units were free, found it started at 1",
    ),
    # The manifest
    Case("plain", manifest(trace_files=[]), "number of trace files: expected 0, found 1"),
    Case("plain", manifest(trace_files=[]), "SHA-256 of"),
    Case("plain", manifest("trace_files", 0, bytes=1), "bytes of"),
    Case("plain", manifest("trace_files", 0, answer=True), "is the answer of a program"),
    Case("plain", manifest("trace_files", 0, changed=True), "changed while the run went on"),
    Case("plain", manifest(scenario="x"), "scenario: expected plain, found x"),
    Case("plain", manifest(seed=9), "seed: expected 0, found 9"),
    Case("plain", manifest(trace_comments=["x"]), "trace_comments: expected"),
    Case("plain", manifest(plugins={}), "plugins: expected ['hpcsched'], found []"),
    Case("plain", manifest(versions={}), "versions: expected"),
    Case("plain", manifest("versions", numpy="new"), "version of numpy: 'new'"),
    Case("plain", manifest(plugins={"hpcsched": "0.0.1"}), "plugins.hpcsched: expected"),
    Case("plain", manifest("versions", pyarrow="1.2.3"), "pyarrow that wrote jobs.parquet"),
    Case(
        "plain", manifest(not_reproducible_because=["x"]), "not_reproducible_because: expected []"
    ),
    Case("plain", manifest(reproducible=False), "reproducible: expected True, found False"),
    Case("plain", manifest(platform=""), "a platform: expected True"),
    Case("plain", manifest(cpu_count=0), "at least one processor: expected True"),
    Case("plain", manifest(started="yesterday"), "started: 'yesterday': an instant in UTC"),
    Case("plain", manifest(error="a fault"), "error: expected None, found a fault"),
    Case("plain", manifest(status="interrupted"), "jobs left in a run that is interrupted"),
    # The files
    Case("plain", text("seed: 0", "seed: 0 "), "SHA-256 of scenario.yaml: expected", sealed=False),
    Case(
        "plain",
        lambda f: (f / "events.jsonl").write_text(""),
        "events.jsonl has its SHA-256 in the manifest",
        sealed=False,
    ),
    Case(
        "plain",
        manifest(files={"gone": ""}),
        "gone is in the directory: expected True",
        sealed=False,
    ),
]


@pytest.fixture(scope="module", name="honest")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a run of each scenario, of which the audit finds nothing."""
    made = {}
    for name, scenario in SCENARIOS.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "failures.csv").write_text(FAILURES)
        (folder / "jobs.swf").write_text(swf_lines(JOBS))
        (folder / "scenario.yaml").write_text(scenario)
        made[name] = run(load_scenario(folder / "scenario.yaml"), folder / "run").directory.path
    made["hand"] = write_run(tmp_path_factory.mktemp("hand") / "run", HAND).path
    return made


def audited(name: str, folder: Path) -> AuditReport:
    """Audit the run of a scenario, or the one made by hand."""
    run_directory = RunDirectory.open(folder)
    if name == "hand":
        return audit_run(run_directory, [placed.traced for placed in HAND])
    return audit_directory(run_directory)


def test_honest_runs(honest: dict[str, Path]) -> None:
    """Nothing is found in the runs that are tampered with."""
    for name, folder in honest.items():
        report = audited(name, folder)
        assert report.ok, (name, messages(report))


Place = tuple[str, int]
"""A module of the audit, and a line of it."""


class Tried(NamedTuple):
    """What the audit said of each case, and the places that counted a violation."""

    said: list[str]
    counted: set[Place]


@pytest.fixture(scope="module", name="tried")
def _tried(honest: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Audit every case once, taking note of where violations are counted."""
    counted: set[Place] = set()

    def noted(count: Callable[..., None]) -> Callable[..., None]:
        def wrapper(check: Check, *values: Any) -> None:
            before = check.count
            count(check, *values)
            frame = sys._getframe(1) if check.count > before else None
            while frame is not None:
                path = Path(frame.f_code.co_filename)
                if path.parent == AUDIT:
                    counted.add((path.name, frame.f_lineno))
                frame = frame.f_back

        return wrapper

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Check, "found", noted(Check.found))
        patch.setattr(Check, "found_at", noted(Check.found_at))
        said = [tampered(case, honest, tmp_path_factory.mktemp("case")) for case in CASES]
    return Tried(said, counted)


def tampered(case: Case, honest: dict[str, Path], folder: Path) -> str:
    """Return what the audit says of a case, whose files' hashes are right."""
    copy = folder / "run"
    shutil.copytree(honest[case.scenario], copy)
    case.tamper(copy)
    if case.sealed:
        seal(copy)
    return messages(audited(case.scenario, copy))


@pytest.mark.parametrize("k", range(len(CASES)), ids=[case.message[:40] for case in CASES])
def test_tampered(tried: Tried, k: int) -> None:
    """The change is found, and the message says what was expected."""
    assert CASES[k].message in tried.said[k]


def test_every_rule_has_a_case(tried: Tried) -> None:
    """Each place at which a violation is counted did count one."""
    missing = [
        f"{name}:{first}: {source}"
        for name, first, last, source in rules()
        if not any((name, line) in tried.counted for line in range(first, last + 1))
    ]
    assert not missing, "\n".join(missing)


def rules() -> Iterator[tuple[str, int, int, str]]:
    """Yield the places at which violations are counted: module, first and last line, and call."""
    # A comparison with a replay is no part of an audit.
    for path in sorted({*AUDIT.glob("*.py")} - {AUDIT / "auditing.py"}):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                function = node.func
                name = getattr(function, "attr", getattr(function, "id", ""))
                if name in COUNTING:
                    last = node.end_lineno or node.lineno
                    yield path.name, node.lineno, last, ast.unparse(node)[:90]
