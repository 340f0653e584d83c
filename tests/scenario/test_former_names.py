"""Former names of plugins and keys still work, with a warning that tells the present one."""

from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from hpcsched import run
from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.parameters import Params
from hpcsched.plugins.manager import build_registry
from hpcsched.plugins.registry import KINDS
from hpcsched.registration import Plugin
from hpcsched.scenario.former_names import FORMER_KEYS, key_in
from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.models import scenario_model
from hpcsched.scenario.review import review

TRACES = Path(__file__).parents[2] / "scenarios" / "traces"

EASY = """\
name: small-easy
system:
  groups:
    - {name: cpu, count: 12, resources: {core: 32, mem: 128GiB}}
    - {name: bigmem, count: 2, resources: {core: 32, mem: 1TiB}}
    - {name: gpu, count: 4, resources: {core: 32, mem: 256GiB, gpu: 4}}
trace:
  source: swf
  path: TRACES/small-cluster.swf.gz
  jobs: 40
dispatcher: {name: easy, allocator: keep_scarce}
objective: {name: bounded_slowdown, tau: 10}
"""

PRIORITIES = """\
name: priorities
system: eurora
trace: {source: eurora-like, start: 289d, duration: 1h, jobs: 40}
dispatcher:
  name: list
  order: {name: expected_wait, other: 1h, by_queue: {1: 30min}}
  allocator: best_fit
objective: awf
"""

TABLE = """\
name: table
system:
  groups:
    - {name: node, count: 2, resources: {core: 4}}
trace:
  source: table
  path: jobs.csv
  unit: {core: 1}
  columns: {scatter: alone}
dispatcher: {name: easy, allocator: first_fit}
objective: {name: weighted_sum, terms: [{objective: af}, {objective: {name: psf, alpha: 1}}]}
"""

POOLS = """\
name: power
system:
  groups:
    - {name: node, count: 2, resources: {core: 4}}
  pools:
    - {name: power, capacity: 9, draw: {per: {core: 1}}}
trace: {source: table, path: jobs.csv, unit: {core: 1}}
dispatcher: easy
simulation: {pooling: true}
"""

ORDER_SEARCH = """\
name: order-search
system:
  groups:
    - {name: node, count: 2, resources: {core: 4}}
trace: {source: table, path: jobs.csv, unit: {core: 1}}
dispatcher:
  name: order-search
  pursuit: {patience: 1h, shortest: 10, growth: 0.1, level: 0.8, carry: true, bias: 2}
"""

BALANCED = """\
name: balanced
system:
  groups:
    - {name: node, count: 2, resources: {core: 4}}
trace: {source: table, path: jobs.csv, unit: {core: 1}}
dispatcher: {name: easy, allocator: {name: balanced, critical: [core]}}
"""

CP = """\
name: cp
system:
  groups:
    - {name: node, count: 2, resources: {core: 4}}
trace: {source: table, path: jobs.csv, unit: {core: 1}}
dispatcher: {name: cp, level: 0.8}
objective: psf
"""

ROWS = """\
submit_time,run_time,requested_time,units,alone
0,10,10,2,true
0,10,10,2,false
"""

OLD = {
    "easy": (EASY, [("dispatcher.allocator", "'keep_scarce' is now called 'keep-scarce'")]),
    "priorities": (
        PRIORITIES,
        [
            ("dispatcher.order.name", "the queue order 'expected_wait' is now called"),
            ("dispatcher.allocator", "the allocator 'best_fit' is now called 'best-fit'"),
        ],
    ),
    "pools": (
        POOLS,
        [
            ("system.pools", "'pools' is now called 'shared_resources'"),
            ("simulation.pooling", "'pooling' is now called 'aggregate_nodes'"),
        ],
    ),
    "order search": (
        ORDER_SEARCH,
        [
            ("dispatcher.pursuit", "'pursuit' is now called 'surrogate_objective'"),
            ("dispatcher.pursuit.patience", "'patience' is now called 'discount_time_constant'"),
            ("dispatcher.pursuit.shortest", "'shortest' is now called 'minimum_run_time'"),
            ("dispatcher.pursuit.growth", "'growth' is now called 'area_exponent'"),
            ("dispatcher.pursuit.level", "'level' is now called 'dinkelbach_parameter'"),
            ("dispatcher.pursuit.carry", "'carry' is now called 'warm_start'"),
            ("dispatcher.pursuit.bias", "'bias' is now called 'front_bias'"),
        ],
    ),
    "balanced": (
        BALANCED,
        [("dispatcher.allocator.critical", "'critical' is now called 'scarce_resources'")],
    ),
    "cp": (CP, [("dispatcher.level", "'level' is now called 'dinkelbach_parameter'")]),
    "table": (
        TABLE,
        [
            ("trace.columns.scatter", "'scatter' is now called 'one_unit_per_node'"),
            ("dispatcher.allocator", "the allocator 'first_fit' is now called 'first-fit'"),
        ],
    ),
}
"""Scenarios as earlier versions wrote them, and the warnings about each."""


@pytest.mark.parametrize("name", OLD)
def test_scenarios_of_earlier_versions_run(name: str, tmp_path: Path) -> None:
    """They run as they are; a review warns of each former name, at its place, and of none else."""
    text, expected = OLD[name]
    (tmp_path / "jobs.csv").write_text(ROWS, encoding="utf-8")
    path = tmp_path / "old.yaml"
    path.write_text(text.replace("TRACES", str(TRACES)), encoding="utf-8")
    loaded = read_scenario(path)
    found = [finding for finding in review(loaded) if finding.rule == "former-name"]
    assert [finding.key for finding in found] == [key for key, _ in expected]
    for finding, (_, message) in zip(found, expected, strict=True):
        assert message in finding.message
        assert finding.severity == "warning"
        assert finding.place is not None
        old = finding.message.split("'")[1]
        line = path.read_text(encoding="utf-8").splitlines()[(finding.place.line or 0) - 1]
        assert line[(finding.place.column or 0) - 1 :].startswith(old)
    result = run(loaded.scenario, tmp_path / "run")
    assert result.summary["jobs"]["completed"] == result.summary["jobs"]["submitted"] > 0
    # What is written down has the present names alone.
    assert not review(read_scenario(result.directory.path / "scenario.yaml"))


