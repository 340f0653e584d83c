"""Partitions in a scenario: what they make, and what is refused, with its place."""

from pathlib import Path

import pytest

from hpcsched.errors import Finding, InputError
from hpcsched.scenario import load_scenario
from hpcsched.scenario.system import build_partitions
from hpcsched.workload.site_partitions import Partition
from tests.builders import per_user

START = """\
name: site
system:
  groups:
    - {name: thin, count: 2, resources: {core: 4}}
    - {name: fat, count: 1, resources: {core: 8}}
trace: {source: lublin99, jobs: 5}
dispatcher: easy
partitions:
"""


def write(folder: Path, partitions: str, start: str = START) -> Path:
    """Write a scenario with partitions, the first of which is in line 9."""
    path = folder / "site.yaml"
    path.write_text(start + partitions)
    return path


def findings(path: Path) -> list[Finding]:
    """Return what is wrong with a scenario."""
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return list(caught.value.findings)


def test_what_is_declared_is_made(tmp_path: Path) -> None:
    """Every key reaches the partition; what is not given is no limit."""
    text = """\
  - name: short
    jobs: {partition: [1], queue: [2, 3], group: [4], application: [5]}
    groups: [fat]
    max_time: 1h
    limits: {per_user: {nodes: 8, jobs: 2}}
    priority: 10
  - {name: rest}
"""
    scenario = load_scenario(write(tmp_path, text))
    short, rest = build_partitions(scenario.partitions)
    numbers = {"partition": {1}, "queue": {2, 3}, "group": {4}, "application": {5}}
    limits = per_user(jobs=2, nodes=8)
    assert short == Partition("short", numbers, frozenset({"fat"}), 3600, 10, limits)
    assert rest == Partition("rest")


def test_names_beside_numbers(tmp_path: Path) -> None:
    """Partitions and queues of a trace can be named; a number in quotes is a name."""
    text = '  - {name: a, jobs: {partition: [gpu, 3, "7"], queue: [night]}}\n'
    (found,) = build_partitions(load_scenario(write(tmp_path, text)).partitions)
    assert found.jobs == {"partition": {"gpu", 3, "7"}, "queue": {"night"}}


@pytest.mark.parametrize(
    ("text", "place", "rule", "message"),
    [
        (
            "  - {name: a, groups: [thin, thick]}\n",
            (9, 30),
            "unknown-group",
            "there is no node group 'thick'; there are: thin, fat",
        ),
        (
            "  - {name: a, jobs: {queue: [1]}}\n  - {name: a}\n",
            (10, 12),
            "duplicate-name",
            "two partitions are called 'a'",
        ),
        ("  - {name: a}\n  - {name: b}\n", (10, 5), "bad-value", "b and a both take what no other"),
        ("  - {name: a, groups: []}\n", (9, 23), "bad-value", "a list that is not empty"),
        ("  - {name: a, jobs: {}}\n", (9, 21), "bad-value", "leave out 'jobs'"),
        ("  - {name: a, jobs: {queue: [-1]}}\n", (9, 30), "bad-value", "a value of at least 0"),
        ('  - {name: a, jobs: {queue: [""]}}\n', (9, 30), "bad-value", "a text that is not empty"),
        ("  - {name: a, jobs: {group: [x]}}\n", (9, 30), "bad-value", "expected a whole number"),
        (
            "  - {name: a, limits: {per_user: {jobs: -2}}}\n",
            (9, 41),
            "bad-value",
            "at least 0, found -2",
        ),
        ("  - {name: a, max_time: -1}\n", (9, 25), "bad-value", "a value of at least 1, found -1"),
        ("  - {name: a, priority: -1}\n", (9, 25), "bad-value", "a value of at least 0, found -1"),
        ("  - {name: a, max_nodes: 1}\n", (9, 15), "unknown-key", "there is no key 'max_nodes'"),
        ("  - {priority: 1}\n", (9, 5), "missing-key", "the key 'name' is missing"),
    ],
)
def test_faults_have_a_place(
    text: str, place: tuple[int, int], rule: str, message: str, tmp_path: Path
) -> None:
    """A fault gives one finding, at its line and column."""
    path = write(tmp_path, text)
    (finding,) = findings(path)
    assert (finding.rule, str(finding.place)) == (rule, f"{path}:{place[0]}:{place[1]}")
    assert message in finding.message


def test_two_faults_are_told_at_once(tmp_path: Path) -> None:
    """Every unknown group is told."""
    rules = [f.rule for f in findings(write(tmp_path, "  - {name: a, groups: [x, y]}\n"))]
    assert rules == ["unknown-group", "unknown-group"]


def test_not_off_line(tmp_path: Path) -> None:
    """A whole trace cannot be planned with partitions, and the message says so."""
    start = START.replace("easy", "order-search").replace(
        "dispatcher", "predictor: actual\nsimulation: {mode: offline}\nobjective: af\ndispatcher"
    )
    path = write(tmp_path, "  - {name: a}\n", start)
    (finding,) = findings(path)
    assert (finding.rule, str(finding.place)) == ("not-offline", f"{path}:12:3")
    assert "expected no partitions" in finding.message
    assert load_scenario(write(tmp_path, "  []\n", start)).partitions == ()
