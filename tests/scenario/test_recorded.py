"""Scenarios whose dispatcher follows the starts of a log: settings that contradict it."""

from pathlib import Path

import pytest

from hpcsched.errors import Finding, InputError
from hpcsched.scenario import load_scenario
from hpcsched.scenario.models import RULE

SCENARIO = """\
name: logged
system: {groups: [{name: node, count: 2, resources: {core: 1}}]}
trace: {source: swf, path: jobs.swf}
dispatcher: recorded
"""
LIVE = (
    "{workload_manager: {name: state-file, path: s.json}, partitions: [p], nodes: {node: 'n[1-2]'}}"
)

CHANGES = {
    "predictor": ("predictor=last-two", "predictor", "the dispatcher recorded needs no predictor"),
    "source": (
        "trace={source: lublin99, jobs: 3}",
        "trace.source",
        "needs a log that records when jobs started, and lublin99 does not; there are: ",
    ),
    "transform": (
        "trace.transforms=[{name: scale-load, factor: 2}]",
        "trace.transforms[0]",
        "the transform scale-load changes submissions or jobs",
    ),
    "dependencies": (
        "trace.dependencies=honour",
        "trace.dependencies",
        "expected no dependencies",
    ),
    "outages": (
        "outages={maintenance: [{start: 1, duration: 2}]}",
        "outages",
        "expected no outages",
    ),
    "latency": (
        "simulation.dispatch_latency={fixed: 1}",
        "simulation.dispatch_latency",
        "expected no dispatch_latency",
    ),
    "shared resources": (
        "system.shared_resources=[{name: power, capacity: 9, draw: {per: {core: 1}}}]",
        "system.shared_resources",
        "expected no shared_resources",
    ),
    "a real cluster": (f"live={LIVE}", "live", "expected no live"),
}


def write(folder: Path) -> Path:
    """Write the scenario; its log is not read."""
    path = folder / "logged.yaml"
    path.write_text(SCENARIO)
    return path


def refusals(path: Path, *changes: str) -> list[Finding]:
    """Return the findings of the rule in a scenario with changes."""
    with pytest.raises(InputError) as caught:
        load_scenario(path, changes)
    return [one for one in caught.value.findings if one.rule == RULE]


@pytest.mark.parametrize(("change", "key", "said"), CHANGES.values(), ids=CHANGES)
def test_refusals(tmp_path: Path, change: str, key: str, said: str) -> None:
    """What would move starts, or has nothing to do with them, is refused, and named."""
    found = refusals(write(tmp_path), change)
    assert [one.key for one in found] == [key]
    assert said in found[0].message


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "a real cluster"])
def test_other_dispatchers_are_free(tmp_path: Path, name: str) -> None:
    """What is refused here goes with a dispatcher that decides by itself."""
    change, _, _ = CHANGES[name]
    loaded = load_scenario(write(tmp_path), [change, "dispatcher=easy"])
    assert loaded.dispatcher.plugin_name == "easy"


def test_transforms_that_keep_waits_are_allowed(tmp_path: Path) -> None:
    """A part of the log keeps its schedule; of several transforms only the other one is refused."""
    part = "{name: first, jobs: 10}"
    path = write(tmp_path)
    assert load_scenario(path, [f"trace.transforms=[{part}]"]).dispatcher.plugin_name == "recorded"
    found = refusals(path, f"trace.transforms=[{part}, {{name: scale-load, factor: 2}}]")
    assert [one.key for one in found] == ["trace.transforms[1]"]


def test_all_is_told_at_once(tmp_path: Path) -> None:
    """Several settings give several findings."""
    found = refusals(write(tmp_path), *(CHANGES[name][0] for name in ("outages", "latency")))
    assert sorted(one.key for one in found) == ["outages", "simulation.dispatch_latency"]
