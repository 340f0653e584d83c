"""`slurm-backfill` starts the jobs that a naive reference starts, at the same times and places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from tests import builders
from tests.builders import slurm_backfill_rule
from tests.properties.reference_cases import FEATURES, Case, cases
from tests.reference.rules import Rule
from tests.reference.slurm import SlurmReplay
from tests.simulation.replays import event_by_event
from tests.strategies import tries

rules = st.builds(
    Rule,
    st.just("slurm"),
    st.sampled_from(sorted(builders.ORDERS)),
    allocator=st.sampled_from(["first-fit", "best-fit"]),
)
parameters = st.builds(
    SlurmBackfillParams,
    default_queue_depth=st.sampled_from([0, 1, 2, 100]),
    bf_interval=st.sampled_from([1, 2, 5, 30]),
    bf_max_job_test=st.sampled_from([1, 2, 3, 500]),
    bf_max_job_user=st.sampled_from([0, 1, 2]),
    bf_window=st.sampled_from([1, 3, 10, 86_400]),
    bf_resolution=st.sampled_from([1, 2, 5]),
)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("alike", [True, False])
@tries(120)
@given(data=st.data())
def test_starts(alike: bool, feature: str, data: st.DataObject) -> None:
    """With outages, with jobs that are held back, and with decisions that take time too."""
    case: Case = data.draw(cases(rules, alike=alike, feature=feature))
    params = data.draw(parameters)
    expected = SlurmReplay(case.system, case.rule, case.around, params)
    expected.run(case.jobs)
    order, allocator = builders.ORDERS[case.rule.order], builders.ALLOCATORS[case.rule.allocator]
    dispatcher = slurm_backfill_rule(order, allocator, params)
    told = event_by_event(builders.parts(case.system, dispatcher, **case.settings), case.jobs)
    found = {
        number: (start, dict(zip(nodes, units, strict=True)))
        for number, start, _, _, nodes, units, *_ in told.jobs
        if nodes
    }
    assert found == expected.found
    assert [counts[1:7] for counts in told.rounds] == expected.rounds
