"""Every dispatcher keeps to shared resources whose capacities change, and loses no job."""

import pytest
from hypothesis import given, settings

from hpcsched.plugins.manager import registry
from hpcsched.registration import FOLLOWS_RECORD
from hpcsched.runs.assembly import Assembly
from hpcsched.scenario import load_scenario
from tests.shared_resource_workloads import audited, shared_resource_workloads
from tests.strategies import tries

SCENARIO = """\
name: shared-resources
system:
  groups: [{name: node, count: 2, resources: {core: 4, mem: 4, gpu: 4}}]
trace: {source: lublin99, jobs: 1}
dispatcher: {name: %s%s}
objective: af
"""
SOLVERS = ("best-of", "cp", "hcp19", "joint-now", "pcp19", "pcp20", "pcp21", "pcp4")
NAMES = [
    installed.plugin.name
    for installed in registry().of_kind("dispatcher")
    if installed.distribution == "hpcsched"
    and installed.plugin.name != "reject"
    and FOLLOWS_RECORD
    not in installed.plugin.capabilities  # which does not go with shared resources
]
RULES = [name for name in NAMES if name not in SOLVERS]


def test_all_dispatchers_are_tried():
    """A new one is among those that follow rules, where it is not said to ask a solver."""
    assert set(SOLVERS) <= set(NAMES)
    assert "order-search" in RULES


@pytest.fixture(scope="module")
def dispatchers(tmp_path_factory):
    """Return what gives a dispatcher by name, on any system; those that solvers need stay open."""
    folder = tmp_path_factory.mktemp("shared_resources")

    assemblies = {}

    def of(name, workload):
        if name not in assemblies:
            path = folder / f"{name}.yaml"
            # In this process, as a process for each solver would take longer than to solve.
            guard = ", guard: null" if name in SOLVERS else ""
            path.write_text(SCENARIO % (name, guard))
            assemblies[name] = Assembly(load_scenario(path), registry(), folder)
        assembly = assemblies[name]
        assembly.system = workload.system
        return assembly.make("dispatcher", assembly.scenario.dispatcher)

    return of


@pytest.mark.parametrize("name", RULES)
@tries(40)
@given(workload=shared_resource_workloads())
def test_rules(name, dispatchers, workload):
    """No start overdraws a shared resource, and every job is there in the end."""
    audited(dispatchers(name, workload), workload)


@pytest.mark.parametrize("name", SOLVERS)
@settings(tries(3), derandomize=True)
@given(workload=shared_resource_workloads(max_jobs=4))
def test_solvers(name, dispatchers, workload):
    """The same for those that ask a solver, none of whose answers is wrong."""
    recorder = audited(dispatchers(name, workload), workload)
    calls = [record.solver for record in recorder.rounds if record.solver is not None]
    assert {call.status for call in calls} <= {"optimal", "feasible", "unknown"}
