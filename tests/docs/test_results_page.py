"""The reference of results describes everything that a run writes."""

import json
import re
from dataclasses import asdict

import pytest

from hpcsched.dispatching.rules.recorded import RecordedFigures
from hpcsched.runs.assembly import assemble
from hpcsched.runs.columns import (
    interruptions_schema,
    jobs_schema,
    outages_schema,
    reasons_schema,
    rounds_schema,
    shared_resources_schema,
    usage_schema,
)
from hpcsched.runs.files import KNOWN, STATES
from hpcsched.runs.manifest import Manifest
from hpcsched.runs.resource_records import SharedResourceFigures, outage_figures, preemption_figures
from hpcsched.runs.runner import run
from hpcsched.runs.summary import Remaining, job_account
from hpcsched.scenario import load_scenario
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.trace_source import TraceAccount
from tests.docs.pages import DOCS, ROOT, reference, tables

PAGE = reference().make_page((DOCS / "results.md").read_text(encoding="utf-8"))
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
# Keys of these objects are names that a run has; the page has a placeholder for them.
NAMED = {
    "jobs.skipped": "policy",
    "jobs.clipped": "policy",
    "jobs.changed": "what",
    "jobs.rejected_by": "rule",
    "objective.parameters": "parameter",
    "metrics": "metric",
    "definitions": "metric",
    "definitions.<metric>.parameters": "parameter",
    "utilization_by_resource": "type",
    "outages.lost_amounts": "type",
    "shared_resources": "resource",
    "outages.node_seconds_down": "kind",
    "loss_of_capacity_by_resource": "type",
    "percentiles": "quantity",
    "rounds.solver": "status",
}


@pytest.fixture(scope="module")
def scenario():
    """A small scenario with several resource types."""
    return load_scenario(ROOT / "scenarios" / "small-easy.yaml", ["trace.jobs=20"])


def described(section):
    """Return the names in a section's list, which stand before the first colon of a line."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("- ")]
    return [name for line in lines for name in re.findall(r"`([^`]+)`", line.partition(": ")[0])]


def key_paths(value, path=""):
    """Yield the path of every value of a summary, with placeholders."""
    if isinstance(value, list):
        for item in value:
            yield from key_paths(item, f"{path}[]")
    elif isinstance(value, dict):
        for key, item in value.items():
            step = f"<{NAMED[path]}>" if path in NAMED else key
            step = "p<n>" if path == "percentiles.<quantity>" else step
            yield from key_paths(item, f"{path}.{step}" if path else step)
    else:
        yield path


def test_files():
    """Every file of a run directory is listed."""
    assert sorted(described("Files")) == sorted(KNOWN)


@pytest.mark.parametrize(
    ("section", "schema"), [("jobs.parquet", jobs_schema), ("rounds.parquet", rounds_schema)]
)
def test_columns(section, schema, scenario):
    """Every column is described, in order, and no other."""
    assert described(section) == schema(scenario.system.build()).names


def test_columns_of_optional_files():
    """Every column is described, in order, and no other."""
    assert described("outages.parquet") == outages_schema().names
    system = System((NodeGroup("node", 1, {"core": 1}),), {}, (SharedResource("power", 1),))
    assert described("shared_resources.parquet") == shared_resources_schema(system).names
    assert described("interruptions.parquet") == interruptions_schema(system).names
    assert described("reasons.parquet") == reasons_schema().names
    assert described("usage.parquet") == usage_schema().names


def test_states():
    """The states of a job are named."""
    lines = SECTIONS["jobs.parquet"].splitlines()
    (line,) = (line for line in lines if line.startswith("- `state`"))
    assert all(f"`{state}`" in line for state in STATES)


def test_summary_keys(scenario, tmp_path):
    """Every key of a summary is described, those of partial runs as well, and no other."""
    result = run(scenario, tmp_path / "run")
    summary = result.summary
    account = TraceAccount(read=3, submitted=2)
    account.skipped["malformed"] = account.clipped["over_requested_time"] = 1
    account.changed["shifted"] = 1
    account.note_fault("log:1", "expected 18 fields, found 2")
    found = dict.fromkeys(key_paths(summary))
    found |= dict.fromkeys(key_paths({"rounds": {"solver": {"optimal": 1}}}))
    down = Outages((Outage(0, 1, (0,), "failure"),))
    system = scenario.system.build()
    none = interruptions_schema(system).empty_table()
    figures = outage_figures(none, down, system)
    found |= dict.fromkeys(key_paths({"outages": figures, "goodput": 1.0}))
    preempted = preemption_figures(none)
    found |= dict.fromkeys(key_paths({"preemption": preempted}))
    found |= dict.fromkeys(
        key_paths({"shared_resources": {"power": dict.fromkeys(SharedResourceFigures._fields, 0)}})
    )
    found |= dict.fromkeys(key_paths({"recorded_starts": asdict(RecordedFigures())}))
    jobs = job_account(account, {}, Remaining(1, 1), {"dispatcher": 1})
    found |= dict.fromkeys(key_paths({"jobs": jobs}))
    assert sorted(described("summary.json")) == sorted(found)
    assert described("timing.json") == list(key_paths(result.directory.timing))
    assert list(Manifest.model_fields) == described("manifest.json")
    json.dumps(summary)


def test_metrics():
    """Every metric is described with its unit and population, in order, and no other."""
    (rows,) = tables(SECTIONS["Metrics"])
    with_devices = {"core": 4, "gpu": {"count": 2, "shares": 1000}}
    groups = [{"name": "node", "count": 2, "resources": with_devices}]
    scenario = load_scenario(
        ROOT / "scenarios" / "small-easy.yaml", [f"system={json.dumps({'groups': groups})}"]
    )
    metrics = {name: chosen.metric for name, chosen in assemble(scenario).metrics().items()}
    assert [row[0] for row in rows[1:]] == [f"`{name}`" for name in metrics]
    for row, metric in zip(rows[1:], metrics.values(), strict=True):
        assert row[1] == (metric.unit or "ratio")
        assert row[2] == metric.population
        assert row[3]


def test_defaults(scenario):
    """Percentiles, classes and parameters are as the page says."""
    assert scenario.metrics.percentiles == (50, 90, 99)
    assert scenario.metrics.class_bounds == (3600, 18000)
    assert scenario.metrics.parameters("mean_bounded_slowdown").tau == 10
    assert scenario.metrics.parameters("p2sf").alpha == 2
    assert "50, 90 and 99, unless given" in " ".join(SECTIONS["Percentiles"].split())
    assert "1 h and 5 h, unless given" in " ".join(SECTIONS["Classes"].split())


def test_exit_codes():
    """Each exit code of the commands is described."""
    (rows,) = tables(SECTIONS["Exit codes"])
    assert [row[0] for row in rows[1:]] == ["0", "1", "2", "3", "130"]
