"""Outages in a scenario: what they make, and what is refused, with its place."""

from pathlib import Path

import pytest

from hpcsched.errors import Finding, InputError
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml
from hpcsched.system.outages import Outage, Outages

START = """\
name: site
system:
  groups:
    - {name: thin, count: 2, resources: {core: 4}}
    - {name: fat, count: 1, resources: {core: 8}}
trace: {source: lublin99, jobs: 5}
dispatcher: easy
outages:
"""


def write(folder: Path, outages: str, start: str = START) -> Path:
    """Write a scenario with outages, the first of which is in line 9."""
    path = folder / "site.yaml"
    path.write_text(start + outages)
    return path


def built(scenario: Scenario) -> Outages:
    """Return the outages of a scenario, with the same seed for all models."""
    assert scenario.outages is not None
    return scenario.outages.build(scenario.system.build(), lambda _: 0)


def test_what_is_declared_is_made(tmp_path: Path) -> None:
    """Windows take place as often as they are said to, on the nodes that are named, or on all."""
    text = """\
  maintenance:
    - {name: monday, start: 4d, duration: 4h, every: 7d, times: 2}
    - {start: 10, duration: 10, groups: [thin], nodes: [fat-0]}
  reservations:
    - {name: course, start: 1h, duration: 30min, nodes: [thin-1]}
  failure_log: failures.csv
  requeue: false
"""
    (tmp_path / "failures.csv").write_text("node,from,until\nfat-0,3,4\n")
    path = write(tmp_path, text)
    day, everywhere = 86_400, (0, 1, 2)
    expected = Outages(
        (
            Outage(3, 4, (2,), "failure"),
            Outage(10, 20, everywhere, "maintenance"),
            Outage(3600, 5400, (1,), "reservation", "course"),
            Outage(4 * day, 4 * day + 14_400, everywhere, "maintenance", "monday"),
            Outage(11 * day, 11 * day + 14_400, everywhere, "maintenance", "monday"),
        ),
        requeue=False,
    )
    assert built(load_scenario(path)) == expected
    again = tmp_path / "again.yaml"
    again.write_text(resolved_yaml(load_scenario(path)))
    assert built(load_scenario(again)) == expected


def test_models_differ_by_their_place(tmp_path: Path) -> None:
    """Two equal models draw other failures; each its own, whatever else is declared."""
    model = "{groups: [fat], mean_up_time: 1h, mean_repair_time: 1min, end: 1d}"
    scenario = load_scenario(write(tmp_path, f"  failures: [{model}, {model}]\n"))
    assert scenario.outages is not None
    asked = []

    def seed(name: str) -> int:
        asked.append(name)
        return len(asked)

    found = scenario.outages.build(scenario.system.build(), seed).all
    assert asked == ["failures[0]", "failures[1]"]
    assert {outage.nodes for outage in found} == {(2,)}
    assert len({outage.start for outage in found}) > 24


@pytest.mark.parametrize(
    ("text", "place", "rule", "message"),
    [
        ("  maintenance: [{duration: 5}]\n", (9, 17), "missing-key", "the key 'start' is missing"),
        (
            "  reservations: [{start: 5}]\n",
            (9, 18),
            "missing-key",
            "the key 'duration' is missing",
        ),
        (
            "  maintenance: [{start: 5, duration: 4, every: 7d}]\n",
            (9, 17),
            "bad-value",
            "expected 'every' and 'times' together",
        ),
        (
            "  maintenance: [{start: 5, duration: 4, every: 3, times: 2}]\n",
            (9, 17),
            "bad-value",
            "at least as long as it takes, 4 s, found 3",
        ),
        (
            "  maintenance: [{start: 5, duration: 4, groups: [thick]}]\n",
            (9, 50),
            "unknown-group",
            "there is no node group 'thick'; there are: thin, fat",
        ),
        (
            "  failures: [{end: 9, mean_up_time: 1, mean_repair_time: 1, nodes: [thin-2]}]\n",
            (9, 69),
            "unknown-node",
            "there is no node 'thin-2'; the first is thin-0, the last fat-0",
        ),
        (
            "  failures: [{mean_up_time: 1, mean_repair_time: 1}]\n",
            (9, 14),
            "missing-key",
            "the key 'end' is missing",
        ),
        (
            "  failures: [{end: 9, start: 9, mean_up_time: 1, mean_repair_time: 1}]\n",
            (9, 14),
            "bad-value",
            "expected an end after the start, 9, found 9",
        ),
        (
            "  failures: [{end: 9, mean_up_time: 1, mean_repair_time: 1, shape: 0}]\n",
            (9, 68),
            "bad-value",
            "0",
        ),
    ],
)
def test_faults_have_a_place(
    text: str, place: tuple[int, int], rule: str, message: str, tmp_path: Path
) -> None:
    """Each fault is told once, where it is."""
    with pytest.raises(InputError) as caught:
        load_scenario(write(tmp_path, text))
    finding: Finding
    (finding,) = caught.value.findings
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == place
    assert finding.rule == rule
    assert message in finding.message


def test_not_offline(tmp_path: Path) -> None:
    """A whole trace is planned for a system that is in service all the time."""
    start = START.replace("easy", "order-search\npredictor: actual\nsimulation: {mode: offline}")
    with pytest.raises(InputError, match="expected no outages"):
        load_scenario(write(tmp_path, "  requeue: true\n", start))
