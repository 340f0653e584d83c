"""Every job that could start does, under every rule, whatever else a site has at the same time."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import DecisionError
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario import load_scenario
from hpcsched.simulation.latency import Latency
from hpcsched.system.outages import NO_OUTAGES
from hpcsched.workload.job import TracedJob
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions
from tests.builders import Told, per_user, replay
from tests.shared_resource_workloads import shared_resource_workloads
from tests.simulation.test_outages_of_all import QUICK, SCENARIO, outages
from tests.strategies import Workload, mixed_workloads, tries

VARIANTS = {
    **{name: name for name in QUICK if name != "reject"},
    "strict": "{name: list, option: strict}",
    "greedy": "{name: list, option: greedy, order: sjf}",
    "depth": "{name: list, option: backfill, depth: 1, order: laf}",
    "reservation": "{name: conservative, compression: reservation}",
    "no-slack": "{name: slack, share: 0, least_slack: 0}",
    "short-queue": "{name: order-search, queue_length: 1}",
}
LATENCIES = (None, None, Latency(Fraction(3, 2)), Latency(Fraction(3), Fraction(1, 2)))
LIMITS = st.sampled_from([None, 1, 2])


class Site(NamedTuple):
    """A workload, its jobs with all that jobs may have, and the other parts of a simulation."""

    workload: Workload
    jobs: tuple[TracedJob, ...]
    parts: dict[str, Any]


@st.composite
def sites(draw: Any) -> Site:
    """Draw a site with any of shared power, outages, limits, dependencies, late decisions."""
    workload = draw(st.one_of(mixed_workloads(), shared_resource_workloads()))
    ids = [item.job.job_id for item in workload.jobs]
    others = st.lists(st.sampled_from(ids), max_size=1)
    if not draw(st.booleans()):
        others = st.just([])
    jobs = tuple(
        item._replace(
            job=item.job._replace(
                after=tuple(draw(others)),
                think_time=draw(st.sampled_from([0, 3])),
                user=draw(st.integers(0, 2)),
            )
        )
        for item in workload.jobs
    )
    limits = Partition("all", limits=per_user(nodes=draw(LIMITS), jobs=draw(LIMITS)))
    parts = {
        "outages": draw(outages(workload.system)) if draw(st.booleans()) else NO_OUTAGES,
        "partitions": Partitions((limits,)) if draw(st.booleans()) else NO_PARTITIONS,
        "latency": draw(st.sampled_from(LATENCIES)),
        "kill_at_requested_time": draw(st.booleans()),
        "dependencies": True,
    }
    return Site(workload, jobs, parts)


@pytest.fixture(name="make", scope="module")
def _make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """Return what makes a dispatcher anew, and whatever follows jobs for it."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "none.swf").write_text("", encoding="utf-8")
    scenarios = {}
    for name, choice in VARIANTS.items():
        path = Path(folder / f"{name}.yaml")
        path.write_text(f"{SCENARIO}dispatcher: {choice}\n", encoding="utf-8")
        scenarios[name] = load_scenario(path)
    return lambda name: assemble(scenarios[name])


def check(make: Callable[[str], Assembly], name: str, site: Site) -> None:
    """Replay a site under a dispatcher: all jobs leave, or wait for shared resources.

    Shared resources can only be to blame where decisions take time, since every other job was found
    to be one that they have enough for when it was submitted.
    """
    assembly = make(name)
    try:
        recorder = replay(
            site.workload.system,
            assembly.dispatcher,
            site.jobs,
            predictor=Told(site.workload.predictions),
            followers=assembly.followers,
            objective=assembly.objective,
            **site.parts,
        )
    except DecisionError as error:
        assert "nothing runs and nothing more is submitted" in str(error)
        assert site.parts["latency"] is not None
        assert site.workload.system.shared_resources
    else:
        assert len(recorder.jobs) == len(site.jobs)


@pytest.mark.parametrize("name", VARIANTS)
@tries(60)
@given(site=sites())
def test_few(make: Callable[[str], Assembly], name: str, site: Site) -> None:
    """A few sites for each rule."""
    check(make, name, site)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@tries(600)
@given(site=sites())
def test_many(make: Callable[[str], Assembly], name: str, site: Site) -> None:
    """Many sites for each rule, as what goes wrong takes several features together."""
    check(make, name, site)
