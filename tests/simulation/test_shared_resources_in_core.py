"""Both loops keep to shared resources: the same start times, and the same refusals."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import DecisionError
from hpcsched.simulation.latency import Latency
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from tests.builders import easy, parts, traced
from tests.shared_resource_workloads import shared_resource_workloads
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_against_events import requesting, settings
from tests.simulation.test_further_rules import RULES, rules
from tests.simulation.test_held_jobs import held_jobs
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Workload, tries

SECONDS = st.sampled_from([Fraction(0), Fraction(1), Fraction(3)])


def test_a_start_that_is_always_too_late() -> None:
    """Of every two seconds the first offers 10 W, and a decision takes one second.

    The job draws 10 W for a second. Each decision to start it, at an even second, is due at an odd
    one, when nothing is offered. Both loops find that it waits for ever.
    """
    offer = SharedResource("power", 0, Draw(per_job=10), (Change(0, 10), Change(1, 0)), 2)
    system = System((NodeGroup("node", 1, {"core": 1}),), {}, (offer,))
    jobs = requesting(Workload(system, (traced(1, 0, 1, 1),), {1: 1}))
    latency = Latency(Fraction(1), Fraction(0))
    with pytest.raises(DecisionError, match="wait"):
        event_by_event(parts(system, easy(), latency=latency), jobs)
    with pytest.raises(DecisionError, match="left waiting"):
        by_the_core(parts(system, easy(), latency=latency), jobs, seconds=0)


@rules
@tries(60)
@given(workload=shared_resource_workloads(max_jobs=8), chosen=settings, data=st.data())
def test_all_rules(
    rule: str, workload: Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Shared resources with capacities that may change, once or periodically, and all else.

    What jobs draw follows from what they ask for, or the trace says it.
    """
    make, jobs = data.draw(RULES[rule]), requesting(workload)
    if data.draw(st.booleans()):
        chosen["outages"] = data.draw(outages(workload.system, 20))
    if data.draw(st.booleans()):
        jobs, held = data.draw(held_jobs(list(jobs), workload.system, aggregated=False))
        chosen |= held
    if data.draw(st.booleans()):
        chosen["latency"] = Latency(data.draw(SECONDS), data.draw(SECONDS))
    hears = data.draw(st.booleans())
    try:
        told = event_by_event(parts(workload.system, make(), **chosen), jobs, hears=hears)
    except DecisionError:
        # What a shared resource offers now and then may be over whenever a decision is due.
        assert "latency" in chosen
        with pytest.raises(DecisionError, match="left waiting"):
            by_the_core(parts(workload.system, make(), **chosen), jobs)
        return
    compiled = parts(workload.system, make(), **chosen)
    assert by_the_core(compiled, jobs, hears=hears) == told
