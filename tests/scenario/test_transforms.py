"""Transforms in scenarios: how they are read, what is refused and where, and what is resolved."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.plugins.manager import build_registry
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import Plugin
from hpcsched.scenario import load_scenario, resolved_yaml
from hpcsched.scenario.choices import choice_model
from tests.fake_plugins import fake_registry
from tests.workload.readers.swf_files import record, write

SCENARIO = """\
name: transformed
system: {groups: [{name: node, count: 4, resources: {core: 2, mem: 4GiB}}]}
trace:
  source: swf
  path: log.swf
  transforms:
    - %s
dispatcher: easy
"""


def scenario(folder: Path, transform: str) -> Path:
    """Write a log of one job and a scenario with a transform; return its path."""
    write(folder, [record(1)])
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO % transform, encoding="utf-8")
    return path


BAD = {
    "unknown name": ("windw", 7, "unknown-plugin", "trace.transforms[0]", "did you mean 'window'?"),
    "unknown parameter": (
        "{name: scale-load, factor: 2, facto: 3}", 37, "unknown-key", "trace.transforms[0].facto",
        "did you mean 'factor'?",
    ),
    "missing parameter": (
        "{name: first}", 7, "missing-key", "trace.transforms[0].jobs", "'jobs' is missing",
    ),
    "end before start": (
        "{name: window, start: 2d, end: 1d}", 38, "bad-value", "trace.transforms[0].end",
        "expected an end after the start, 172800 s, found 86400 s",
    ),
    "end before start, as dates": (
        "{name: window, start: 2014-05-02, end: 2014-05-01T12:00}", 46, "bad-value",
        "trace.transforms[0].end", "after the start, 2014-05-02, found 2014-05-01T12:00",
    ),
    "no date": (
        "{name: window, start: 2014-05-32}", 29, "bad-value", "trace.transforms[0].start",
        "expected a date such as 2014-05-31 or 2014-05-31T12:00, found '2014-05-32'",
    ),
    "no moment": (
        "{name: window, start: soon}", 29, "bad-value", "trace.transforms[0].start",
        "expected a duration such as 90s, 12h or 30d, or a date",
    ),
    "moment below 0": (
        "{name: window, start: -1}", 29, "bad-value", "trace.transforms[0].start", "found -1",
    ),
    "share above 1": (
        "{name: sample-users, share: 1.5}", 35, "bad-value", "trace.transforms[0].share",
        "expected a value of at most 1",
    ),
    "factor of 0": (
        "{name: scale-load, factor: 0}", 34, "bad-value", "trace.transforms[0].factor",
        "expected a value of at least 0.001, found 0",
    ),
    "resource type": (
        "{name: attach, resource: gpu, amount: 1}", 32, "unknown-resource-type",
        "trace.transforms[0].resource",
        "no node group has the resource type 'gpu'; there are: core, mem",
    ),
    "per what": (
        "{name: attach, resource: mem, amount: 1, per: cpu}", 53, "unknown-resource-type",
        "trace.transforms[0].per", "there are: unit, core, mem",
    ),
    "half a distribution": (
        "{name: attach, resource: mem, amount: {median: 2}}", 37, "missing-key",
        "trace.transforms[0].amount.spread", "the key 'spread' is missing",
    ),
    "within a distribution": (
        "{name: attach, resource: mem, amount: {median: much, spread: 1}}", 54, "bad-value",
        "trace.transforms[0].amount.median", "expected an amount such as 4, 512MB or 16GiB",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(tmp_path: Path, name: str) -> None:
    """Each fault is said once, with the place and key of what is wrong."""
    transform, column, rule, key, message = BAD[name]
    with pytest.raises(InputError) as raised:
        load_scenario(scenario(tmp_path, transform))
    (finding,) = raised.value.findings
    assert (finding.rule, finding.key) == (rule, key)
    assert (finding.place.line, finding.place.column) == (7, column)
    assert message in finding.message


def test_resolved(tmp_path: Path) -> None:
    """They come last among the keys of the trace, with all defaults, and load again."""
    path = scenario(
        tmp_path, "{name: window, start: 1d, end: 2014-05-01}\n    - {name: first, jobs: 3}"
    )
    loaded = load_scenario(path)
    text = resolved_yaml(loaded)
    assert (
        """\
  transforms:
  - name: window
    start: 86400
    end: '2014-05-01'
    shift: true
  - name: first
    jobs: 3
    skip: 0
predictor:
"""
        in text
    )
    again = tmp_path / "again.yaml"
    again.write_text(text, encoding="utf-8")
    assert load_scenario(again) == loaded


def test_overrides(tmp_path: Path) -> None:
    """A whole list, or a parameter within it."""
    path = scenario(tmp_path, "{name: first, jobs: 3}")
    changed = load_scenario(path, ["trace.transforms[0].jobs=2"])
    assert changed.trace.transforms[0].jobs == 2
    changed = load_scenario(path, ["trace.transforms=[{name: scale-load, factor: 2}]"])
    assert [choice.plugin_name for choice in changed.trace.transforms] == ["scale-load"]


def test_a_source_cannot_have_a_parameter_of_that_name() -> None:
    """Its key is where transforms stand."""
    from hpcsched.parameters import Params  # noqa: PLC0415

    class Odd(Params):
        transforms: int = 0

    plugin = Plugin("odd", "odd", lambda _params, _context: None, Odd)
    with pytest.raises(Exception, match="has a parameter 'transforms', which is taken"):
        choice_model(Installed("trace_source", plugin, "odd", "1"))
    assert choice_model(Installed("dispatcher", plugin, "odd", "1"))


def test_every_source_can_be_transformed() -> None:
    """Those of our own and of others."""
    registries: tuple[Registry, ...] = (build_registry(external=False), fake_registry())
    sources = [one for registry in registries for one in registry.of_kind("trace_source")]
    assert len(sources) > 5
    assert all("transforms" in choice_model(source).model_fields for source in sources)
