"""Both loops keep to pools: jobs start at the same times, and the same ones are refused."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import parts
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import requesting, settings
from tests.dispatching.core.test_further_rules import RULES, rules
from tests.pool_workloads import pool_workloads
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Workload, tries


@rules
@tries(250)
@given(workload=pool_workloads(max_jobs=12), chosen=settings, data=st.data())
def test_all_rules(
    rule: str, workload: Workload, chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Pools whose capacities may change, once or again and again, with outages or without.

    What jobs draw follows from what they ask for, or the trace says it.
    """
    make, jobs = data.draw(RULES[rule]), requesting(workload)
    if data.draw(st.booleans()):
        chosen["outages"] = data.draw(outages(workload.system, 20))
    hears = data.draw(st.booleans())
    told = [
        event_by_event(parts(workload.system, make(), **chosen), jobs, hears=hears),
        in_compiled_code(parts(workload.system, make(), **chosen), jobs, plainly=True, hears=hears),
    ]
    assert told[0] == told[1]
