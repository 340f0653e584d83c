"""Counting in units: capacities down, requests up, and what is lost on the way."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.cli import main
from hpcsched.errors import Finding, InputError
from hpcsched.scenario import load_scenario, resolved_yaml
from hpcsched.system.space import room_for, units_on_idle
from hpcsched.system.system import NodeGroup, Request, System
from tests.builders import easy, replay, traced
from tests.strategies import tries

GROUPS = (
    NodeGroup("a", 2, {"core": 8, "mem": 30}),
    NodeGroup("b", 1, {"core": 16, "mem": 21, "gpu": 2}),
)


def test_by_hand() -> None:
    """Capacities are rounded down to whole units and requests up to them, type by type."""
    system = System(GROUPS, {"mem": 8})
    assert system.resource_types == ("core", "mem", "gpu")
    assert system.capacity.tolist() == [[8, 3, 0], [8, 3, 0], [16, 2, 2]]
    assert system.totals == (32, 8, 2)
    assert system.request({"mem": 1}) == (0, 1, 0)
    assert system.request({"core": 3, "mem": 8}) == (3, 1, 0)
    assert system.request({"core": 3, "mem": 9, "gpu": 1}) == (3, 2, 1)
    assert system.request({}) == (0, 0, 0)
    assert system.declared((3, 2, 1)) == {"core": 3, "mem": 16, "gpu": 1}
    with pytest.raises(KeyError, match="disk"):
        system.request({"disk": 1})


def test_without_units() -> None:
    """Amounts are those that are declared."""
    system = System(GROUPS)
    assert system.totals == (32, 81, 2)
    assert system.request({"mem": 29}) == (0, 29, 0)
    assert system.declared((1, 29, 0)) == {"core": 1, "mem": 29, "gpu": 0}
    assert not system.loses({"mem": 30})
    assert System(GROUPS, {"mem": 1, "core": 1}).totals == system.totals


@pytest.mark.parametrize(
    ("amounts", "lost"),
    [
        ({"mem": 24}, False),
        ({"mem": 25}, True),
        ({"mem": 30}, True),
        ({"mem": 31}, False),  # no node could hold it
        ({"mem": 16, "gpu": 1}, False),
        ({"mem": 17, "gpu": 1}, True),  # others can hold the memory, but have no gpu
        ({"mem": 22, "gpu": 1}, False),
        ({"core": 16, "mem": 20}, True),
        ({"core": 17, "mem": 20}, False),
        ({"core": 8}, False),
        ({}, False),
        ({"mem": 10**30}, False),
    ],
)
def test_what_is_lost(amounts: dict[str, int], lost: bool) -> None:
    """A request is lost where a node could hold it and none can."""
    assert System(GROUPS, {"mem": 8}).loses(amounts) is lost


@pytest.mark.parametrize(
    ("allowed", "lost"),
    [({0}, False), ({2}, True), ({0, 2}, False), ({1, 2}, False), (set(), False), (None, False)],
)
def test_what_is_lost_on_some_nodes(allowed: set[int] | None, lost: bool) -> None:
    """Only the nodes on which a job may run count: 20 is two and a half units, and b has two."""
    system = System(GROUPS, {"mem": 8})
    nodes = None if allowed is None else frozenset(allowed)
    assert system.loses({"mem": 20}, nodes) is lost


AMOUNTS = st.integers(0, 40)
TYPES = ("core", "mem", "gpu")


@st.composite
def counted_systems(draw: st.DrawFn) -> System:
    """Draw a system with units, of which a node may have less than one."""
    types = TYPES[: draw(st.integers(1, 3))]
    groups = draw(
        st.lists(
            st.tuples(st.integers(1, 3), st.dictionaries(st.sampled_from(types), AMOUNTS)),
            min_size=1,
            max_size=3,
        ).filter(lambda found: any(resources for _, resources in found))
    )
    named = tuple(NodeGroup(f"g{n}", count, have) for n, (count, have) in enumerate(groups))
    return System(named, draw(st.dictionaries(st.sampled_from(types), st.integers(1, 12))))


def amounts_of(system: System) -> st.SearchStrategy[dict[str, int]]:
    """Return a strategy for amounts of the system's resource types, at least one above 0."""
    return st.dictionaries(st.sampled_from(system.resource_types), AMOUNTS).filter(
        lambda amounts: any(amounts.values())
    )


