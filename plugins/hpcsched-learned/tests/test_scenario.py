"""The predictor in a scenario."""

import subprocess
import sys

import pytest

import hpcsched_learned
from hpcsched import InputError
from hpcsched.testing import RunScenario, UsePlugins

SCENARIO = """\
name: learned
seed: 4
system: {groups: [{name: node, count: 16, resources: {core: 1}}]}
trace: {source: swf, path: trace.swf}
dispatcher: easy
correction: doubling
predictor:
  name: learned
  quantile: 0.75
  first_training: 10
  retrain_every: 5
"""


def test_registered(use_plugins: UsePlugins) -> None:
    """The name is known, as a plugin of this package."""
    registry = use_plugins(hpcsched_learned)
    assert registry.get("predictor", "learned").distribution == "hpcsched_learned"


def test_a_run(run_scenario: RunScenario) -> None:
    """All jobs complete, and a second run writes the same bytes."""
    tables = []
    for _ in range(2):
        result = run_scenario(SCENARIO, hpcsched_learned)
        assert result.summary["jobs"]["completed"] == result.summary["jobs"]["submitted"] > 20
        tables.append((result.directory.path / "jobs.parquet").read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("quantile: 0.75", "quantile: 1"),
        ("quantile: 0.75", "quantile: 0.0"),
        ("quantile: 0.75", "quantile: median"),
        ("quantile: 0.75", "window: 9"),
        ("quantile: 0.75", "trees: 0"),
        ("quantile: 0.75", "leaf_size: 2.5"),
        ("quantile: 0.75", "memory: 0"),
        ("retrain_every: 5", "retrain_every: 0"),
        ("quantile: 0.75", "depth: 3"),
    ],
)
def test_bad_parameters(run_scenario: RunScenario, line: str, wrong: str) -> None:
    """What cannot be is refused, with its position."""
    text = SCENARIO.replace(line, wrong)
    row = text[: text.index(wrong)].count("\n") + 1
    key = wrong.partition(":")[0]
    expected = rf"scenario.yaml:{row}:\d+: error: predictor[.:].*{key}"
    with pytest.raises(InputError, match=expected):
        run_scenario(text, hpcsched_learned)


def test_light_until_it_is_chosen() -> None:
    """Listing plugins does not load scikit-learn."""
    code = (
        "import sys, hpcsched_learned; list(hpcsched_learned.hpcsched_predictors());"
        " sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
