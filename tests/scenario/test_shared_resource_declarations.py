"""Shared resources in a scenario: what they make, and what is refused, with its place."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import resolved_yaml
from hpcsched.system.shared_resources import Change, Draw, SharedResource

START = """\
name: site
system:
  groups:
    - {name: thin, count: 2, resources: {core: 4}}
trace: {source: lublin99, jobs: 5}
dispatcher: easy
"""
SHARED_RESOURCES = START.replace("trace:", "  shared_resources:\n%s\ntrace:")


def write(folder: Path, shared_resources: str) -> Path:
    """Write a scenario with shared resources, the first of which is in line 6."""
    path = folder / "site.yaml"
    path.write_text(SHARED_RESOURCES % shared_resources)
    return path


def test_what_is_declared_is_made(tmp_path: Path) -> None:
    """Every key takes effect, and a resolved scenario has the same shared resources again."""
    path = write(
        tmp_path,
        """\
    - name: power
      capacity: 9000
      draw: {per_node: 100, per: {core: 5}, per_job: 1}
      changes: [{at: 8h, capacity: 6000}, {at: 20h, capacity: 9000}]
      every: 1d
    - {name: buffer, capacity: 1TiB, draw: as_the_trace_says}""",
    )
    scenario = load_scenario(path)
    shared_resources = (
        SharedResource(
            "power",
            9000,
            Draw({"core": 5}, 100, 1),
            (Change(28800, 6000), Change(72000, 9000)),
            86400,
        ),
        SharedResource("buffer", 1 << 40, Draw(traced=True)),
    )
    assert scenario.system.build().shared_resources == shared_resources
    path.write_text(resolved_yaml(scenario))
    assert load_scenario(path).system.build().shared_resources == shared_resources


def test_no_shared_resources(tmp_path: Path) -> None:
    """A system has none if nothing is said."""
    path = tmp_path / "site.yaml"
    path.write_text(START)
    assert load_scenario(path).system.build().shared_resources == ()


ONE = "    - {name: power, capacity: 9, draw: {per_job: 1}%s}"
BAD = {
    "a resource type's name": (
        "    - {name: core, capacity: 9, draw: as_the_trace_says}",
        (6, 14, "duplicate-name", "core is a resource type of the nodes"),
    ),
    "a name twice": (
        f"{ONE % ''}\n{ONE % ''}",
        (7, 14, "duplicate-name", "two shared resources are called 'power'"),
    ),
    "an unknown resource type": (
        "    - {name: power, capacity: 9, draw: {per: {gpu: 1}}}",
        (6, 52, "unknown-resource-type", "no node group has gpu; there are: core"),
    ),
    "a draw of nothing": (
        "    - {name: power, capacity: 9, draw: {per_node: 0}}",
        (6, 40, "bad-value", "expected an amount that jobs draw, found none"),
    ),
    "an unknown model": (
        "    - {name: power, capacity: 9, draw: guess}",
        (6, 40, "bad-value", "expected a mapping of keys or 'as_the_trace_says', found 'guess'"),
    ),
    "no capacity": (
        "    - {name: power, capacity: -1, draw: as_the_trace_says}",
        (6, 31, "bad-value", "expected a value of at least 0, found -1"),
    ),
    "changes out of order": (
        ONE % ", changes: [{at: 2h, capacity: 3}, {at: 2h, capacity: 4}]",
        (6, 92, "bad-value", "expected a time after 7200, that of the change before, found 7200"),
    ),
    "a change beyond the period": (
        ONE % ", changes: [{at: 2h, capacity: 3}], every: 2h",
        (6, 69, "bad-value", "expected a time within the period of 7200 s, found 7200"),
    ),
    "a period of nothing": (
        ONE % ", every: 2h",
        (6, 61, "bad-value", "'every' is for changes, and there are none"),
    ),
    "periods that do not go together": (
        (ONE % ", changes: [{at: 1h, capacity: 3}], every: 2h")
        + "\n    - {name: b, capacity: 9, draw: {per_job: 1}, changes: [{at: 1, capacity: 3}],"
        " every: 3h}",
        (
            6,
            95,
            "bad-value",
            "expected a period that divides that of another shared resource, 10800 s",
        ),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    """With line, column and rule."""
    text, (line, column, rule, message) = BAD[name]
    with pytest.raises(InputError) as caught:
        load_scenario(write(tmp_path, text))
    (found,) = caught.value.findings
    assert message in found.message
    assert found.rule == rule
    assert (found.place.line, found.place.column) == (line, column)


def test_shared_resources_are_not_planned_offline(tmp_path: Path) -> None:
    """The mode is refused where the shared resources are."""
    path = write(tmp_path, ONE % "")
    with pytest.raises(InputError, match=r"'mode: offline' .* expected no shared_resources"):
        load_scenario(
            path, ["simulation.mode=offline", "predictor=actual", "dispatcher=order-search"]
        )