def holds(amounts: Mapping[str, int], offered: Mapping[str, int]) -> bool:
    """Say whether a node that offers so much holds the amounts."""
    return all(amount <= offered.get(name, 0) for name, amount in amounts.items())


@tries(120)
@given(data=st.data())
def test_what_fits_in_units_fits_without(data: st.DataObject) -> None:
    """Node by node, units never make more room than there is."""
    system = data.draw(counted_systems())
    amounts = data.draw(amounts_of(system))
    plain = System(system.groups)
    counted = units_on_idle(system, Request(1, system.request(amounts)))
    declared = units_on_idle(plain, Request(1, plain.request(amounts)))
    assert (counted <= declared).all()
    assert room_for(system, system.request(amounts)) == counted.sum()


@tries(120)
@given(data=st.data())
def test_rounding(data: st.DataObject) -> None:
    """A request is rounded up by less than a unit, a capacity down by less than one."""
    system = data.draw(counted_systems())
    amounts = data.draw(amounts_of(system))
    request = system.request(amounts)
    declared = system.declared(request)
    for name, amount in declared.items():
        assert 0 <= amount - amounts.get(name, 0) < system.units.get(name, 1)
    assert system.request(declared) == request
    for group in system.groups:
        node = sum(g.count for g in system.groups[: system.groups.index(group)])
        offered = system.declared(system.capacity[node].tolist())
        for name, amount in offered.items():
            assert 0 <= group.resources.get(name, 0) - amount < system.units.get(name, 1)
    assert np.array_equal(system.capacity.sum(axis=0), system.totals)


