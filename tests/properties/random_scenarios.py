"""Random scenarios of few jobs and any features, and what a second reference makes of them."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import HpcschedError
from hpcsched.plugins.manager import build_registry
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.site_policies import SitePolicies
from tests.builders import per_user_of
from tests.reference.events import Around, Bound, Limit
from tests.reference.rules import ORDERS, Rule
from tests.reference.timeline import UNLIMITED, Cap, TimelineReplay

FEATURES = (
    *("outages", "partitions", "accounts", "dependencies", "latency", "power", "last-two"),
    "reasons",
)
"""What a scenario may have, in any combination, beside unlike nodes and requests for memory."""
REGISTRY = build_registry(external=False)
LISTS = ("strict", "greedy", "backfill")


class Told(NamedTuple):
    """The features of a scenario, and how many of its jobs waited and attempts were lost."""

    features: frozenset[str]
    waited: int
    lost: int


def try_one(seed: int, name: str, folder: Path) -> Told:
    """Draw a scenario by its seed, with a dispatcher by name, and compare it."""
    draw = Random(f"{name} {seed}")
    features = [feature for feature in FEATURES if draw.random() < 0.5]
    folder.mkdir()
    try:
        return Told(frozenset(features), *compare(_drawn(draw, features, name, folder)))
    except (AssertionError, HpcschedError) as error:
        raise AssertionError(f"{name}, seed {seed}, {features}") from error


def _drawn(draw: Random, features: Sequence[str], name: str, folder: Path) -> Path:
    """Write a random scenario with a dispatcher, its log and its failures; return its file."""
    groups = [
        {"name": f"g{k}", "count": draw.randint(1, 2),
         "resources": {"core": draw.randint(1, 3), "mem": f"{draw.randint(2, 6)}MiB"}}
        for k in range(draw.randint(1, 2))
    ]  # fmt: skip
    nodes = [f"{group['name']}-{k}" for group in groups for k in range(group["count"])]
    swf = {"source": "swf", "path": "log.swf", "unit": {"core": 1}, "zero_run_time": "keep",
           "over_requested_time": "keep", "requested_memory": draw.choice(["ignore", "use"]),
           "dependencies": "honour" if "dependencies" in features else "ignore"}  # fmt: skip
    content: dict[str, Any] = {
        "name": "random",
        "system": {"groups": groups},
        "trace": swf,
        "predictor": "last-two" if "last-two" in features else "requested-time",
        "dispatcher": _dispatcher(draw, name),
        "observers": ["reasons"] if "reasons" in features else [],
    }
    if "latency" in features:
        parts = {"base": draw.choice([0.4, 1, 2, 5]), "per_queued_job": draw.choice([0, 0.5, 1])}
        content["simulation"] = {"dispatch_latency": parts}
    if "power" in features:
        power = {"name": "power", "capacity": draw.randint(20, 35), "draw": {"per": {"core": 5}}}
        content["system"]["shared_resources"] = [power]
    if "partitions" in features:
        content["partitions"] = [
            _partition(draw, k, [group["name"] for group in groups]) for k in range(2)
        ]
    if "accounts" in features:
        content["accounts"] = {
            "lab": {"users": {"1": 1}, "limits": _account(draw)}, "rest": {"other_users": True}
        }  # fmt: skip
    if "outages" in features:
        kinds = ("maintenance", "reservations")
        content["outages"] = {kind: [_window(draw, nodes)] for kind in kinds} | {
            "failure_log": "failures.csv",
            "requeue": draw.random() < 0.7,
        }
        failed = ((draw.choice(nodes), draw.randint(0, 30)) for _ in range(draw.randint(1, 3)))
        lines = [f"{node},{at},{at + draw.randint(1, 12)}" for node, at in failed]
        (folder / "failures.csv").write_text("\n".join(["node,from,until", *lines, ""]))
    (folder / "log.swf").write_text("\n".join(_records(draw)) + "\n")
    path = folder / "random.yaml"
    path.write_text(json.dumps(content))
    return path


def _dispatcher(draw: Random, name: str) -> dict[str, Any]:
    """Return a dispatcher with random parameters."""
    order, allocator = draw.choice(sorted(ORDERS)), {"allocator": "first-fit"}
    if name in LISTS:
        depth = {"depth": draw.randint(1, 2)} if name == "backfill" and draw.random() < 0.5 else {}
        return {"name": "list", "option": name, "order": order, **depth, **allocator}
    if name in ("easy", "relaxed"):
        behind = {"backfill_order": draw.choice(sorted(ORDERS))} if draw.random() < 0.3 else {}
        share = {"relaxation": draw.choice([0, 0.5, 1.5])} if name == "relaxed" else {}
        return {"name": name, "order": order, **behind, **share, **allocator}
    compression = {"compression": draw.choice(["arrival", "reservation"])}
    if name == "conservative":
        return {"name": name, **compression, **allocator}
    slack = {"share": draw.choice([0, 0.5, 1.5]), "least_slack": draw.randint(0, 4)}
    return {"name": name, **slack, **compression, **allocator}


def _partition(draw: Random, number: int, groups: Sequence[str]) -> dict[str, Any]:
    """Return a partition, with limits or without."""
    keys: dict[str, Any] = {
        "groups": draw.sample(groups, draw.randint(1, len(groups))),
        "max_time": draw.randint(6, 12),
        "limits": {"per_user": _per_user(draw)},
    }
    chosen = {key: value for key, value in keys.items() if draw.random() < 0.5}
    return {"name": f"p{number}", "jobs": {"partition": [number]}, **chosen}


def _per_user(draw: Random) -> dict[str, int]:
    """Return limits of the nodes, or of the running jobs, of each user, or of both."""
    keys = {"nodes": draw.randint(1, 3), "jobs": draw.randint(1, 2)}
    return {key: value for key, value in keys.items() if draw.random() < 0.6}


def _account(draw: Random) -> dict[str, Any]:
    """Return limits of an account: amounts that run, and core minutes."""
    keys: dict[str, Any] = {
        "total": {"core": draw.randint(2, 5), "jobs": draw.randint(1, 3)},
        "running_minutes": {"core": 1},
        "total_minutes": {"core": draw.randint(1, 3)},
    }
    return {key: value for key, value in keys.items() if draw.random() < 0.6}


def _window(draw: Random, nodes: Sequence[str]) -> dict[str, Any]:
    """Return an announced outage of some nodes."""
    some = draw.sample(nodes, draw.randint(1, len(nodes)))
    return {"nodes": some, "start": draw.randint(0, 30), "duration": draw.randint(1, 8)}


def _records(draw: Random) -> Iterator[str]:
    """Yield the lines of a log."""
    submit = 0
    for number in range(1, draw.randint(6, 14) + 1):
        submit += draw.choice([0, 0, 0, 0, 1, 1, 2])
        requested = draw.randint(2, 12)
        run_time = draw.choice([requested, requested, draw.randint(0, 12)])
        before = draw.randint(1, number - 1) if number > 1 and draw.random() < 0.3 else -1
        yield (
            f"{number} {submit} -1 {run_time} {draw.randint(1, 4)} -1 -1 -1 {requested}"
            f" {1024 * draw.randint(1, 3)} 1 {draw.randint(1, 2)} 1 1 1"
            f" {draw.choice([0, 0, 0, 0, 1, 1, 1, 1, 2])} {before} {draw.randint(0, 5)}"
        )


def compare(path: Path) -> tuple[int, int]:
    """Run a scenario, audit it, and hold it against the second reference.

    Starts, places, refusals, lost attempts and rounds must be equal. Return how many jobs waited
    and how many attempts were lost.
    """
    scenario = load_scenario(path, registry=REGISTRY)
    result = run(scenario, path.parent / "run")
    report = audit_directory(result.directory)
    assert report.ok, [check for check in report.checks if check.violations]
    assembly = assemble(scenario, REGISTRY)
    jobs = list(assembly.source.jobs())
    reference = _reference(assembly, jobs)
    reference.run(jobs)
    rows = result.jobs.to_pylist()
    found = {
        row["job_id"]: (row["start_time"], dict(zip(row["nodes"], row["node_units"], strict=True)))
        for row in rows
        if row["start_time"] is not None
    }
    assert found == reference.found
    refused = {row["job_id"]: row["rejected_by"] for row in rows if row["rejected_by"]}
    assert refused == reference.refused
    columns = ["now", "queued", "running", "started", "waiting", "latency"]
    rounds = pq.read_table(path.parent / "run" / "rounds.parquet", columns=columns).to_pylist()
    assert [tuple(row[name] for name in columns) for row in rounds] == reference.rounds
    lost = path.parent / "run" / "interruptions.parquet"
    attempts = pq.read_table(lost).to_pylist() if lost.is_file() else []
    times = [(row["job_id"], row["start_time"], row["end_time"]) for row in attempts]
    assert times == reference.lost
    waited = [row for row in rows if (row["start_time"] or 0) > row["submit_time"]]
    return len(waited), len(times)


def _bounds(policies: SitePolicies) -> Iterator[Bound]:
    """Yield the limits of the account of user 1."""
    if "lab" not in policies.accounts:
        return
    amounts, over_time = policies.accounts["lab"].limits

    def group(job: Job) -> str | None:
        return "lab" if job.user == 1 else None

    yield from (Bound(group, name, most) for name, most in amounts.group.items())
    for kind, limits in (("left", over_time.running), ("taken", over_time.total)):
        for name, limit in limits.items():
            yield Bound(group, f"{name} {kind}", 60 * (limit.most or 0))


def _reference(assembly: Assembly, jobs: Sequence[TracedJob]) -> TimelineReplay:
    """Return the second reference for an assembled scenario."""
    chosen, latency = assembly.scenario.dispatcher, assembly.scenario.simulation.latency
    rule = Rule(
        getattr(chosen, "option", chosen.plugin_name),
        chosen.order.plugin_name if hasattr(chosen, "order") else "fcfs",
        behind=getattr(getattr(chosen, "backfill_order", None), "plugin_name", None),
        depth=getattr(chosen, "depth", None),
        compression=getattr(chosen, "compression", "arrival"),
        share=getattr(chosen, "relaxation", getattr(chosen, "share", 0.0)),
        least_slack=getattr(chosen, "least_slack", 0),
    )
    requested = {job.job_id: job.requested_time for job, _ in jobs}
    around = Around(
        requested if assembly.scenario.predictor.plugin_name == "requested-time" else None,
        {
            number: Limit(*per_user_of(p), p.groups, p.max_time)
            for number, p in enumerate(assembly.partitions)
        }
        or None,
        assembly.outages,
        Fraction(0) if latency is None else latency.base,
        Fraction(0) if latency is None else latency.per_queued_job,
        list(_bounds(assembly.policies)),
    )
    shared = assembly.system.shared_resources
    cap = Cap(shared[0].capacity, shared[0].draw.per["core"]) if shared else UNLIMITED
    return TimelineReplay(assembly.system, rule, around, cap)