def test_present_names_and_short_ones_are_not_warned_of(tmp_path: Path) -> None:
    """An alias such as `af` is as good as the long name, and means the same."""
    path = tmp_path / "new.yaml"
    text = PRIORITIES.replace("expected_wait", "expected-wait").replace("best_fit", "best-fit")
    path.write_text(text, encoding="utf-8")
    loaded = read_scenario(path)
    assert not loaded.former
    assert loaded.scenario.objective.plugin_name == "area_weighted_response_time"


def test_the_terminal_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` writes the warnings to standard error, those about overrides too."""
    path = tmp_path / "old.yaml"
    path.write_text(EASY.replace("TRACES", str(TRACES)), encoding="utf-8")
    given = ["--set", "dispatcher.order={name: expected_wait, other: 5}"]
    assert main(["run", str(path), "--out", str(tmp_path / "run"), *given]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "former-name" in line]
    assert len(told) == 2
    assert ":11:37: warning: dispatcher.allocator" in told[0]
    assert told[1].startswith("--set dispatcher.order={name: expected_wait, other: 5}")


def test_a_key_by_both_names_is_refused(tmp_path: Path) -> None:
    """The former name beside the present one is a key too many."""
    path = tmp_path / "both.yaml"
    both = TABLE.replace("{scatter: alone}", "{scatter: alone, one_unit_per_node: alone}")
    path.write_text(both, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_scenario(path)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.key) == ("unknown-key", "trace.columns.scatter")


def test_faults_within_a_choice_by_a_former_name(tmp_path: Path) -> None:
    """An unknown key is answered with those that there are, whatever the plugin is called."""
    path = tmp_path / "fault.yaml"
    path.write_text(PRIORITIES.replace("other: 1h", "other: 1h, by_que: {}"), encoding="utf-8")
    with pytest.raises(InputError, match="no key 'by_que' here; did you mean 'by_queue'"):
        read_scenario(path)


def test_a_plugin_comes_before_the_former_name_of_another() -> None:
    """Another distribution may call its plugin as one of ours was called."""
    registry = build_registry(external=False)
    assert registry.get("allocator", "first_fit").plugin.name == "first-fit"
    assert registry.is_former("allocator", "first_fit")
    mine = Plugin("first_fit", "mine", lambda params, _context: params, Params)
    installed = type(registry.get("allocator", "first-fit"))("allocator", mine, "mine", "1")
    registry.add(installed)
    assert registry.get("allocator", "first_fit") is installed
    assert not registry.is_former("allocator", "first_fit")


def test_an_override_and_the_file_may_use_different_names(tmp_path: Path) -> None:
    """A key that stands in the file by one name is set by the other name as well."""
    path = tmp_path / "old.yaml"
    for in_file, set_ in (("pooling", "aggregate_nodes"), ("aggregate_nodes", "pooling")):
        text = EASY.replace("TRACES", str(TRACES)) + f"simulation: {{{in_file}: true}}\n"
        path.write_text(text, encoding="utf-8")
        scenario = read_scenario(path, [f"simulation.{set_}=false"]).scenario
        assert scenario.simulation.aggregate_nodes is False


def test_an_override_within_a_key_by_its_other_name(tmp_path: Path) -> None:
    """What lies below a key is found by either name of it."""
    (tmp_path / "jobs.csv").write_text(ROWS, encoding="utf-8")
    path = tmp_path / "old.yaml"
    for text in (POOLS, POOLS.replace("pools:", "shared_resources:")):
        path.write_text(text, encoding="utf-8")
        for key in ("pools", "shared_resources"):
            scenario = read_scenario(path, [f"system.{key}[0].capacity=5"]).scenario
            assert scenario.system.shared_resources[0].capacity == 5


def test_a_former_key_has_a_present_name_for_each_block() -> None:
    """Two blocks had a key `patience`; in each, it is found by the present name of that block."""
    assert key_in({"placement_timeout": 5}, "patience") == "placement_timeout"
    assert key_in({"discount_time_constant": 5}, "patience") == "discount_time_constant"
    assert key_in({"patience": 5}, "placement_timeout") == "patience"
    assert (
        key_in({"patience": 5, "placement_timeout": 5}, "placement_timeout") == "placement_timeout"
    )
    assert key_in({}, "patience") == "patience"


def test_all_former_keys_are_known_to_overrides() -> None:
    """The former keys of all blocks and of all built-in plugins."""
    registry = build_registry(external=False)
    blocks: list[type[BaseModel]] = [scenario_model(registry)]
    for kind in KINDS:
        blocks += [registry.get(kind, name).plugin.params for name in registry.names(kind)]
    found: dict[str, set[str]] = {}
    seen = set()
    while blocks:
        block = blocks.pop()
        if block in seen:
            continue
        seen.add(block)
        for former, name in getattr(block, "former_keys", {}).items():
            found.setdefault(former, set()).add(name)
        for field in block.model_fields.values():
            blocks += models_in(field.annotation)
    assert found == FORMER_KEYS


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a type has in it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in models_in(inner)]
