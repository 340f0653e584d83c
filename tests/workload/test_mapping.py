"""What a requested processor means: units of a whole node's processors, or of what divides them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.testing import audit_replay
from hpcsched.workload.job import Job
from hpcsched.workload.readers.quantities import processors_per_node, whole_nodes
from hpcsched.workload.readers.swf import SwfParams
from tests.builders import alike, easy, lists, replay
from tests.strategies import tries
from tests.workload.readers.swf_files import read, record, source_of, write

GIB = 2**30
FORHLR2 = System(
    (
        NodeGroup("thin", 1152, {"core": 20, "mem": 64 * GIB, "gpu": 0}),
        NodeGroup("fat", 21, {"core": 48, "mem": 1024 * GIB, "gpu": 4}),
    )
)


@pytest.mark.parametrize(
    ("processors", "units", "size"),
    [
        (1, 1, 1), (7, 1, 7), (19, 1, 19), (20, 1, 20), (21, 3, 7), (22, 2, 11), (23, 23, 1),
        (30, 2, 15), (40, 2, 20), (46, 23, 2), (48, 3, 16), (50, 5, 10), (60, 3, 20), (64, 4, 16),
        (97, 97, 1), (1152 * 20, 1152, 20), (23044, 1646, 14), (361, 19, 19),
    ],
)  # fmt: skip
def test_nodes_of_20(processors: int, units: int, size: int) -> None:
    """By hand, on the nodes of KIT ForHLR II."""
    assert whole_nodes(processors, 20) == (units, size)


@tries(300)
@given(processors=st.integers(1, 10**6), per_node=st.integers(1, 300))
def test_units_are_as_large_as_can_be(processors: int, per_node: int) -> None:
    """No processor is lost, units fit on a node, and no larger size would do."""
    units, size = whole_nodes(processors, per_node)
    assert units * size == processors
    assert 1 <= size <= per_node
    assert not any(processors % larger == 0 for larger in range(size + 1, per_node + 1))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"core": 1}, 20),
        ({"core": 1, "mem": 4 * GIB}, 16),
        ({"core": 1, "mem": 3 * GIB}, 20),
        ({"core": 3}, 6),
        ({"mem": 5 * GIB}, 12),
        ({"core": 1, "gpu": 1}, 0),
        ({"core": 21}, 0),
    ],
)
def test_processors_per_node(request_: dict[str, int], expected: int) -> None:
    """A node is one of the group with the most nodes; what runs short on it decides."""
    assert processors_per_node(FORHLR2, FORHLR2.request(request_)) == expected


def test_the_largest_group() -> None:
    """The most nodes count, not the most cores; the first among equals; its place is no matter."""
    a, b, c = (
        NodeGroup(name, count, {"core": cores}) for name, count, cores in
        [("a", 2, 4), ("b", 3, 6), ("c", 3, 64)]
    )  # fmt: skip
    for groups, expected in (((a, b, c), 6), ((a, c, b), 64), ((c, a), 64), ((b, a), 6), ((a,), 4)):
        assert processors_per_node(System(groups), (1,)) == expected


def test_processors_per_node_counts_in_units() -> None:
    """Rounding up to units makes fewer processors fit."""
    system = System((NodeGroup("n", 2, {"core": 20, "mem": 64 * GIB}),), {"mem": 5 * GIB})
    assert processors_per_node(system, system.request({"core": 1, "mem": 3 * GIB})) == 12


# Requested processors and the units and cores of each, on four nodes of 20 cores and 48 GiB where
# each processor asks for 3 GiB: a node holds 16.
PACKED = [(1, 1, 1), (16, 1, 16), (17, 17, 1), (20, 2, 10), (32, 2, 16), (48, 3, 16), (64, 4, 16)]
UNIT: dict[str, Any] = {"core": 1, "mem": "3GiB"}


@pytest.mark.parametrize(("processors", "units", "size"), PACKED)
def test_a_log_with_a_unit(processors: int, units: int, size: int, tmp_path: Path) -> None:
    """What each processor asks for is multiplied with the processors of a unit."""
    _, jobs = read(
        tmp_path, record(1, units=processors),
        system=alike(4, core=20, mem=48 * GIB), mapping="whole_nodes", unit=UNIT,
    )  # fmt: skip
    assert (jobs[0].job.units, jobs[0].job.unit_request) == (units, (size, 3 * size * GIB))


def test_a_log_with_amounts_in_its_records(tmp_path: Path) -> None:
    """With UnitResources each record says how many processors a node holds of its own."""
    _, jobs = read(
        tmp_path,
        "; UnitResources: core mem",
        record(1, units=12, more="1 0"), record(2, units=12, more="2 0"),
        record(3, units=12, more="1 13"), record(4, units=5, more="1 0"),
        record(5, units=3, more="1 -1"),
        system=alike(8, core=8, mem=40), mapping="whole_nodes",
    )  # fmt: skip
    found = [(job.units, job.unit_request) for job, _ in jobs]
    assert found == [(2, (6, 0)), (3, (8, 0)), (4, (3, 39)), (1, (5, 0)), (1, (3, 0))]


def test_a_log_with_memory_in_its_records(tmp_path: Path) -> None:
    """Field 10 is KiB for each processor; where it is not given, the unit holds."""
    with_memory = record(1, units=8).replace(" 100 -1 ", " 100 4 ")
    source, jobs = read(
        tmp_path, with_memory, record(2, units=8),
        system=alike(8, core=8, mem=8192), mapping="whole_nodes", requested_memory="use",
        unit={"core": 1, "mem": 1000},
    )  # fmt: skip
    found = [(job.units, job.unit_request) for job, _ in jobs]
    assert found == [(4, (2, 8192)), (1, (8, 8000))]
    assert source.uniform_request is None


def test_a_processor_that_fits_on_no_node_of_the_largest_group(tmp_path: Path) -> None:
    """Units are of one processor then, and run where they can."""
    system = System((NodeGroup("thin", 3, {"core": 4}), NodeGroup("gpu", 2, {"core": 4, "gpu": 2})))
    source, jobs = read(
        tmp_path, record(1, units=4), record(2, units=5),
        system=system, mapping="whole_nodes", unit={"core": 1, "gpu": 1},
    )  # fmt: skip
    assert [(job.units, job.unit_request) for job, _ in jobs] == [(4, (1, 1))]
    assert source.account.skipped == {"larger_than_system": 1}


def test_units_that_do_not_fit_side_by_side(tmp_path: Path) -> None:
    """What fits is counted in the units of the mapping: 3 of 5 cores need 3 nodes of 8."""
    for mapping, skipped in (("one_each", {}), ("whole_nodes", {"larger_than_system": 1})):
        source, _ = read(tmp_path, record(1, units=15), system=alike(2, core=8), mapping=mapping)
        assert source.account.skipped == skipped


def test_aggregation(tmp_path: Path) -> None:
    """Packed jobs have unlike units, so that there is no request of all; others may have one."""
    path = write(tmp_path, [record(1)])
    assert source_of(path, FORHLR2, mapping="one_each").uniform_request == (1, 0, 0)
    assert source_of(path, FORHLR2, mapping="whole_nodes").uniform_request is None


def test_amounts_beyond_64_bits(tmp_path: Path) -> None:
    """A multiple of a request that fits fits too; one that does not is refused as it is."""
    system = alike(2, core=4, mem=2**53)
    for units in (2**53, 7, 4):
        source, jobs = read(
            tmp_path, record(1, units=units),
            system=system, mapping="whole_nodes", unit={"core": 1, "mem": 2**53},
        )  # fmt: skip
        assert jobs == []
        assert source.account.skipped == {"larger_than_system": 1}


WORKLOAD = [
    record(n, submit=13 * n, run=40 + n * 37 % 400, units=1 + n * 7 % 60, requested=500)
    for n in range(1, 150)
]


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("dispatcher", [easy("best-fit"), lists("sjf")], ids=["easy", "sjf"])
def test_replays_pass_the_audit(dispatcher: Any, header: bool, tmp_path: Path) -> None:
    """Whole nodes are never overcommitted, and every job runs, by a unit and by the log's own."""
    system = alike(4, core=20, mem=48 * GIB)
    if header:
        lines = ["; UnitResources: mem core", *(f"{line} {3 * GIB} 1" for line in WORKLOAD)]
        _, jobs = read(tmp_path, *lines, system=system, mapping="whole_nodes")
    else:
        _, jobs = read(tmp_path, *WORKLOAD, system=system, mapping="whole_nodes", unit=UNIT)
    assert len(jobs) > 100
    assert {job.unit_request for job, _ in jobs} > {(16, 48 * GIB), (15, 45 * GIB), (1, 3 * GIB)}
    recorder = replay(system, dispatcher, jobs)
    audit_replay(list(recorder.jobs.values()), jobs, system)


