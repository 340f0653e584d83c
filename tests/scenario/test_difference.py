"""Differences in meaning, whatever the spelling."""

from pathlib import Path

import pytest

from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import differences
from tests.fake_plugins import fake_registry
from tests.scenario.samples import GOOD, write

OTHER_WORDS = """\
dispatcher: {depth: 3, order: {name: fcfs}, name: list, option: strict}
description: the same again
trace: {length: 1800, source: synthetic}
system: {groups: [{resources: {mem: 17179869184, core: 8}, count: 4, name: node}]}
seed: 1
name: small
"""


def lines(folder: Path, other: str, text: str = GOOD) -> list[str]:
    """Return the differences between two scenarios as text."""
    registry = fake_registry()
    first = load_scenario(write(folder, text, "a.yaml"), (), registry)
    second = load_scenario(write(folder, other, "b.yaml"), (), registry)
    return [str(change) for change in differences(first, second)]


def test_spelling_is_no_difference(tmp_path: Path) -> None:
    """Order of keys, units, defaults and the description do not count."""
    assert lines(tmp_path, OTHER_WORDS) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("depth: 3", "depth: 4", ["dispatcher.depth: 3 -> 4"]),
        ("  depth: 3\n", "", ["dispatcher.depth: 3 -> null"]),
        ("length: 30min", "length: 1h", ["trace.length: 1800 -> 3600"]),
        (
            "  name: list\n  order: fcfs\n  depth: 3",
            "  name: easy",
            [
                "dispatcher.name: list -> easy",
                "dispatcher.order: {name: fcfs} -> (absent)",
                "dispatcher.allocator: {name: first-fit} -> (absent)",
                "dispatcher.option: strict -> (absent)",
                "dispatcher.depth: 3 -> (absent)",
                "dispatcher.seconds: null -> (absent)",
            ],
        ),
        (
            "seed: 1",
            "observers: [progress]",
            ["seed: 1 -> 0", "observers: [] -> [{name: progress}]"],
        ),
        (
            "seed: 1",
            "seed: 1\nmetrics: {percentiles: [1]}\nsimulation: {aggregate_nodes: false}",
            [
                "simulation.aggregate_nodes: true -> false",
                "metrics.percentiles: [50, 90, 99] -> [1]",
            ],
        ),
    ],
)
def test_what_differs_is_listed(old: str, new: str, expected: list[str], tmp_path: Path) -> None:
    """Each key whose value differs is one line."""
    assert lines(tmp_path, GOOD.replace(old, new)) == expected


def test_groups_are_matched_by_name(tmp_path: Path) -> None:
    """A group put in front does not make all others differ."""
    front = "  groups:\n    - {name: a, count: 1, resources: {core: 1}}\n"
    other = GOOD.replace("  groups:\n", front)
    assert lines(tmp_path, other) == [
        "system.groups.a: (absent) -> {count: 1, resources: {core: 1}}"
    ]


def test_the_order_of_groups_counts(tmp_path: Path) -> None:
    """Nodes are numbered by the order of groups, which can change where jobs go."""
    groups = ["    - {name: a, count: 1, resources: {core: 1}}\n"]
    groups.append("    - {name: b, count: 1, resources: {core: 1}}\n")
    head, tail = GOOD.split("    - name: node")[0], "trace:" + GOOD.split("trace:")[1]
    one, two = (head + "".join(order) + tail for order in (groups, groups[::-1]))
    assert lines(tmp_path, two, one) == ["system.groups (order): [a, b] -> [b, a]"]


def test_items_of_a_list_are_matched_by_position(tmp_path: Path) -> None:
    """Blocks in a list are compared one by one."""

    def with_members(*members: str) -> str:
        old = "name: list\n  order: fcfs\n  depth: 3"
        return GOOD.replace(old, f"name: best-of\n  members: [{', '.join(members)}]")

    first = with_members("{weight: 1}", "{weight: 2}")
    second = with_members("{weight: 1}", "{weight: 3}", "{use: easy}")
    assert lines(tmp_path, second, first) == [
        "dispatcher.members[1].weight: 2.0 -> 3.0",
        "dispatcher.members[2]: (absent) -> {weight: 1.0, use: {name: easy}}",
    ]
