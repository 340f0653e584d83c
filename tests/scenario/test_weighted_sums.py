"""Weighted sums in scenarios: what is wrong with one is told once, at its place."""

from pathlib import Path

import pytest

from hpcsched.dispatching.objectives import (
    AF,
    PSF,
    BoundedSlowdown,
    PlannableWeightedSum,
    WeightedSum,
)
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.scenario.resolved import resolved_yaml
from tests.docs.pages import ROOT

SCENARIO = ROOT / "scenarios" / "small-easy.yaml"
GOOD = """
objective:
  name: weighted_sum
  terms:
    - {objective: af, weight: 2}
    - objective: {name: bounded_slowdown, tau: 30s}
"""


def written(folder: Path, objective: str) -> Path:
    """Write a scenario with this objective, and return its path."""
    text = SCENARIO.read_text().replace("path: traces", f"path: {SCENARIO.parent}/traces")
    lines = [line for line in text.splitlines() if not line.startswith("objective:")]
    path = folder / "scenario.yaml"
    path.write_text("\n".join([*lines, objective.strip(), ""]))
    return path


def test_a_weighted_sum_is_built_and_resolved(tmp_path: Path) -> None:
    """The resolved scenario, loaded again, has the same objective."""
    scenario = load_scenario(written(tmp_path, GOOD))
    objective = PlannableWeightedSum((AF(), BoundedSlowdown(30)), (2.0, 1.0))
    assert assemble(scenario).objective == objective
    again = tmp_path / "again.yaml"
    again.write_text(resolved_yaml(scenario))
    assert assemble(load_scenario(again)).objective == objective


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "rule", "key", "message"),
    [
        ("weight: 2", "weight: 0", 4, 31, "bad-value", "[0].weight", "a value above 0"),
        ("weight: 2", "weight: -1", 4, 31, "bad-value", "[0].weight", "a value above 0"),
        ("weight: 2", "weight: .inf", 4, 31, "bad-value", "[0].weight", "finite"),
        ("weight: 2", "wait: 2", 4, 23, "unknown-key", "[0].wait", "did you mean 'weight'?"),
        ("af,", "slowdwn,", 4, 19, "unknown-plugin", "[0].objective", "mean 'slowdown'?"),
        ("{objective: af, weight: 2}", "af", 4, 7, "bad-value", "[0]", "found 'af'"),
        ("30s", "30x", 5, 48, "bad-value", "[1].objective.tau", "a duration"),
    ],
)
def test_a_fault_is_told_once_with_its_place(
    old: str, new: str, line: int, column: int, rule: str, key: str, message: str, tmp_path: Path
) -> None:
    """The term's number is in the key."""
    assert GOOD.count(old) == 1
    path = written(tmp_path, GOOD.replace(old, new))
    above = path.read_text().splitlines().index("objective:")
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.key) == (rule, f"objective.terms{key}")
    assert message in finding.message
    assert str(finding.place) == f"{path}:{above + line}:{column}"


@pytest.mark.parametrize(
    ("objective", "rule"),
    [
        ("{name: weighted_sum, terms: []}", "bad-value"),
        ("weighted_sum", "missing-key"),
    ],
)
def test_there_is_at_least_one_term(objective: str, rule: str, tmp_path: Path) -> None:
    """A sum of nothing is refused."""
    with pytest.raises(InputError) as caught:
        load_scenario(written(tmp_path, f"objective: {objective}"))
    (finding,) = caught.value.findings
    assert (finding.rule, finding.key) == (rule, "objective.terms")


def test_a_sum_with_a_ratio_can_be_measured_but_not_pursued(tmp_path: Path) -> None:
    """EASY, which does not plan, takes it; a dispatcher that plans refuses it."""
    text = "objective: {name: weighted_sum, terms: [{objective: psf}, {objective: af}]}"
    path = written(tmp_path, text)
    built = assemble(load_scenario(path)).objective
    assert built == WeightedSum((PSF(2), AF()), (1.0, 1.0))
    for dispatcher in ("order-search", "joint-now"):
        with pytest.raises(InputError) as caught:
            assemble(load_scenario(path, [f"dispatcher={dispatcher}"])).build_all()
        (finding,) = caught.value.findings
        assert (finding.rule, finding.key) == ("no-planned-cost", "objective")