def test_the_header_and_the_unit_say_the_same(tmp_path: Path) -> None:
    """Amounts in the records and in the scenario give the same jobs."""
    system = alike(4, core=20, mem=48 * GIB)
    _, by_unit = read(tmp_path, *WORKLOAD, system=system, mapping="whole_nodes", unit=UNIT)
    lines = ["; UnitResources: mem core", *(f"{line} {3 * GIB} 1" for line in WORKLOAD)]
    _, by_header = read(tmp_path, *lines, system=system, mapping="whole_nodes")
    assert by_unit == by_header


SCENARIO = """\
name: packed
system: {units: {mem: 1GiB}, groups: [{name: n, count: 4, resources: {core: 20, mem: 48GiB}}]}
trace: {source: swf, path: log.swf, mapping: whole_nodes, unit: {core: 1, mem: 3GiB}}
dispatcher: {name: easy, allocator: best-fit}
"""


@pytest.mark.parametrize("aggregated", ["true", "false"])
def test_a_run_from_end_to_end(aggregated: str, tmp_path: Path) -> None:
    """A run of a scenario with whole nodes is valid, with and without aggregated nodes."""
    write(tmp_path, WORKLOAD)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    scenario = load_scenario(
        tmp_path / "scenario.yaml", [f"simulation.aggregate_nodes={aggregated}"]
    )
    run(scenario, tmp_path / "out")
    assert main(["verify", str(tmp_path / "out")]) == 0


