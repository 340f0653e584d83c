"""Overrides take the place of what the file says, and of the file in errors."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError, Place
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.scenario.document import Setting
from tests.fake_plugins import fake_registry
from tests.scenario.samples import GOOD, write

PLAIN = GOOD.partition("dispatcher:")[0] + "dispatcher: list\n"
"""The good scenario with a dispatcher by its bare name."""


def load(folder: Path, *overrides: str, text: str = GOOD) -> Scenario:
    """Load the good scenario with overrides."""
    return load_scenario(write(folder, text), overrides, fake_registry())


def test_values_are_read_as_yaml(tmp_path: Path) -> None:
    """An override's value is a number, a text or a mapping, as it would be in the file."""
    scenario = load(
        tmp_path,
        "seed=7",
        "name=other",
        "dispatcher.depth=2",
        "system.groups[0].count=3",
        "system.groups.0.resources={core: 2}",
        "simulation.aggregate_nodes=false",
    )
    assert (scenario.seed, scenario.name) == (7, "other")
    assert scenario.system.groups[0].count == 3
    assert scenario.system.groups[0].resources == {"core": 2}
    assert scenario.simulation.aggregate_nodes is False


def test_later_overrides_win(tmp_path: Path) -> None:
    """Overrides are applied in order."""
    assert load(tmp_path, "seed=1", "seed=2").seed == 2
    assert load(tmp_path, "dispatcher.depth=x", "dispatcher=easy").dispatcher.name == "easy"


def test_a_choice_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Setting a dispatcher by its bare name leaves nothing of the old one."""
    assert load(tmp_path, "dispatcher=easy").dispatcher.name == "easy"


def test_a_parameter_of_a_bare_name_is_set_beside_it(tmp_path: Path) -> None:
    """What is given by name alone takes a parameter, also within another choice."""
    listed = load(tmp_path, "dispatcher.depth=3", "dispatcher.option=greedy", text=PLAIN).dispatcher
    assert (listed.name, listed.depth, listed.option) == ("list", 3, "greedy")
    overrides = ["dispatcher={name: best-of, members: [{use: list}]}"]
    overrides.append("dispatcher.members[0].use.depth=5")
    assert load(tmp_path, *overrides).dispatcher.members[0].use.depth == 5


def test_a_wrong_parameter_of_a_bare_name_is_placed_at_the_override(tmp_path: Path) -> None:
    """The name is in the file and right; what is wrong was given beside it."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, "dispatcher.dept=3", text=PLAIN)
    (finding,) = caught.value.findings
    assert (str(finding.place), finding.rule) == ("--set dispatcher.dept=3", "unknown-key")
    assert "did you mean 'depth'?" in finding.message


@pytest.mark.parametrize(
    ("override", "rule", "key", "message"),
    [
        ("seed", "bad-override", "", "expected key.path=value"),
        ("=3", "bad-override", "", "the key path is empty"),
        ("a..b=3", "bad-override", "", "'a..b' is not a key path"),
        ("name.x=3", "bad-override", "", "name is 'small' and not a mapping"),
        ("system.groups[1].count=3", "bad-override", "", "system.groups has 1 items"),
        ("system.groups.other.count=3", "bad-override", "", "one of the names node"),
        ("system[0]=3", "bad-override", "", "system is a mapping"),
        ("seed=[", "syntax", "seed", "not valid YAML"),
        ("seed=010", "bad-value", "seed", "leading zero"),
        ("dispatcher.depth=x", "bad-value", "dispatcher.depth", "expected a whole number"),
        ("dispatcher={order: x}", "missing-key", "dispatcher.name", "it names the dispatcher"),
        ("simulation.fast=true", "unknown-key", "simulation.fast", "there is no key 'fast'"),
        ("seed={a: 1, a: 2}", "duplicate-key", "seed.a", "given twice"),
    ],
)
def test_faults_name_the_override(
    override: str, rule: str, key: str, message: str, tmp_path: Path
) -> None:
    """A fault in an override is placed at the override."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, override)
    finding = caught.value.findings[0]
    assert (str(finding.place), finding.rule, finding.key) == (f"--set {override}", rule, key)
    assert message in finding.message


def test_the_rest_of_an_old_choice_is_refused_where_it_stands(tmp_path: Path) -> None:
    """Keys of the old dispatcher in the file are unknown to the new one."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, "dispatcher.name=easy")
    places = [(f.rule, f.key, f.place.line) for f in caught.value.findings if f.place]
    assert places == [
        ("unknown-key", "dispatcher.order", 13),
        ("unknown-key", "dispatcher.depth", 14),
    ]


def test_a_document_that_is_no_mapping_stays_an_error(tmp_path: Path) -> None:
    """Overrides do not turn a list into a scenario."""
    with pytest.raises(InputError, match="the scenario is a list"):
        load(tmp_path, "name=x", text="- a\n")


def test_a_setting_is_copied_into_the_scenario(tmp_path: Path) -> None:
    """A later override reaches into the value; the setting itself can be used again."""
    setting = Setting(("dispatcher",), {"name": "list"}, Place("a program"))
    path = write(tmp_path, GOOD)
    changed = load_scenario(path, [setting, "dispatcher.depth=3"], fake_registry())
    assert changed.dispatcher.depth == 3
    assert setting.value == {"name": "list"}
