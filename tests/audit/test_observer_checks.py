"""Honest runs of random jobs pass the checks of events, reasons, usage and requested rounds."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.columns import read_run, read_trace
from hpcsched.audit.file_checks import EVENTS
from hpcsched.audit.reason_checks import ReasonDetails, ReasonRow
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.audit.test_every_rule import FAILURES, JOBS, PLAIN, SITE, swf_lines
from tests.runs.hand_made import messages, seal

OBSERVERS = "observers: [reasons, event-log, cpu-memory]\n"
LATE = PLAIN + OBSERVERS + "simulation: {dispatch_latency: {fixed: 4s}}\n"
SITES = {
    "site": SITE,
    "failing": SITE.replace("  failure_log", "  requeue: false\n  failure_log"),
    "slow": SITE.replace("fixed: 1s", "fixed: 9s"),
    "plain": PLAIN + OBSERVERS,
    "late": LATE,
}
SLURM = "{name: slurm-backfill, bf_interval: 7, default_queue_depth: 2}"
HYPER = "{name: hyper, portfolio: [easy, conservative, slurm-backfill]}"
QUICK = [("site", "conservative"), ("late", SLURM), ("failing", "order-search")]
DISPATCHERS = (
    *("list", "easy", "{name: easy, order: multifactor}", "conservative", "slack", "reject"),
    *(SLURM, HYPER, "order-search", "hcp19", "pcp21"),
)


def random_jobs(seed: int) -> list[tuple[Any, ...]]:
    """Return 60 jobs as `JOBS` has them: some without length, some that wait for others."""
    draw = random.Random(seed)
    jobs: list[tuple[Any, ...]] = []
    time = 0
    for number in range(1, 61):
        time += draw.choice([0, 0, 1, 3, 10, 20])
        length = draw.choice([0, 1, 5, 20, 60, 90])
        limit = draw.choice([length or 1, length + 10, length * 2 + 1, max(1, length // 2)])
        after = "-1 -1"
        if jobs and draw.random() < 0.1:
            after = f"{draw.randint(1, number - 1)} {draw.choice([0, -1, 5])}"
        units, queue = draw.choice([1, 1, 2, 3, 4, 6, 8]), draw.choice([1, 2])
        jobs.append((number, time, length, units, limit, draw.randint(1, 4), queue, after))
    return jobs


@pytest.fixture(scope="module", name="details")
def _details(tmp_path_factory: pytest.TempPathFactory) -> ReasonDetails:
    """Return the test of details for a run of the jobs that `test_every_rule` has."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(JOBS))
    (folder / "scenario.yaml").write_text(SITE)
    directory = run(load_scenario(folder / "scenario.yaml"), folder / "run").directory
    parts = assemble_again(directory)
    trace = read_trace(parts.source.jobs(), parts.system)
    read = read_run(directory, parts.system)
    return ReasonDetails(
        trace, read, parts.system, parts.partitions, parts.outages, limits_seen=False
    )


def ran(folder: Path, site: str, dispatcher: str, seed: int = 0) -> RunDirectory:
    """Run random jobs."""
    text = SITES[site].replace("dispatcher: easy", f"dispatcher: {dispatcher}")
    (folder / "failures.csv").write_text(FAILURES)
    (folder / "jobs.swf").write_text(swf_lines(random_jobs(seed)))
    (folder / "scenario.yaml").write_text(text.replace("{name: easy}", dispatcher))
    return run(load_scenario(folder / "scenario.yaml"), folder / "run").directory


@pytest.mark.parametrize(
    ("site", "dispatcher", "seed"),
    [
        *((site, dispatcher, 0) for site, dispatcher in QUICK),
        *(
            pytest.param(site, dispatcher, seed, marks=pytest.mark.slow)
            for site in SITES
            for dispatcher in DISPATCHERS
            for seed in (1, 2)
        ),
    ],
)
def test_honest_runs(tmp_path: Path, site: str, dispatcher: str, seed: int) -> None:
    """Nothing is found, and each file was looked at."""
    report = audit_directory(ran(tmp_path, site, dispatcher, seed))
    assert report.ok, messages(report)
    claims = [check.claim for check in report.checks if check.looked_at]
    assert "the log of events is that of the jobs and rounds, in order of time" in claims
    assert "the rows of usage.parquet are those of the rounds" in claims


@pytest.mark.parametrize(
    ("kind", "detail", "known"),
    [
        ("no_room", "shared resource power", True),
        ("no_room", "shared resource heat", False),
        ("no_room", "shared resource power; at first promised for 9 s", True),
        ("no_room", "at first promised for 99 s", False),  # it is planned for 50
        ("reserved_for", "shared resource power", False),
        ("behind", "because", False),
        ("solver_postponed", "jobs that run for no time go first in an instant", True),
        ("not_planned", "jobs that run for no time go first in an instant", False),
        ("outage", "maintenance weekly", True),
        ("outage", "maintenance weekly, failure", False),  # it is over
        ("outage", "maintenance weekly and 1 more", False),
        ("outage", "", False),
        ("limit", "partition long: nodes_per_user 2", True),
        ("limit", "partition long: nodes_per_user 3", False),
        ("limit", "node thin-0 is out of service", False),
        ("limit", "node thin-0 goes out of service at 300, and the job is predicted to", False),
        (
            "limit",
            "node fat-0 goes out of service at 300, and the job is predicted to end at 521",
            True,
        ),
        (
            "limit",
            "shared resource power: 20 would be drawn, 10 free since the decision was asked for",
            True,
        ),
        (
            "limit",
            "shared resource power: 10 would be drawn, 20 free since the decision was asked for",
            False,
        ),
        ("dependency", "", False),  # the job waits for no other
    ],
)
def test_details(details: ReasonDetails, *, kind: Any, detail: str, known: bool) -> None:
    """A detail names resources, partitions and outages of the scenario that can be the cause.

    Job 6 is submitted at 20, and its round is carried out at 21; it is predicted to run for 500 s.
    """
    assert details.may_be(ReasonRow(5, 20, 6, kind, None, 50, detail, 21)) is known


def test_another_promise_after_a_start(details: ReasonDetails) -> None:
    """A job has one promise until it starts; one that lost a node and waits again has another."""
    row = ReasonRow(5, 20, 6, "no_room", None, 50, "at first promised for 9 s", 21)
    later = row._replace(detail="at first promised for 12 s")
    assert details.may_be(row)
    assert not details.may_be(later)
    assert details.may_be(row._replace(kind="in_order", time=None, detail=""))
    assert details.may_be(later)


def test_events_of_a_run_that_was_broken_off(tmp_path: Path) -> None:
    """The numbers of jobs that are left must be those of the summary."""
    directory = ran(tmp_path, "plain", "easy")
    path = directory.path / EVENTS
    lines = path.read_text().splitlines(keepends=True)
    assert json.loads(lines[-1])["event"] == "completed"
    path.write_text("".join(lines[:-1]))
    seal(directory.path)
    said = messages(audit_directory(RunDirectory.open(directory.path)))
    assert "found no such line" in said
    assert "jobs running at the end of events.jsonl: expected 0, found 1" in said