def test_sizes_follow_the_units_of_the_system(tmp_path: Path) -> None:
    """Where 3 GiB count as 4, a node of 48 GiB holds 12 processors, and a unit of 12 fits."""
    system = System((NodeGroup("n", 4, {"core": 20, "mem": 48 * GIB}),), {"mem": 4 * GIB})
    _, jobs = read(
        tmp_path, record(1, units=48), record(2, units=30),
        system=system, mapping="whole_nodes", unit=UNIT,
    )  # fmt: skip
    found = [(job.units, job.unit_request) for job, _ in jobs]
    assert found == [(4, (12, 9)), (3, (10, 8))]


def test_jobs_are_otherwise_the_same(tmp_path: Path) -> None:
    """Only units and what they ask for depend on the mapping."""
    fields = {*Job._fields, *Request._fields} - {"request", "units", "unit_request"}
    _, one = read(tmp_path, *WORKLOAD, system=alike(4, core=20), mapping="one_each")
    _, packed = read(tmp_path, *WORKLOAD, system=alike(4, core=20), mapping="whole_nodes")
    whole = {job.job_id: (job, run_time) for job, run_time in packed}
    assert len(whole) > 100
    for a, run_time in one:
        b, other_run_time = whole.get(a.job_id, (a, run_time))
        assert {getattr(a, f) == getattr(b, f) for f in fields} == {True}
        assert a.units * a.unit_request[0] == b.units * b.unit_request[0]
        assert run_time == other_run_time


def test_as_requested_is_not_for_swf() -> None:
    """The standard's records do not say how many processors there are on a node."""
    with pytest.raises(ValueError, match="mapping"):
        SwfParams(path="log.swf", mapping="as_requested")


def test_lost_to_units(tmp_path: Path) -> None:
    """A processor that only counting in units keeps off every node is an error at its line."""
    system = System((NodeGroup("n", 2, {"core": 4, "mem": 7}),), {"mem": 4})
    path = write(tmp_path, ["; Note: x", record(1)])
    for mapping in ("one_each", "whole_nodes"):
        source = source_of(path, system, mapping=mapping, unit={"core": 1, "mem": 5})
        with pytest.raises(InputError) as caught:
            list(source.jobs())
        (finding,) = caught.value.findings
        assert str(finding).startswith(f"{path}:2: error: ")
        assert finding.rule == "lost-to-units"