@tries(150)
@given(data=st.data())
def test_loses_is_exact(data: st.DataObject) -> None:
    """A request is lost exactly if some kind of node holds it and none its rounded form."""
    system = data.draw(counted_systems())
    amounts = data.draw(amounts_of(system))
    units = system.units
    rounded = {name: -(-amount // units.get(name, 1)) for name, amount in amounts.items()}

    def lost(groups: list[NodeGroup]) -> bool:
        counted = [{n: a // units.get(n, 1) for n, a in g.resources.items()} for g in groups]
        could = any(holds(amounts, group.resources) for group in groups)
        return could and not any(holds(rounded, offered) for offered in counted)

    assert system.loses(amounts) is lost(list(system.groups))
    allowed = data.draw(st.sets(st.integers(0, system.node_count - 1)))
    on_them = [system.groups[system.group_of[node]] for node in sorted(allowed)]
    assert system.loses(amounts, frozenset(allowed)) is lost(on_them)


@tries(100)
@given(data=st.data())
def test_a_unit_that_divides_all_loses_nothing(data: st.DataObject) -> None:
    """Where capacities are whole units, whatever fits without units fits with them."""
    unit = data.draw(st.integers(1, 9))
    memories = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    groups = tuple(NodeGroup(f"g{n}", 1, {"mem": unit * m}) for n, m in enumerate(memories))
    system = System(groups, {"mem": unit})
    for amount in range(1, max(memories) * unit + 2):
        assert not system.loses({"mem": amount})


def test_replays_know_only_units() -> None:
    """Two requests of 15 are two units of 8 each, of which a node of 30 has three."""
    for units, starts in (
        ({}, {1: 0, 2: 0}),
        ({"mem": 5}, {1: 0, 2: 0}),
        ({"mem": 8}, {1: 0, 2: 9}),
    ):
        system = System((NodeGroup("n", 1, {"mem": 30}),), units)
        jobs = [traced(n, 0, 1, 9, system.request({"mem": 15})) for n in (1, 2)]
        assert replay(system, easy(), jobs).start_times == starts


SCENARIO = """\
name: counted
system:
  units: {core: 2, mem: UNIT}
  groups:
    - {name: a, count: 2, resources: {core: 8, mem: 4GiB}}
    - {name: b, count: 1, resources: {core: 4, mem: 1GiB}}
    - {name: c, count: 1, resources: {core: 4, mem: 0}}
trace: {source: swf, path: log.swf, unit: {mem: 900MiB}}
dispatcher: easy
"""


def scenario_with(folder: Path, unit: str, name: str = "mem") -> Path:
    """Write a scenario with a unit, of memory if nothing else is said."""
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.replace("mem: UNIT", f"{name}: {unit}"))
    return path


# The unit and what it is of; rule and message of the finding.
REFUSED = {
    "an unknown type": ("1", "gpu", "unknown-resource-type", "no node group has gpu; there are"),
    "larger than a node's": ("2GiB", "mem", "bad-value", "a node of b has less than one unit of"),
    "larger than every node's": ("1TiB", "mem", "bad-value", "a node of a has less than one unit"),
    "zero": ("0", "mem", "bad-value", "expected a value of at least 1, found 0"),
    "zero bytes": ("0GiB", "mem", "bad-value", "at least 1"),
    "negative": ("-1", "mem", "bad-value", "expected a value of at least 1, found -1"),
    "a fraction": ("1.5", "mem", "bad-value", "expected a whole number, found 1.5"),
    "text": ("many", "mem", "bad-value", "expected an amount such as 4, 512MB or 16GiB"),
    "too large": (str(2**53 + 1), "mem", "bad-value", "expected a value of at most 9007199"),
    "nothing": ("null", "mem", "bad-value", "expected a whole number, found nothing"),
}


def findings_of(path: Path) -> list[Finding]:
    """Return what is wrong with a scenario."""
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return list(caught.value.findings)


@pytest.mark.parametrize("kind", REFUSED)
def test_units_that_are_refused(kind: str, tmp_path: Path) -> None:
    """A unit is refused at its line and column."""
    unit, name, rule, message = REFUSED[kind]
    path = scenario_with(tmp_path, unit, name)
    (finding,) = findings_of(path)
    assert str(finding.place) == f"{path}:3:25"
    assert (finding.rule, finding.key) == (rule, f"system.units.{name}")
    assert message in finding.message


def test_a_name_that_is_no_resource_type(tmp_path: Path) -> None:
    """The key is named."""
    (finding,) = findings_of(scenario_with(tmp_path, "1", "Mem"))
    assert finding.key == "system.units.Mem"
    assert "expected a resource type such as core" in finding.message


def test_units_that_are_no_mapping(tmp_path: Path) -> None:
    """A number for all types is refused."""
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("{core: 2, mem: UNIT}", "4"))
    (finding,) = findings_of(path)
    assert str(finding.place) == f"{path}:3:10"


def test_units_of_a_scenario(tmp_path: Path) -> None:
    """Units are amounts, with or without a unit of bytes; nodes without the type are fine."""
    for unit in ("1GiB", str(2**30)):
        scenario = load_scenario(scenario_with(tmp_path, unit))
        system = scenario.system.build()
        assert system.capacity.tolist() == [[4, 4], [4, 4], [2, 1], [2, 0]]
        again = tmp_path / "again.yaml"
        again.write_text(resolved_yaml(scenario))
        assert load_scenario(again) == scenario


def test_a_request_that_is_lost_ends_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one message names the line of the trace; with smaller units the run ends well."""
    trace = tmp_path / "log.swf"
    line = "1 0 -1 60 2 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1"
    trace.write_text(f"; Note: 4000 MiB of 4 GiB\n\n{line}\n")
    text = SCENARIO.replace("900MiB", "4000MiB")
    for unit, code in (("700MiB", 1), ("100MiB", 0)):
        path = tmp_path / "scenario.yaml"
        path.write_text(text.replace("UNIT", unit))
        assert main(["run", str(path), "--out", str(tmp_path / f"out-{code}")]) == code
        said = capsys.readouterr().err.splitlines()
        if code:
            assert len(said) == 1
            assert said[0].startswith(f"{trace}:3: error: a node could hold what a unit asks for")
            assert said[0].endswith("[lost-to-units]")
        else:
            assert said == []


def test_a_request_that_no_node_could_hold_is_not_lost(tmp_path: Path) -> None:
    """It is larger than the system, units or not."""
    trace = tmp_path / "log.swf"
    trace.write_text("1 0 -1 60 2 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n")
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("900MiB", "4097MiB").replace("UNIT", "700MiB"))
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 0
