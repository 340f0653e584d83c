"""The plugins in a scenario."""

import hpcsched_example
from hpcsched.testing import RunScenario, UsePlugins

SCENARIO = """\
name: example
seed: {seed}
system:
  groups:
    - {{name: node, count: 16, resources: {{core: 1}}}}
trace: {{source: swf, path: trace.swf}}
predictor: {{name: user-mean, history: 2}}
dispatcher: {{name: lottery, ticket_every: 1min, allocator: best-fit}}
"""


def test_both_are_registered(use_plugins: UsePlugins) -> None:
    """The names are known, as plugins of this package."""
    registry = use_plugins(hpcsched_example)
    assert registry.get("dispatcher", "lottery").distribution == "hpcsched_example"
    assert registry.get("predictor", "user-mean").distribution == "hpcsched_example"


def test_a_run_and_its_seed(run_scenario: RunScenario) -> None:
    """All jobs complete; a seed gives the same result again, and another seed another one."""
    waits = []
    for seed in (1, 1, 2):
        result = run_scenario(SCENARIO.format(seed=seed), hpcsched_example)
        assert result.summary["jobs"]["completed"] == result.summary["jobs"]["submitted"] > 20
        waits.append(result.summary["metrics"]["mean_wait_time"])
    assert waits[0] == waits[1] != waits[2]
