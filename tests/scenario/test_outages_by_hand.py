"""The block `outages` by itself: the outages that follow from it, by hand."""

from pathlib import Path

import pytest

from hpcsched.scenario.outage_declarations import (
    NodeChoice,
    OutagesDeclaration,
    WindowDeclaration,
    unknown_nodes,
)
from hpcsched.system.outages import Outage
from hpcsched.system.system import NodeGroup, System
from tests.scenario.samples import faults

SYSTEM = System((NodeGroup("c", 3, {"core": 4}), NodeGroup("g", 2, {"core": 4})))
"""Nodes 0 to 2 are c-0 to c-2, nodes 3 and 4 are g-0 and g-1."""


def declared(**blocks: object) -> OutagesDeclaration:
    """Return the block."""
    return OutagesDeclaration.model_validate(blocks)


def test_nodes() -> None:
    """All by default; groups and single nodes are put together."""
    assert NodeChoice().numbers(SYSTEM) == (0, 1, 2, 3, 4)
    assert NodeChoice(groups=("g",), nodes=("c-1",)).numbers(SYSTEM) == (1, 3, 4)


def test_a_window_that_is_repeated() -> None:
    """From 10 to 30, and again every 100 s: three times."""
    window = {
        "start": 10,
        "duration": 20,
        "every": 100,
        "times": 3,
        "nodes": ["c-0"],
        "name": "tea",
    }
    outages = declared(maintenance=[window]).build(SYSTEM, lambda _: 0)
    assert outages.all == tuple(
        Outage(start, start + 20, (0,), "maintenance", "tea") for start in (10, 110, 210)
    )
    assert outages.requeue


def test_kinds_are_put_in_order_of_time(tmp_path: Path) -> None:
    """A reservation before a maintenance, and a failure of a log between them."""
    log = tmp_path / "failures.csv"
    log.write_text("node,from,until\ng-1,20,25\n", encoding="utf-8")
    block = declared(
        maintenance=[{"start": 30, "duration": 5, "groups": ["g"]}],
        reservations=[{"start": 10, "duration": "1min", "groups": ["c"]}],
        failure_log=str(log),
        requeue=False,
    )
    outages = block.build(SYSTEM, lambda _: 0)
    assert [(one.start, one.end, one.nodes, one.kind) for one in outages.all] == [
        (10, 70, (0, 1, 2), "reservation"),
        (20, 25, (4,), "failure"),
        (30, 35, (3, 4), "maintenance"),
    ]
    assert not outages.requeue


def test_each_model_of_failures_has_a_seed_of_its_own() -> None:
    """Another model behind the first leaves its failures as they are."""
    model = {"mean_up_time": 100, "mean_repair_time": 10, "end": 1000, "nodes": ["c-0"]}
    asked: list[str] = []

    def seed(place: str) -> int:
        asked.append(place)
        return len(place) if place.endswith("[0]") else 99

    one = declared(failures=[model]).build(SYSTEM, seed).all
    other = declared(failures=[model, {**model, "nodes": ["c-1"]}]).build(SYSTEM, seed).all
    assert asked == ["failures[0]", "failures[0]", "failures[1]"]
    assert len(one) > 1
    assert tuple(outage for outage in other if outage.nodes == (0,)) == one


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"start": 5, "duration": 4, "every": 9},
         "expected 'every' and 'times' together, or neither; found 'every'"),
        ({"start": 5, "duration": 4, "every": 3, "times": 2},
         "expected 'every' to be at least as long as it takes, 4 s, found 3"),
    ],
)  # fmt: skip
def test_windows_that_are_refused(window: dict[str, int], message: str) -> None:
    """Times that contradict each other, or say too little."""
    assert faults(WindowDeclaration, window) == [("bad-value", "", message)]


def test_nodes_that_there_are_not() -> None:
    """A group and a node, each with the place where it is named."""
    block = declared(
        maintenance=[{"start": 0, "duration": 1, "groups": ["c", "x"]}],
        failures=[{"mean_up_time": 1, "mean_repair_time": 1, "end": 9, "nodes": ["g-2"]}],
    )
    names = ["c-0", "c-1", "c-2", "g-0", "g-1"]
    assert [
        (one["loc"], one["type"].message())
        for one in unknown_nodes(block, ["c", "g"], lambda: names)
    ] == [
        (("outages", "maintenance", 0, "groups", 1),
         "there is no node group 'x'; there are: c, g"),
        (("outages", "failures", 0, "nodes", 0),
         "there is no node 'g-2'; the first is c-0, the last g-1"),
    ]  # fmt: skip
