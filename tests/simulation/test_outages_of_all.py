"""Every registered dispatcher keeps clear of outages, and no job is lost."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.plugins.manager import build_registry
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario import load_scenario
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import Interruption
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import System
from hpcsched.testing import audit_replay
from tests.builders import Told, replay
from tests.strategies import Workload, mixed_workloads, tries

SCENARIO = """
name: any
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: none.swf}
"""
SOLVING = {"best-of", "cp", "hcp19", "joint-now", "pcp19", "pcp20", "pcp21", "pcp4"}
NAMES = [
    installed.plugin.name
    for installed in build_registry(external=False).of_kind("dispatcher")
    if FOLLOWS_RECORD not in installed.plugin.capabilities  # which does not go with outages
]
QUICK = [name for name in NAMES if name not in SOLVING]


class Lost(Observer):
    """Keeps the attempts that were lost."""

    def __init__(self) -> None:
        self.all: list[Interruption] = []

    def job_interrupted(self, interruption: Interruption) -> None:
        """Keep it."""
        self.all.append(interruption)

    def reasons_given(self, *_: object) -> None:
        """Have reasons asked for, so that they are checked."""


@st.composite
def outages(draw: Any, system: System, latest: int = 40) -> Outages:
    """Draw outages of some nodes each, which may overlap, within the time of a small workload."""
    nodes = st.sets(st.integers(0, system.node_count - 1), min_size=1)
    one = st.tuples(
        st.integers(0, latest),
        st.integers(1, 9),
        nodes,
        st.sampled_from(["maintenance", "reservation", "failure", "failure"]),
    )
    drawn = draw(st.lists(one, min_size=1, max_size=6))
    found = [Outage(start, start + length, tuple(sorted(of)), kind, "x")
             for start, length, of, kind in drawn]  # fmt: skip
    return Outages(tuple(sorted(found)), draw(st.sampled_from([True, True, False])))


@pytest.fixture(name="make", scope="module")
def _make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """Return what makes a dispatcher with its defaults, and whatever follows jobs for it."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "none.swf").write_text("", encoding="utf-8")

    def make(name: str) -> Assembly:
        path = Path(folder / f"{name}.yaml")
        path.write_text(f"{SCENARIO}dispatcher: {name}\n", encoding="utf-8")
        return assemble(load_scenario(path))

    return make


def check(make: Callable[[str], Assembly], name: str, data: Any, workload: Workload) -> None:
    """Replay a workload under a dispatcher with outages and dependencies, and audit the replay."""
    out = data.draw(outages(workload.system))
    latency = data.draw(st.sampled_from([None, None, Latency(base=Fraction(3, 2))]))
    ids = [item.job.job_id for item in workload.jobs]
    jobs = [
        item._replace(
            job=item.job._replace(
                after=tuple(data.draw(st.lists(st.sampled_from(ids), max_size=1))),
                think_time=data.draw(st.sampled_from([0, 3])),
            )
        )
        for item in workload.jobs
    ]
    assembly, lost = make(name), Lost()
    recorder = replay(
        workload.system,
        assembly.dispatcher,
        jobs,
        [lost],
        predictor=Told(workload.predictions),
        followers=assembly.followers,
        objective=assembly.objective,
        latency=latency,
        dependencies=True,
        outages=out,
    )
    records = list(recorder.jobs.values())
    audit_replay(
        records,
        jobs,
        workload.system,
        outages=out,
        interruptions=lost.all,
    )
    states = {record.state for record in records}
    assert states <= {"completed", "rejected", "failed"}
    assert len(records) == len(jobs)
    assert sum(record.requeues for record in records) == sum(at.requeued for at in lost.all)


@pytest.mark.parametrize("name", QUICK)
@tries(25)
@given(data=st.data(), workload=mixed_workloads())
def test_rules(make: Callable[[str], Assembly], name: str, data: Any, workload: Workload) -> None:
    """Dispatchers that ask no solver, with wrong predictions, late decisions and failures."""
    check(make, name, data, workload)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "cp" else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(SOLVING)
    ],
)
@tries(4)
@given(data=st.data(), workload=mixed_workloads(max_jobs=5))
def test_solvers(make: Callable[[str], Assembly], name: str, data: Any, workload: Workload) -> None:
    """The same where a solver is asked; fewer, as each round takes its time."""
    check(make, name, data, workload)
